"""Fetches pages politely: robots.txt first, pauses between requests, and none to a failing site.

A crawler runs on the thread that asks; any thread may open one by `WebAccess`.
"""

import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.waits import doubled_s, pause_s, wait_s_in
from desktop_rag.features.web_pages.intranet_hosts import NO_HOSTS, IntranetHosts
from desktop_rag.features.web_pages.page_address import (
    Address,
    PageRefused,
    RefusalKind,
    is_public,
    joined,
    normalise,
    origin_of,
    target_of,
)
from desktop_rag.features.web_pages.page_type import in_utf8, refuse_other_types, suffix_of
from desktop_rag.ingest.parsing.parser_process import ParserProcess

if TYPE_CHECKING:
    from desktop_rag.features.web_pages.transport import WebResponse, WebTransport

# The first word is the program name that robots.txt files match.
AGENT = "desktop-rag"
USER_AGENT = f"{AGENT} (personal document search; reads pages that its user chose)"


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Limits for one page: `page_bytes` after decompression, `seconds` including all redirects.

    Requests to one site are `delay_s` apart, or as far as its robots.txt asks, up to `max_delay_s`.
    A site that is busy is asked again `busy_tries` times, after the time it names or `busy_s`,
    doubled each time, unless that is longer than `max_busy_s`; then it is left alone.
    """

    page_bytes: int = 10 * 1024 * 1024
    seconds: float = 20.0
    redirects: int = 5
    delay_s: float = 0.5
    max_delay_s: float = 5.0
    busy_tries: int = 2
    busy_s: float = 5.0
    max_busy_s: float = 120.0


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


_MAX_LINES = 20_000
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_SAFE_CHARACTERS = "/?&=*$@:!'()+,;~-._"


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules for one agent: allowed paths, and the delay between two requests."""

    rules: tuple[_Rule, ...] = ()
    delay_s: float = 0.0

    def allows(self, target: str) -> bool:
        """True when path and query may be read: the longest matching rule decides."""
        asked = _normalised(target)
        if asked == "/robots.txt":
            return True
        fitting = [rule for rule in self.rules if _fits(rule.pattern, asked)]
        if not fitting:
            return True
        return max(fitting, key=lambda rule: (len(rule.pattern), rule.is_allowed)).is_allowed


NO_RULES = RobotsRules()


_WISH = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class RobotsWishes:
    """Whether a page may be kept, and its links followed."""

    may_keep: bool = True
    may_follow: bool = True


def robots_wishes(*texts: str, agent: str) -> RobotsWishes:
    """The directives in a page's head and headers; those for other programs don't count."""
    words: set[str] = set()
    for text in texts:
        is_ours = True
        for piece in _WISH.split(text.lower()):
            name, colon, word = piece.partition(":")
            # `googlebot: noindex` is for that program, until the next name.
            is_ours = name in (agent, "robots") if colon else is_ours
            if is_ours:
                words.add(word if colon else piece)
    return RobotsWishes(not words & {"noindex", "none"}, not words & {"nofollow", "none"})


def parse_robots(text: str, agent: str) -> RobotsRules:
    """The rules of a robots.txt for `agent`, else those for all agents, by RFC 9309.

    Takes linear time. The standard library's parser supports no wildcards and applies the first
    matching rule instead of the longest, so it would allow pages that a site excludes.
    """
    named: list[tuple[str, str]] = []
    general: list[tuple[str, str]] = []
    us = agent.lower()
    # Flags, no list of names: a file may put thousands of names above thousands of rules.
    is_named = is_group_open = is_ours = is_for_all = False
    for line in text.lstrip("\ufeff").splitlines()[:_MAX_LINES]:
        match = _LINE.match(line)
        if not match:
            continue
        key, value = match[1].lower(), match[2].strip()
        if key == "user-agent":
            name = _token(value)
            is_ours = name == us or (is_group_open and is_ours)
            is_for_all = name == "*" or (is_group_open and is_for_all)
            is_group_open = True
            is_named |= is_ours
        elif key in {"allow", "disallow", "crawl-delay"}:
            is_group_open = False
            if is_ours:
                named.append((key, value))
            elif is_for_all:
                general.append((key, value))
    return _rules(named if is_named else general)


def _rules(lines: list[tuple[str, str]]) -> RobotsRules:
    rules = tuple(
        _Rule(_normalised(value), key == "allow")
        for key, value in lines
        if key != "crawl-delay" and value
    )
    delays = [_seconds(value) for key, value in lines if key == "crawl-delay"]
    return RobotsRules(rules, max(delays, default=0.0))


def _token(value: str) -> str:
    """The agent name without its version, in lower case."""
    return re.split(r"[/\s]", value, maxsplit=1)[0].lower()


def _seconds(value: str) -> float:
    # float() would accept "nan" and "inf".
    return float(value) if re.fullmatch(r"\d{1,9}(\.\d{0,9})?", value) else 0.0


def _normalised(target: str) -> str:
    """A canonical percent-encoding."""
    return quote(unquote_to_bytes(target), safe=_SAFE_CHARACTERS)


def _fits(pattern: str, target: str) -> bool:
    """Match a pattern with `*` and a final `$` against the start of the target, in linear time."""
    is_whole = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    if not pieces:
        return not is_whole or target == first
    position = len(first)
    last = pieces.pop() if is_whole else ""
    for piece in pieces:
        found = target.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return target.endswith(last) and len(target) - len(last) >= position


_ROBOTS_BYTES = 512 * 1024
# After this many failures in a row the site is skipped for the rest of the refresh.
_MAX_FAILURES = 2
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": (
        "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.9,"
        "text/plain;q=0.8,application/xml;q=0.8,*/*;q=0.1"
    ),
    "Accept-Encoding": "gzip",
}
_OK, _NOT_MODIFIED, _SERVER_ERROR = 200, 304, 500
_REDIRECTS = {301, 302, 303, 307, 308}
_GONE = {404, 410}
_LOGIN = {401, 403, 407}
_BUSY = {429, 503}
_MAX_STAMP_CHARS = 500


@dataclass(slots=True)
class _Site:
    """The state of one origin. `rules` is None until its robots.txt was requested."""

    rules: RobotsRules | None = None
    next_at: float = 0.0
    failures: int = 0
    busy: int = 0
    slow_s: float = 0.0
    closed: PageRefused | None = None


@dataclass(slots=True)
class _Budget:
    """The remaining seconds for responses, redirects included."""

    left_s: float


class _SiteBusy(Exception):  # noqa: N818  the site's state, not the program's failure
    """The site asks to come back soon: its next request waits for that."""


class Crawler:
    """Fetches pages during one refresh of a source and remembers the state of each site."""

    def __init__(
        self, transport: "WebTransport", cancel: threading.Event, limits: WebLimits | None = None
    ) -> None:
        self.limits = limits or WebLimits()
        self.requests = 0
        self._has_answer = False
        self._has_failure = False
        self._transport = transport
        self._cancel = cancel
        self._sites: dict[str, _Site] = {}

    @property
    def is_offline(self) -> bool:
        """True when servers were asked and none answered."""
        return self._has_failure and not self._has_answer

    def fetch(
        self,
        url: str,
        validators: CacheValidators | None = None,
        *,
        may_lead_to: Callable[[str], bool] = lambda _url: True,
    ) -> FetchedPage | None:
        """The page at an address, or None when the validators show that it is unchanged.

        `may_lead_to` is asked for the target of each redirect, before any request is sent there.

        Raises:
            PageRefused: when the page is not available.
            Cancelled: soon after the cancel event was set.
        """
        headers = {**_HEADERS, **(validators.headers() if validators else {})}
        while True:
            # Each turn but the last counts as one of the tries of a busy site.
            with suppress(_SiteBusy):
                return self._fetched(normalise(url), headers, may_lead_to)

    def _fetched(
        self, here: str, headers: Mapping[str, str], may_lead_to: Callable[[str], bool]
    ) -> FetchedPage | None:
        budget = _Budget(self.limits.seconds)
        is_conditional = "If-None-Match" in headers or "If-Modified-Since" in headers
        for _ in range(self.limits.redirects + 1):
            self._check_robots(here)
            with self._request(here, headers, budget) as answer:
                if not _is_redirect(answer):
                    return self._page(answer, may_be_known=is_conditional)
                here = joined(here, answer.headers["location"])
                if not may_lead_to(here):
                    raise PageRefused(
                        RefusalKind.CLOSED, "The page leads out of the part that is read."
                    )
        raise PageRefused(
            RefusalKind.FAILING, "The address points from one page to the next, endlessly."
        )

    def _page(self, answer: "WebResponse", *, may_be_known: bool) -> FetchedPage | None:
        if answer.status == _NOT_MODIFIED and may_be_known:
            return None
        if answer.status != _OK:
            raise _refused_by(answer.status)
        refuse_other_types(answer.headers)
        body = answer.read(self.limits.page_bytes)
        if not body.strip():
            raise PageRefused(RefusalKind.UNFIT, "The page is empty.")
        suffix = suffix_of(answer.headers, answer.url, body)
        return FetchedPage(
            answer.url, suffix, in_utf8(answer.headers, suffix, body), _validators(answer.headers),
            _sendable(answer.headers.get("x-robots-tag", "")),
        )  # fmt: skip

    def _check_robots(self, url: str) -> None:
        site = self._site(url)
        if site.rules is None:
            site.rules = self._fetch_robots(site, url)
        if not site.rules.allows(target_of(url)):
            raise PageRefused(
                RefusalKind.CLOSED, "The site asks programs not to read this page (robots.txt)."
            )

    def _fetch_robots(self, site: _Site, url: str) -> RobotsRules:
        """The site's rules: none without a robots.txt; a site that fails to send it is skipped."""
        budget = _Budget(self.limits.seconds)
        here = f"{origin_of(url)}/robots.txt"
        try:
            for _ in range(self.limits.redirects + 1):
                with self._request(here, _HEADERS, budget) as answer:
                    if _is_redirect(answer):
                        here = joined(here, answer.headers["location"])
                        continue
                    if answer.status >= _SERVER_ERROR or answer.status in _BUSY:
                        site.closed = _robots_failed(answer.status)
                        raise site.closed
                    if answer.status != _OK:
                        return NO_RULES
                    text = answer.read(_ROBOTS_BYTES, truncates=True).decode("utf-8", "replace")
                    return parse_robots(text, AGENT)
        except PageRefused as refused:
            is_final = refused.kind is RefusalKind.BLOCKED and origin_of(here) == origin_of(url)
            if is_final or refused.kind in (RefusalKind.UNREACHABLE, RefusalKind.FAILING):
                raise
        return NO_RULES

    @contextmanager
    def _request(
        self, url: str, headers: Mapping[str, str], budget: _Budget
    ) -> Generator["WebResponse"]:
        """Send one request after the site's delay and record the outcome."""
        site = self._site(url)
        if site.closed:
            raise site.closed
        if self._cancel.wait(max(0.0, site.next_at - time.monotonic())):
            raise Cancelled
        began_at = time.monotonic()
        self.requests += 1
        try:
            with self._transport.request(url, headers, budget.left_s) as answer:
                self._has_answer = True
                if answer.status in _BUSY:
                    self._wait_or_close(site, answer)
                else:
                    site.busy = 0
                yield answer
                site.failures = 0
        except PageRefused as refused:
            is_unreachable = refused.kind is RefusalKind.UNREACHABLE
            self._has_failure |= is_unreachable
            site.failures += is_unreachable
            if site.failures >= _MAX_FAILURES:
                site.closed = refused
            raise
        finally:
            site.next_at = max(site.next_at, time.monotonic() + self._delay_s(site))
            budget.left_s -= time.monotonic() - began_at

    def _wait_or_close(self, site: _Site, answer: "WebResponse") -> None:
        """Raise _SiteBusy when the site may be asked again; else leave it alone from now on."""
        site.busy += 1
        planned_s = self.limits.busy_s * 2 ** (site.busy - 1)
        wait_s = pause_s(
            planned_s if site.busy <= self.limits.busy_tries else None,
            wait_s_in("", headers=answer.headers),
            self.limits.max_busy_s,
        )
        if wait_s is None:
            site.closed = _refused_by(answer.status)
            return
        site.next_at = time.monotonic() + wait_s
        # It was asked too often: from now on half as often.
        site.slow_s = doubled_s(self._delay_s(site), 0.0, self.limits.max_delay_s)
        raise _SiteBusy

    def _delay_s(self, site: _Site) -> float:
        asked_s = max(site.slow_s, site.rules.delay_s if site.rules else 0.0)
        return max(self.limits.delay_s, min(asked_s, self.limits.max_delay_s))

    def _site(self, url: str) -> _Site:
        return self._sites.setdefault(origin_of(url), _Site())


def _is_redirect(answer: "WebResponse") -> bool:
    return answer.status in _REDIRECTS and "location" in answer.headers


def _refused_by(status: int) -> PageRefused:
    if status in _GONE:
        return PageRefused(RefusalKind.GONE, f"There is no page at this address ({status}).")
    if status in _LOGIN:
        return PageRefused(
            RefusalKind.FAILING, f"The site does not show this page to everybody ({status}).",
            "Pages behind a login can't be fetched: save them as files.",
        )  # fmt: skip
    if status in _BUSY:
        return PageRefused(RefusalKind.FAILING, f"The site asks to come back later ({status}).")
    if status >= _SERVER_ERROR:
        return PageRefused(RefusalKind.FAILING, f"The site failed to send the page ({status}).")
    return PageRefused(RefusalKind.FAILING, f"The site did not send the page ({status}).")


def _robots_failed(status: int) -> PageRefused:
    return PageRefused(
        RefusalKind.FAILING, f"The site failed to say what may be read ({status} for robots.txt).",
        "Its pages are left alone until it does.",
    )  # fmt: skip


def _validators(headers: Mapping[str, str]) -> CacheValidators:
    return CacheValidators(
        _sendable(headers.get("etag", "")), _sendable(headers.get("last-modified", ""))
    )


def _sendable(value: str) -> str:
    is_plain = value.isascii() and value.isprintable() and len(value) <= _MAX_STAMP_CHARS
    return value if is_plain else ""


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The hosts that may be contacted, and the limits.

    `is_allowed` decides if an address may be connected to; `resolve` replaces the system resolver.
    `make_parser` makes the process that reads the links of pages, if any are followed.
    """

    limits: WebLimits = field(default_factory=WebLimits)
    is_allowed: Callable[[Address], bool] = is_public
    resolve: Callable[[str, int], Sequence[str]] | None = None
    make_parser: Callable[[], ParserProcess] = ParserProcess

    @contextmanager
    def crawler(
        self, cancel: threading.Event, intranet: IntranetHosts = NO_HOSTS
    ) -> Generator[Crawler]:
        """A crawler for the calling thread; its connections are closed at the end.

        It may also reach the hosts of `intranet`.
        """
        # Importing the network libraries takes a while; the window opens without them.
        from desktop_rag.features.web_pages.transport import WebTransport, resolve_host  # noqa: PLC0415

        transport = WebTransport(
            cancel, is_allowed=self.is_allowed, intranet=intranet,
            resolve=self.resolve or resolve_host,
        )  # fmt: skip
        try:
            yield Crawler(transport, cancel, self.limits)
        finally:
            transport.close()
