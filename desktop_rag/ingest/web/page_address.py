"""Addresses of web pages: brought into one form, and the computers that may be asked. Pure.

Nothing here connects. What a name leads to is known only when the connection is made, so
`is_public` is asked there, of the very address that is connected to.
"""

import ipaddress
import re
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from desktop_rag.core.errors import AppError
from desktop_rag.ingest.web.refusal import Kind, PageRefused

_EXAMPLE = "Write it like https://example.org/guide, one a line."
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FIRST_FREE_PORT = 1024
# Ports of other services, which may take a request for a page as an order of theirs: those that
# browsers refuse, and databases.
_REFUSED_PORTS = frozenset(
    {
        1719, 1720, 1723, 2049, 2375, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566,
        6665, 6666, 6667, 6668, 6669, 6679, 6697, 9200, 10080, 11211, 27017,
    }
)  # fmt: skip
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_MAX_HOST_CHARS = 253
_MAX_URL_CHARS = 4000
# Older spellings of a number are taken for an address by some systems and for a name by others.
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_NAMED_HOST = re.compile(r"[^/?#:]+\.[^/?#:.]{2,}")
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\\]")
_PATH_SIGNS = "/%:@!$&'()*+,;=~-._"
_QUERY_SIGNS = _PATH_SIGNS + "?[]"

_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (
    ipaddress.IPv4Network("192.88.99.0/24"),  # relays of 6to4
    ipaddress.IPv6Network("2001::/23"),  # protocols, tunnels among them
    ipaddress.IPv6Network("3fff::/20"),  # for examples; Python does not know it yet
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(address: Address) -> bool:
    """Whether an address is of a computer on the open internet.

    An IPv4 address inside an IPv6 one is judged itself: it is where the packets go.
    """
    if isinstance(address, ipaddress.IPv6Address):
        carried = address.ipv4_mapped or address.sixtofour
        if carried is None and address in _NAT64:
            carried = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if carried is not None:
            return is_public(carried)
        if address.scope_id is not None or address not in _UNICAST:
            return False
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


def parse_links(text: str) -> tuple[str, ...]:
    """The addresses in a text, one a line or between commas, each once and in one form.

    An address without a scheme gets https.

    Raises:
        AppError: when there is none, or naming the piece that is none.
    """
    urls: dict[str, None] = {}
    for piece in _pieces(text):
        if "://" not in piece and not _NAMED_HOST.match(piece):
            raise _no_address(piece)
        try:
            urls[normalise(piece if "://" in piece else f"https://{piece}")] = None
        except PageRefused as exc:
            raise AppError(f"“{_short(piece)}” can't be fetched.", exc.reason) from exc
    if not urls:
        raise AppError("There is no address to fetch.", _EXAMPLE)
    return tuple(urls)


def normalise(url: str) -> str:
    """The address in one form: ASCII, lower-case host, no fragment, no port that goes unsaid.

    Raises:
        PageRefused: for an address that nothing is fetched from, wherever it may lead.
    """
    parts = _split(url)
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS:
        raise PageRefused(Kind.BLOCKED, "Only http and https addresses are fetched.")
    if "@" in parts.netloc:
        raise PageRefused(
            Kind.BLOCKED,
            "The address holds a name or a password.",
            "Remove what stands before the @: pages that want a login can't be fetched.",
        )
    host = _host(parts.hostname or "")
    port = "" if parts.port in (None, _DEFAULT_PORTS[scheme]) else f":{_port(parts.port)}"
    shown = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe=_PATH_SIGNS)
    query = f"?{quote(parts.query, safe=_QUERY_SIGNS)}" if parts.query else ""
    return f"{scheme}://{shown}{port}{path}{query}"


def joined(url: str, location: str) -> str:
    """Where a page at a normalised address points to. Raises PageRefused as `normalise` does."""
    if _UNSAFE.search(location.strip()):
        raise _malformed()
    try:
        return normalise(urljoin(url, location.strip()))
    except ValueError as exc:
        raise _malformed() from exc


def origin_of(url: str) -> str:
    """Scheme, host and port of a normalised address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def host_of(url: str) -> str:
    """The host of a normalised address, without its port."""
    return urlsplit(url).hostname or ""


def port_of(url: str) -> int:
    """The port of a normalised address, also one that goes unsaid."""
    parts = urlsplit(url)
    return parts.port or _DEFAULT_PORTS[parts.scheme]


def target_of(url: str) -> str:
    """What a server is asked for: path and query of a normalised address."""
    return url[len(origin_of(url)) :]


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for token in re.split(r"[\s]+|,(?=\s|https?://)", text):
        start = token.split("://", 1)[-1]
        # A comma in a path belongs to it; between hosts it divides.
        pieces += [token] if "/" in start else token.split(",")
    return [piece.strip(",") for piece in pieces if piece.strip(",")]


def _split(url: str) -> SplitResult:
    if len(url) > _MAX_URL_CHARS or _UNSAFE.search(url):
        raise _malformed()
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as exc:  # a broken IPv6 address or port
        raise _malformed() from exc
    return parts


def _host(host: str) -> str:
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host).compressed
        except ValueError as exc:
            raise _malformed() from exc
    try:
        name = host.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError as exc:
        raise _malformed() from exc
    if not _HOST.fullmatch(name) or len(name) > _MAX_HOST_CHARS:
        raise _malformed()
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError as exc:
            raise PageRefused(
                Kind.BLOCKED, "The address is a number that no browser shows.",
                "Write its host as a name, or as four numbers between dots.",
            ) from exc  # fmt: skip
    return name


def _port(port: int | None) -> int:
    if not port or port in _REFUSED_PORTS or (
        port < _FIRST_FREE_PORT and port not in _DEFAULT_PORTS.values()
    ):  # fmt: skip
        raise PageRefused(Kind.BLOCKED, f"Port {port} is not one of web pages.")
    return port


def _malformed() -> PageRefused:
    return PageRefused(Kind.BLOCKED, "This is not the address of a web page.")


def _no_address(piece: str) -> AppError:
    return AppError(f"“{_short(piece)}” is not the address of a web page.", _EXAMPLE)


def _short(piece: str) -> str:
    longest = 80
    return piece if len(piece) <= longest else f"{piece[:longest]}…"
