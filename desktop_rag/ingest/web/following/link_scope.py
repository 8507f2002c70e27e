"""Which links are followed: those on the host, and below the path, of the link they come from.

Pure.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, unquote_to_bytes, urlsplit

from desktop_rag.ingest.web.page_address import host_of, port_of

# Parameters that name the visit and not the page.
_VISITS = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|_ga|_gl|igshid|yclid|ref_src|"
    r"phpsessid|jsessionid|sessionid|session_id|sid|cfid|cftoken|aspsessionid\w*|zenid|oscsid)",
    re.IGNORECASE,
)
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_UNESCAPED = "/!$&'()*+,;=:@-._~"
_QUERY_UNESCAPED = _UNESCAPED + "?[]%"
# Files that are no pages, told by their names, so that they are not even asked for.
_OTHER_FILES = re.compile(
    r"\.(?:7z|aac|apk|avi|avif|bin|bmp|bz2|css|deb|dmg|eot|exe|flac|gif|gz|ico|iso|jar|jpe?g|js|"
    r"json|m4[av]|mjs|mkv|mov|mp[34]|mpe?g|msi|ogg|otf|png|rar|rpm|rss|svg|tar|tgz|tiff?|ttf|wasm|"
    r"wav|web[mp]|whl|woff2?|xz|zip|zst)$",
    re.IGNORECASE,
)
OTHER_FILE = "Not a page that can be read."
_PLAIN_PORT, _TLS_PORT = 80, 443
_MONTHS = 12
_MOST_SEGMENTS = 20
_MOST_CHARS = 1_000
# A folder that contains itself, over and over.
_MOST_REPEATS = 2
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"(?:^|\D)(\d{4})[-/=_](?:(?:month=)?)(\d{1,2})(?=\D|$)")
_YEAR = re.compile(r"(?:^|[?&])(?:year|jahr|annee|ano|y)=(\d{4})(?=&|$)", re.IGNORECASE)
# What is further ahead is a number of another kind.
_MOST_AHEAD = 100


@dataclass(frozen=True, slots=True)
class LinkScope:
    """The part of the web that one link opens: hosts with their ports, and the begin of paths."""

    places: frozenset[tuple[str, int]]
    path: str

    def includes(self, url: str) -> bool:
        """True for a normalised address in this part."""
        path = urlsplit(url).path or "/"
        is_below = path.startswith(self.path) or f"{path}/" == self.path
        return is_below and _place(url) in self.places

    def and_of(self, url: str) -> "LinkScope":
        """The same on the host of another address too: a link may lead from one to the other."""
        return LinkScope(self.places | {_place(url)}, self.path)


def scope_of(url: str, path_limit: str) -> LinkScope:
    """The part that a page opens: below the limit, or below the folder it is in."""
    path = urlsplit(url).path or "/"
    return LinkScope(frozenset({_place(url)}), path_limit or path[: path.rfind("/") + 1])


def page_identity(url: str) -> str:
    """One address for the spellings of one page: without what names a visit, plainly encoded.

    `url` must be normalised.
    """
    parts = urlsplit(url)
    path = quote(unquote_to_bytes(_SESSION_PATH.sub("", _without_dots(parts.path))), _UNESCAPED)
    kept = [
        quote(unquote_to_bytes(pair), _QUERY_UNESCAPED) if "%" not in pair else pair
        for pair in parts.query.split("&")
        if pair and not _VISITS.fullmatch(pair.partition("=")[0])
    ]
    query = f"?{'&'.join(kept)}" if kept else ""
    return f"{parts.scheme}://{parts.netloc}{path or '/'}{query}"


def shape_of(url: str) -> str:
    """What pages made from one pattern have in common: their address without its numbers.

    Of a query only the names count: its values are what a calendar or a filter counts through.
    """
    parts = urlsplit(url)
    names = sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair})
    return f"{parts.netloc}{_DIGITS.sub('0', parts.path)}?{'&'.join(names)}"


def why_left_out(url: str, now: float) -> str:
    """Why a link leads to no page worth asking for; "" if it may."""
    parts = urlsplit(url)
    segments = [part for part in parts.path.split("/") if part]
    if len(url) > _MOST_CHARS or len(segments) > _MOST_SEGMENTS:
        return "The address is too long."
    if any(segments.count(each) > _MOST_REPEATS for each in set(segments)):
        return "The address repeats itself."
    if _OTHER_FILES.search(parts.path):
        return OTHER_FILE
    if _is_far_date(f"{parts.path}?{parts.query}", now):
        return "A calendar leads there, to a year without pages."
    return ""


def _is_far_date(target: str, now: float) -> bool:
    last = datetime.fromtimestamp(now, UTC).year + 1
    years = [int(found[1]) for found in _YEAR.finditer(target)]
    years += [int(found[1]) for found in _DATE.finditer(target) if 1 <= int(found[2]) <= _MONTHS]
    return any(last < year <= last + _MOST_AHEAD for year in years)


def _place(url: str) -> tuple[str, int]:
    port = port_of(url)
    # A site is often both; its pages are the same.
    return host_of(url), _TLS_PORT if port == _PLAIN_PORT else port


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/".join(kept)
