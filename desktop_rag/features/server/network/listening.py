"""The socket of the local server, and by which names others may reach this computer. Any thread."""

import errno
import ipaddress
import socket

import psutil

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings

_PORTS_TRIED = 20
_BACKLOG = 128


def listening(settings: ServerSettings) -> socket.socket:
    """A listening socket on the port of the settings, or on one of those after it."""
    fault: OSError | None = None
    last = settings.port + _PORTS_TRIED if settings.port else 1
    for port in range(settings.port, last):
        try:
            return _opened(settings.host, port)
        except OSError as exc:
            fault = exc
    said = fault.strerror if fault and fault.strerror else str(fault)
    hint = f"{settings.host}, port {settings.port} and after: {said}."
    raise AppError("The local server cannot listen.", hint) from fault


def check_port(settings: ServerSettings) -> None:
    """AppError when another program has the port of the settings, or it can't be listened on."""
    host, port = settings.host, settings.port
    try:
        _opened(host, port).close()
    except OSError as exc:
        raise _fault(host, port, exc) from exc


def own_names() -> list[str]:
    """The name of this computer and its addresses in networks, for others to ask it by."""
    every = (each for addresses in psutil.net_if_addrs().values() for each in addresses)
    ours = [each.address for each in every if each.family is socket.AF_INET]
    others = (address for address in ours if not ipaddress.ip_address(address).is_loopback)
    return list(dict.fromkeys((socket.gethostname(), *others)))


def _opened(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OverflowError as exc:
        listener.close()
        raise OSError(str(exc)) from exc
    except OSError:
        listener.close()
        raise
    return listener


def _fault(host: str, port: int, exc: OSError) -> AppError:
    if exc.errno == errno.EADDRINUSE:
        title = f"Port {port} is taken by another program."
        return AppError(title, "Choose another port, or end that program.")
    if exc.errno in (errno.EACCES, errno.EPERM):
        title = f"The system does not let the app listen on port {port}."
        return AppError(title, "Ports below 1024 are often for the system. Choose another one.")
    if exc.errno == errno.EADDRNOTAVAIL:
        return AppError(f"{host} is no address of this computer.", "Choose who may reach it again.")
    return AppError(f"Nothing can listen on {host}, port {port}.", f"{exc.strerror or exc}.")
