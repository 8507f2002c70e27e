"""Normalises web addresses and decides which hosts may be contacted. Pure.

Nothing here connects. A host name is resolved only when the connection is made, so `is_public` is
called there, with the very address that is connected to.
"""

import ipaddress
import re
from collections.abc import Mapping
from enum import Enum, auto
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from desktop_rag.core.errors import AppError


class RefusalKind(Enum):
    """The consequence of a refusal for a page that was read before."""

    UNREACHABLE = auto()
    """No response: unknown host, no connection, or a timeout. The page is kept."""
    FAILING = auto()
    """The server answered with an error that may be temporary. The page is kept."""
    BLOCKED = auto()
    """The app does not connect there. The page is kept: a network may redirect to itself."""
    GONE = auto()
    """The server says that the page no longer exists. The page is removed."""
    CLOSED = auto()
    """The site forbids robots to read it. The page is removed."""
    UNFIT = auto()
    """The address no longer holds a readable page. The page is removed."""


class PageRefused(AppError):  # noqa: N818  the page's failure, not the program's
    """A page is not available. `kind` is for decisions, title and hint are for people."""

    def __init__(self, kind: RefusalKind, title: str, hint: str = "") -> None:
        super().__init__(title, hint)
        self.kind = kind

    @property
    def reason(self) -> str:
        """Title and hint, as the reason shown for the document."""
        return f"{self.title} {self.hint}".strip()


_BASE_EXAMPLE = "Write it like https://example.org/guide/."
_EXAMPLE = "Write it like https://example.org/guide, one a line."
_DEFAULT_PORTS = {"http": 80, "https": 443}
MAIL_PORTS = {"imap": 143, "imaps": 993}
_FIRST_FREE_PORT = 1024
# Ports of other services, which might take an HTTP request for a command: those that browsers
# block, and databases.
_REFUSED_PORTS = frozenset(
    {
        1719, 1720, 1723, 2049, 2375, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566,
        6665, 6666, 6667, 6668, 6669, 6679, 6697, 9200, 10080, 11211, 27017,
    }
)  # fmt: skip
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_MAX_HOST_CHARS = 253
_MAX_URL_CHARS = 4000
# Some systems read legacy number spellings as an IP address, others as a host name.
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_NAMED_HOST = re.compile(r"[^/?#:]+\.[^/?#:.]{2,}")
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f\\]")
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~-._"
_QUERY_CHARACTERS = _PATH_CHARACTERS + "?[]"

_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (
    ipaddress.IPv4Network("192.88.99.0/24"),  # 6to4 relays
    ipaddress.IPv6Network("2001::/23"),  # protocol assignments, including tunnels
    ipaddress.IPv6Network("3fff::/20"),  # documentation; unknown to Python's ipaddress so far
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(address: Address) -> bool:
    """True for an address on the public internet.

    An IPv4 address embedded in an IPv6 one is checked itself, because packets go there.
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
    """The addresses in a text, one per line or separated by commas, normalised and unique.

    An address without a scheme gets https.

    Raises:
        AppError: when there is none, or naming the piece that is not an address.
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


def parse_base_address(text: str) -> str:
    """The address below which the files of a mirrored site are found; "" for an empty text.

    Raises AppError for anything but a plain address.
    """
    if not text.strip():
        return ""
    [address, *others] = parse_links(text)
    if others or "?" in address or "#" in text:
        raise AppError(f"“{_short(text)}” is not the address of a site or folder.", _BASE_EXAMPLE)
    return address


def normalise(url: str, ports: Mapping[str, int] = _DEFAULT_PORTS) -> str:
    """The address in normal form: ASCII, lower-case host, no fragment, no default port.

    `ports` are the default ports of the schemes that are taken.

    Raises:
        PageRefused: for an address that is never fetched, whatever it leads to.
    """
    parts = _split(url)
    scheme = parts.scheme.lower()
    if scheme not in ports:
        raise PageRefused(RefusalKind.BLOCKED, "Only http and https addresses are fetched.")
    if "@" in parts.netloc:
        raise PageRefused(
            RefusalKind.BLOCKED,
            "The address holds a name or a password.",
            "Remove what stands before the @: pages that want a login can't be fetched.",
        )
    host = host_text(parts.hostname or "")
    port = "" if parts.port in (None, ports[scheme]) else f":{_port(parts.port)}"
    shown = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe=_PATH_CHARACTERS)
    query = f"?{quote(parts.query, safe=_QUERY_CHARACTERS)}" if parts.query else ""
    return f"{scheme}://{shown}{port}{path}{query}"


def joined(url: str, location: str) -> str:
    """The target of a link or redirect on a page. Raises PageRefused as `normalise` does."""
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
    """The port of a normalised address, explicit or default."""
    parts = urlsplit(url)
    return parts.port or (_DEFAULT_PORTS | MAIL_PORTS)[parts.scheme]


def target_of(url: str) -> str:
    """The request target: path and query of a normalised address."""
    return url[len(origin_of(url)) :]


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for token in re.split(r"[\s]+|,(?=\s|https?://)", text):
        start = token.split("://", 1)[-1]
        # A comma in a path belongs to it; between hosts it is a separator.
        pieces += [token] if "/" in start else token.split(",")
    return [piece.strip(",") for piece in pieces if piece.strip(",")]


def _split(url: str) -> SplitResult:
    if len(url) > _MAX_URL_CHARS or _UNSAFE.search(url):
        raise _malformed()
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as exc:  # invalid IPv6 address or port
        raise _malformed() from exc
    return parts


def host_text(host: str) -> str:
    """The host of an address in normal form; PageRefused when it is none."""
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
                RefusalKind.BLOCKED, "The address is a number that no browser shows.",
                "Write its host as a name, or as four numbers between dots.",
            ) from exc  # fmt: skip
    return name


def _port(port: int | None) -> int:
    if not port or port in _REFUSED_PORTS or (
        port < _FIRST_FREE_PORT and port not in _DEFAULT_PORTS.values()
    ):  # fmt: skip
        raise PageRefused(RefusalKind.BLOCKED, f"Port {port} is not one of web pages.")
    return port


def _malformed() -> PageRefused:
    return PageRefused(RefusalKind.BLOCKED, "This is not the address of a web page.")


def _no_address(piece: str) -> AppError:
    return AppError(f"“{_short(piece)}” is not the address of a web page.", _EXAMPLE)


def _short(piece: str) -> str:
    longest = 80
    return piece if len(piece) <= longest else f"{piece[:longest]}…"
