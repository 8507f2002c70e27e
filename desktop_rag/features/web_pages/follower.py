"""Follows the links of pages: visits, takes and leaves out. Runs on the thread of the refresher."""

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from urllib.parse import quote, unquote_to_bytes, urlsplit

from desktop_rag.core.crawling import PageLinks
from desktop_rag.core.domain import WebLinks
from desktop_rag.features.web_pages.crawler import AGENT, Crawler, FetchedPage, robots_wishes
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    RefusalKind,
    host_of,
    joined,
    port_of,
    target_of,
)
from desktop_rag.features.web_pages.page_type import HTML, drop, save
from desktop_rag.features.web_pages.sitemap_walk import refuse_list
from desktop_rag.features.web_pages.source_pages import SourcePages
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess

_NAME = ".links.html"


class LinkReader:
    """Reads the links of pages in a parser process, which starts with the first page.

    Foreign HTML goes through native code, which the app's own process must not run on it.
    """

    def __init__(self, parser: ParserProcess) -> None:
        self._parser = parser

    def close(self) -> None:
        """End the parser process; the next page starts another."""
        self._parser.close()

    def links_in(self, copy: Path, *, cancel: Event) -> PageLinks:
        """The links of a stored page, none if it can't be read. Cancelled when `cancel` is set."""
        try:
            return self._parser.page_links(copy, cancel=cancel)
        except ParseFailed:
            return PageLinks()

    def links_of(self, body: bytes, folder: Path, *, cancel: Event) -> PageLinks:
        """The links of a page that is not stored yet. AppError when the disk refuses."""
        copy = folder / _NAME
        save(copy, body)
        try:
            return self.links_in(copy, cancel=cancel)
        finally:
            drop(copy)


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
# Numbers further ahead are no years.
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


_LEAST_OF_A_SHAPE = 25
_WAITING_PER_PAGE = 10
_LEAST_WAITING = 1_000


@dataclass(frozen=True, slots=True)
class Step:
    """An address to visit: how many links lead to it, and where its own may lead.

    With `is_canonical` another page named it as the right one, so it names none itself.
    """

    url: str
    depth: int
    scope: LinkScope
    is_canonical: bool = False


class Frontier:
    """The queue of links to follow, the nearest first, which takes each address once.

    Traps are bounded, so that a site without end neither fills memory nor uses up the pages of its
    other parts: addresses that differ in their numbers only are of one shape, and no shape gets
    more than half of all pages.
    """

    def __init__(self, page_limit: int) -> None:
        self.is_cut_off = False
        self._most_of_a_shape = max(_LEAST_OF_A_SHAPE, page_limit // 2)
        self._most_waiting = max(_LEAST_WAITING, _WAITING_PER_PAGE * page_limit)
        self._steps: deque[Step] = deque()
        self._seen: set[str] = set()
        self._shapes: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """The number of addresses not visited yet."""
        return len(self._steps)

    def see(self, url: str) -> None:
        """Note an address that is visited without having been in the queue."""
        self._seen.add(page_identity(url))

    def add(self, step: Step) -> None:
        """Queue an address, unless it was seen, or is one too many of its kind."""
        if step.url in self._seen:
            return
        shape = shape_of(step.url)
        is_full = len(self._steps) >= self._most_waiting
        if is_full or self._shapes[shape] >= self._most_of_a_shape:
            self.is_cut_off = True
            return
        self._shapes[shape] += 1
        self._seen.add(step.url)
        self._steps.append(step)

    def next(self) -> Step | None:
        """The next address; those of fewer steps come first."""
        return self._steps.popleft() if self._steps else None


# Requests for pages that turn out to be copies or refused end too.
_REQUESTS_PER_PAGE = 3
_LEAST_REQUESTS = 100


@dataclass(frozen=True, slots=True)
class Following:
    """What a follower needs; pages are in `folder` while their links are read."""

    crawler: Crawler
    pages: SourcePages
    reader: LinkReader
    folder: Path
    cancel: Event
    now: Callable[[], float]


class Follower:
    """Visits what the pages of links lead to, within the limits of the source."""

    def __init__(self, links: WebLinks, work: Following) -> None:
        self.page_count = 0
        self.copies = 0
        self._links = links
        self._work = work
        self._pages = work.pages
        self._frontier = Frontier(links.page_limit)
        self._taken: set[str] = set()
        # The address of the page with these words or bytes.
        self._contents: dict[str, str] = {}
        self._is_out_of_requests = False
        self._first_request = work.crawler.requests

    @property
    def waiting(self) -> int:
        """The number of addresses that were found and not visited."""
        return self._frontier.waiting

    @property
    def is_cut_off(self) -> bool:
        """True when a limit left pages out."""
        return self._frontier.is_cut_off or self._is_out_of_requests

    @property
    def is_complete(self) -> bool:
        """False when known pages were not visited, which may still be there."""
        return not self._is_out_of_requests

    def begin(self, url: str, page: FetchedPage | None) -> None:
        """Take the page of a link, None when it is unchanged, and queue what it leads to."""
        final = page.url if page else url
        scope = scope_of(page_identity(final), self._links.path_limit).and_of(url)
        for address in (url, final):
            self._frontier.see(address)
        self._take(Step(url, 0, scope), page, is_link=True)

    def follow(self, may_go_on: Callable[[], bool], pages_left: Callable[[], int]) -> bool:
        """Visit what is queued; False when interrupted, and then it can be called again.

        AppError when a page can't be stored, Cancelled when it was stopped.
        """
        while self._frontier.waiting:
            if not may_go_on():
                return False
            if pages_left() <= 0:
                self._frontier.is_cut_off = True
                return True
            if self._has_asked_enough:
                self._is_out_of_requests = True
                return True
            if step := self._frontier.next():
                self._visit(step)
        return True

    @property
    def _has_asked_enough(self) -> bool:
        most = _LEAST_REQUESTS + _REQUESTS_PER_PAGE * self._links.page_limit
        return self._work.crawler.requests - self._first_request >= most

    def _visit(self, step: Step) -> bool:
        """Ask for a page; True when it was taken."""
        if self._pages.is_settled(step.url):
            return step.url in self._taken
        try:
            page = self._work.crawler.fetch(
                step.url, self._pages.validators_of(step.url), may_lead_to=step.scope.includes
            )
            if page:
                refuse_list(page)
        except PageRefused as refused:
            self._refuse(step, refused)
            return False
        return self._take(step, page)

    def _refuse(self, step: Step, refused: PageRefused) -> None:
        self._pages.refuse(step.url, refused, is_listed=False)
        # A page that is kept still leads to others, which must not seem to be gone.
        if self._pages.copy_of(step.url):
            self._queue_links(step, step.url, self._links_of(step.url, None))

    def _take(self, step: Step, page: FetchedPage | None, *, is_link: bool = False) -> bool:
        """Store the page unless it is another one's; queue what it leads to."""
        if page and not is_link and (final := page_identity(page.url)) != step.url:
            self._leave_out(step.url)
            self._frontier.see(final)
            if self._pages.is_settled(final):
                return final in self._taken
            step = replace(step, url=final)
        url = step.url
        found = self._links_of(url, page)
        is_another = self._is_copy(url, page, found) or self._is_of_canonical(step, page, found)
        if is_another and not is_link:
            self._leave_out(url)
            return False
        wishes = robots_wishes(found.robots, page.robots if page else "", agent=AGENT)
        if wishes.may_keep or is_link:
            self._contents.setdefault(self._content_key(url, page, found), url)
            self._taken.add(url)
            self.page_count += 1
            self._pages.take(url, page)
        else:
            reason = "The page asks programs not to keep it (noindex)."
            self._pages.refuse(url, PageRefused(RefusalKind.CLOSED, reason), is_listed=False)
        if wishes.may_follow:
            self._queue_links(step, page.url if page else url, found)
        return url in self._taken

    def _leave_out(self, url: str) -> None:
        self.copies += 1
        self._pages.leave_out(url)

    def _is_copy(self, url: str, page: FetchedPage | None, found: PageLinks) -> bool:
        """True for the same words as another page: following its links would go in circles."""
        return self._contents.get(self._content_key(url, page, found), url) != url

    def _is_of_canonical(self, step: Step, page: FetchedPage | None, found: PageLinks) -> bool:
        """True when the page names another one as the right one, and that was taken."""
        if not found.canonical or step.is_canonical or not step.depth:
            return False
        try:
            target = page_identity(joined(_base(page.url if page else step.url, found),
                                          _spaced(found.canonical)))  # fmt: skip
        except PageRefused:
            return False
        # A whole site that names its first page is a mistake, and a frequent one.
        if target == step.url or target_of(target) == "/" or not step.scope.includes(target):
            return False
        self._frontier.see(target)
        return self._visit(replace(step, url=target, is_canonical=True))

    def _queue_links(self, step: Step, address: str, found: PageLinks) -> None:
        if step.depth >= self._links.follow_depth:
            return
        base = _base(address, found)
        for href in found.hrefs:
            try:
                target = page_identity(joined(base, _spaced(href)))
            except PageRefused:
                continue
            if not step.scope.includes(target):
                continue
            if reason := why_left_out(target, self._work.now()):
                if reason != OTHER_FILE:
                    self._pages.log.refuse(target, reason)
                continue
            self._frontier.add(Step(target, step.depth + 1, step.scope))

    def _links_of(self, url: str, page: FetchedPage | None) -> PageLinks:
        work = self._work
        if page is None:
            copy = self._pages.copy_of(url)
            is_html = copy is not None and copy.suffix == HTML
            return work.reader.links_in(copy, cancel=work.cancel) if copy and is_html else _NONE
        if page.suffix != HTML:
            return _NONE
        return work.reader.links_of(page.body, work.folder, cancel=work.cancel)

    def _content_key(self, url: str, page: FetchedPage | None, found: PageLinks) -> str:
        if found.digest:
            return found.digest
        if page:
            return hashlib.sha256(page.body).hexdigest()
        copy = self._pages.copy_of(url)
        return hashlib.sha256(copy.read_bytes()).hexdigest() if copy else url


_NONE = PageLinks()


def _base(address: str, found: PageLinks) -> str:
    """What the links of a page are relative to."""
    if not found.base:
        return address
    try:
        return joined(address, _spaced(found.base))
    except PageRefused:
        return address


def _spaced(href: str) -> str:
    # As browsers do.
    return "".join(href.split("\n")).replace("\t", "").replace(" ", "%20").replace("\r", "")
