"""A fetched web page and its cache validators. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheValidators:
    """The ETag and Last-Modified of a response, for a conditional request."""

    etag: str = ""
    last_modified: str = ""

    def headers(self) -> dict[str, str]:
        """The headers of a conditional request."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A fetched page: `suffix` gives its format, `url` its address after redirects.

    `robots` is what its headers wish of programs (X-Robots-Tag).
    """

    url: str
    suffix: str
    body: bytes
    validators: CacheValidators
    robots: str = ""
