"""A page as it came from the web. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a server said of one state of a page, to ask whether it still is in that state."""

    etag: str = ""
    last_modified: str = ""

    def headers(self) -> dict[str, str]:
        """The question as request headers."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it came: `suffix` says what it is, `url` where it stood in the end."""

    url: str
    suffix: str
    body: bytes
    stamp: Stamp
