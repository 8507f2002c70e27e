"""The hosts outside the public internet that a collection allows its links to name. Pure.

Only a name or number that is listed, on a port that is listed, leads to a private address, and the
address that is judged is the one connected to (`transport.py`). Addresses that belong to one
network link only, where clouds keep their secrets, are never allowed.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.errors import AppError
from desktop_rag.features.web_pages.page_address import Address, PageRefused, host_text, is_public

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_WEB_PORTS = frozenset({80, 443})
_MOST_PORT = 65_535
# Where the computers of a local network are.
_PRIVATE = tuple(map(ipaddress.ip_network, (
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7",
)))  # fmt: skip
_LOCAL = (*_PRIVATE, *map(ipaddress.ip_network, ("127.0.0.0/8", "::1/128")))
_LOCALHOST = "localhost"
_HINT = (
    "Write one a line: wiki.example, wiki.example:8080, wiki.example 10.1.0.0/16, or 10.1.0.0/16."
)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A line of the list. Without a host, addresses of the network that are written as numbers."""

    host: str
    ports: frozenset[int]
    network: _Network | None

    def covers(self, host: str, port: int, address: Address) -> bool:
        if not self.host:
            return host == str(address) and self._is_within(address)
        if host != self.host or port not in self.ports:
            return False
        if self.network:
            return self._is_within(address)
        if host in (str(address), _LOCALHOST):
            return _is_in(address, _LOCAL)
        # A name without a network must not lead to this computer.
        return _is_in(address, _PRIVATE)

    def _is_within(self, address: Address) -> bool:
        assert self.network is not None, "a line without a host is a network"
        return address.version == self.network.version and address in self.network


@dataclass(frozen=True, slots=True)
class IntranetHosts:
    """The list of a collection, ready to be asked at each connection.

    A network has no ports of its own: what `normalise` lets through.
    """

    allowed: tuple[_Allowed, ...] = ()

    def allows(self, host: str, port: int, address: Address) -> bool:
        """True when the list lets a page of this host be fetched from this address."""
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            return self.allows(host, port, address.ipv4_mapped)
        return any(line.covers(host, port, address) for line in self.allowed)


NO_HOSTS = IntranetHosts()


def parse_intranet_hosts(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines as they are kept, unique; AppError for one that is no host of a network."""
    return tuple(dict.fromkeys(_kept(line) for line in lines if line.strip()))


def intranet_hosts_of(lines: Sequence[str]) -> IntranetHosts:
    """The list as it is asked. A line that can't be understood allows nothing."""
    found: list[_Allowed] = []
    for line in lines:
        try:
            found.append(_parsed(line))
        except AppError:
            continue
    return IntranetHosts(tuple(found))


def _kept(line: str) -> str:
    parsed = _parsed(line)
    shown = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    port = "" if parsed.ports == _WEB_PORTS else f":{min(parsed.ports)}"
    return " ".join(part for part in (f"{shown}{port}", str(parsed.network or "")) if part)


def _parsed(line: str) -> _Allowed:
    place, *networks = line.split()
    if len(networks) > 1:
        raise _no_host(line)
    if "/" in place and not networks:
        return _Allowed("", _WEB_PORTS, _network(place, line))
    host, ports = _host_and_ports(place, line)
    return _Allowed(host, ports, _network(networks[0], line) if networks else None)


def _host_and_ports(place: str, line: str) -> tuple[str, frozenset[int]]:
    if place.startswith("["):
        name, bracket, rest = place[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _no_host(line)
        port = rest[1:]
    elif place.count(":") > 1:
        name, port = place, ""
    else:
        name, _, port = place.partition(":")
        if place.endswith(":"):
            raise _no_host(line)
    try:
        host = host_text(name)
    except PageRefused as exc:
        raise _no_host(line) from exc
    _refuse_forbidden_number(host, line)
    if not port:
        return host, _WEB_PORTS
    if not port.isascii() or not port.isdecimal() or not 0 < int(port[:6]) <= _MOST_PORT:
        raise _no_host(line)
    return host, frozenset({int(port)})


def _refuse_forbidden_number(host: str, line: str) -> None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return
    if not is_public(address) and not _is_in(address, _LOCAL):
        raise AppError(f"“{line.strip()}” can't be allowed.", "Nothing there is a page.")


def _network(text: str, line: str) -> _Network:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as exc:
        raise _no_host(line) from exc
    if not any(
        network.version == each.version and network.subnet_of(each)  # type: ignore[arg-type]
        for each in _LOCAL
    ):
        raise AppError(
            f"“{text}” is not a part of a local network.",
            "Such networks are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7.",
        )
    return network


def _is_in(address: Address, networks: Sequence[_Network]) -> bool:
    return any(address.version == n.version and address in n for n in networks)


def _no_host(line: str) -> AppError:
    return AppError(f"“{line.strip()}” is not a host of the local network.", _HINT)
