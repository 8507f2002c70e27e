"""The socket of the local server, its certificate and key, and its names. Any thread.

A key behind a password is refused: the server starts without a person who could type it. No message
contains any of a key.
"""

import errno
import ipaddress
import socket
import ssl
import time
from pathlib import Path

import psutil
from cryptography import x509

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.values.access_values import CertificateFacts

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
    return AppError(
        f"Nothing can listen on {host}, port {port}.",
        f"{exc.strerror or exc}. Choose another port.",
    )


_MOST_BYTES = 1 << 20
_IN_PEM = "A PEM file has lines such as -----BEGIN CERTIFICATE-----."


def server_tls(settings: ServerSettings) -> ssl.SSLContext | None:
    """The TLS context, None without a certificate. AppError for unusable files or another key."""
    if not settings.certificate:
        return None
    certificate = Path(settings.certificate)
    key = Path(settings.certificate_key) if settings.certificate_key else None
    _certificate_in(certificate)
    if key:
        _content(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except ssl.SSLError as exc:
        raise _key_error(key or certificate, exc) from exc
    return context


def certificate_facts(settings: ServerSettings) -> CertificateFacts | None:
    """What the certificate says, None without one. AppError as `server_tls`, or if invalid now."""
    if server_tls(settings) is None:
        return None
    path = Path(settings.certificate)
    certificate = _certificate_in(path)
    now = time.time()
    begins_at = certificate.not_valid_before_utc.timestamp()
    ends_at = certificate.not_valid_after_utc.timestamp()
    if now > ends_at:
        day = f"{certificate.not_valid_after_utc:%Y-%m-%d}"
        raise AppError("The certificate has expired.", f"{path}: it was valid until {day}.")
    if now < begins_at:
        day = f"{certificate.not_valid_before_utc:%Y-%m-%d}"
        raise AppError("The certificate is not valid yet.", f"{path}: it is from {day} on.")
    return CertificateFacts(_names_in(certificate), ends_at)


def _certificate_in(path: Path) -> x509.Certificate:
    """The first one in the file, which is that of the server."""
    try:
        return x509.load_pem_x509_certificates(_content(path))[0]
    except ValueError as exc:
        raise AppError(f"There is no certificate in {path.name}.", f"{path}. {_IN_PEM}") from exc


def _names_in(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        return tuple(str(each.value) for each in common)
    hosts = names.get_values_for_type(x509.DNSName)
    return (*hosts, *map(str, names.get_values_for_type(x509.IPAddress)))


def _content(path: Path) -> bytes:
    with os_error_as(f"{path.name} can't be read.", path), path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _refuse_password() -> str:
    hint = "The server starts without asking for one: choose a key without a password."
    raise AppError("The key is protected by a password.", hint)


def _key_error(path: Path, exc: ssl.SSLError) -> AppError:
    if exc.reason == "KEY_VALUES_MISMATCH":
        hint = f"{path} is the key of another one."
        return AppError("The key doesn't belong to the certificate.", hint)
    hint = f"{path}. A key in PEM has lines such as -----BEGIN PRIVATE KEY-----."
    return AppError(f"There is no key in {path.name}.", hint)
