"""The Host and Origin of a request, against DNS rebinding and foreign web pages. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Addresses:
    """The names under which the server may be asked. `names` are added to those of loopback.

    `public` is the address that others use: its host is accepted as it stands there, and its pages
    are the server's own.
    """

    scheme: str
    port: int
    names: tuple[str, ...] = ()
    public: str = ""

    def accepts_host(self, headers: Headers) -> bool:
        """True when there is exactly one Host header, with a name and the port of the server."""
        given = _values(headers, b"host")
        return len(given) == 1 and given[0].lower() in self._hosts()

    def is_own(self, origin: str) -> bool:
        """True when a page of this server sent the request."""
        scheme, _, host = origin.lower().partition("://")
        if (scheme, host) == self._public:
            return True
        return scheme == self.scheme and host in self._hosts() - {self._public[1]}

    def _hosts(self) -> frozenset[str]:
        names = [name.lower() for name in (*_LOOPBACK, *self.names)]
        hosts = [f"{name}:{self.port}" for name in names]
        if self.port == _DEFAULT_PORTS[self.scheme]:
            hosts += names
        return frozenset(hosts + ([self._public[1]] if self.public else []))

    @property
    def _public(self) -> tuple[str, str]:
        scheme, _, rest = self.public.lower().partition("://")
        return scheme, rest.partition("/")[0]


def origin_of(headers: Headers) -> str | None:
    """The Origin header, None without one; "null" also where there are several."""
    given = _values(headers, b"origin")
    if not given:
        return None
    return given[0] if len(given) == 1 else "null"


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]
