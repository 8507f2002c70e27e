"""Keeps web links up to date: fetches their pages on request and on a schedule.

Owns one named thread for all web access, and a ticker that checks the schedule.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event

from desktop_rag.core.crawling import CrawlReport, CrawlState
from desktop_rag.core.domain import DocumentState, Source, WebLinks
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.library_events import Notice
from desktop_rag.features.web_pages.crawler import Crawler, FetchedPage, WebAccess
from desktop_rag.features.web_pages.feed_pages import FeedPages, FoundFeed, feed_in
from desktop_rag.features.web_pages.follower import Follower, Following, LinkReader
from desktop_rag.features.web_pages.intranet_hosts import (
    NO_HOSTS,
    IntranetHosts,
    intranet_hosts_of,
    parse_intranet_hosts,
)
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    RefusalKind,
    normalise,
    parse_base_address,
    parse_links,
)
from desktop_rag.features.web_pages.page_type import PDF, drop_folders_but, stat_of
from desktop_rag.features.web_pages.sitemap_walk import (
    FoundSitemap,
    ListError,
    SitemapPages,
    SitemapWalk,
    refuse_list,
    sitemap_in,
    unpacked,
)
from desktop_rag.features.web_pages.source_pages import Findings, SourcePages, WebPageStore
from desktop_rag.ingest.background.background_thread import BackgroundThread, Ticker
from desktop_rag.ingest.sources.source_kinds import LinkKind, SourceKit

log = logging.getLogger(__name__)


class RefreshPass:
    """One pass over the links of a source: adds, updates and removes its pages.

    A failing page does not affect the others.
    """

    def __init__(self, links: WebLinks, work: Following, may_go_on: Callable[[], bool]) -> None:
        """`may_go_on` is called before each page."""
        self.is_truncated = False
        self.pages = work.pages
        self.crawler: Crawler = work.crawler
        self._links = links
        self._may_go_on = may_go_on
        self._follower = Follower(links, work)
        self._feed_pages = FeedPages(work.crawler, work.pages)
        self._is_complete = True
        self._sitemaps: list[FoundSitemap] = []
        self._feeds: list[FoundFeed] = []
        self._page_count = 0

    def run(self) -> bool:
        """Refresh all pages; False when interrupted, and then no page is removed for missing from a
        list. Called again, it goes on where it was.

        Raises AppError when a page can't be stored, Cancelled when it was stopped.
        """
        for link in self._links.urls:
            if not self._may_go_on():
                return False
            self._process_link(link)
            self._count()
        if not self._follower.follow(self._counted, lambda: self._left):
            return False
        if not self._process_feeds():
            return False
        listing = self._listing()
        if not self._may_go_on():
            return False
        self._is_complete &= listing.is_complete and self._follower.is_complete
        self.is_truncated |= listing.is_truncated or self._follower.is_cut_off
        # If a list was unreadable, pages that no list names are requested one by one.
        others = [] if self._is_complete else self.pages.unsettled
        for url in dict.fromkeys([*listing.urls, *others]):
            if not self._counted():
                return False
            if not self.pages.is_settled(url):
                self._process_listed(url)
        if not self.crawler.is_offline:
            self.pages.remove_unsettled()
        self._count()
        return True

    @property
    def _left(self) -> int:
        """How many more pages the limit allows."""
        return max(0, self._links.page_limit - self._page_count - self._follower.page_count)

    def _counted(self) -> bool:
        self._count()
        return self._may_go_on()

    def _count(self) -> None:
        findings = self.pages.findings
        self.pages.log.change(
            requests=self.crawler.requests,
            pages=self._page_count + self._follower.page_count,
            fresh=findings.added + findings.changed,
            copies=self._follower.copies,
            waiting=self._follower.waiting,
        )

    def _process_link(self, link: str) -> None:
        """Take a link of the person: a page, or a sitemap or feed that lists pages."""
        try:
            url = normalise(link)
        except PageRefused as refused:
            self.pages.refuse(link, refused, is_link=True)
            return
        if self.pages.is_settled(url) or url in {f.link for f in (*self._feeds, *self._sitemaps)}:
            return
        if not self._left:
            self.pages.refuse(url, _over_limit(self._links.page_limit), is_link=True)
            return
        try:
            page = self.crawler.fetch(url, self.pages.validators_of(url))
            is_list = page is not None and self._keep_list(url, page)
        except PageRefused as refused:
            # Pages that it led to may still be there.
            self._is_complete &= self.pages.was_read(url) and not self._links.follow_depth
            self.pages.refuse(url, refused, is_link=True)
            return
        if is_list:
            return
        if self._links.follow_depth:
            self._follower.begin(url, page)
        else:
            self._take(url, page)

    def _keep_list(self, url: str, page: FetchedPage) -> bool:
        """True when the page lists others, which are processed later."""
        if page.suffix == PDF:
            return False
        limit = self.crawler.limits.page_bytes
        try:
            content = unpacked(page.body, limit)
        except ListError as exc:
            raise PageRefused(RefusalKind.UNFIT, f"The sitemap can't be read: {exc}.") from exc
        if feed := feed_in(url, page, content):
            self._feeds.append(feed)
            return True
        if found := sitemap_in(url, page, limit):
            self._sitemaps.append(found)
            return True
        return False

    def _process_feeds(self) -> bool:
        for feed in self._feeds:
            for url, entry in self._feed_pages.addresses(feed).items():
                if not self._counted():
                    return False
                if self.pages.is_settled(url):
                    continue
                if not self._left:
                    self.is_truncated = True
                    break
                self._page_count += 1
                self._feed_pages.take(feed, url, entry)
        self._page_count += self.pages.keep_entries(self._links.urls, self._left)
        return True

    def _process_listed(self, url: str) -> None:
        try:
            page = self.crawler.fetch(url, self.pages.validators_of(url))
            if page:
                refuse_list(page)
        except PageRefused as refused:
            self.pages.refuse(url, refused)
        else:
            self._take(url, page)

    def _take(self, url: str, page: FetchedPage | None) -> None:
        self._page_count += 1
        self.pages.take(url, page)

    def _listing(self) -> SitemapPages:
        walk = SitemapWalk(self.crawler, self._left, self._may_go_on, self.pages.report)
        return walk.pages(self._sitemaps)


def _over_limit(limit: int) -> PageRefused:
    return PageRefused(
        RefusalKind.UNFIT, f"Not fetched: these links are limited to {limit:,} pages."
    )


class RefreshRun:
    """One refresh of a source with its connections, which a pause can hold. It must be closed.

    Setting `stop`, from any thread, ends a running request and the refresh with Cancelled.
    """

    def __init__(
        self,
        source: Source,
        kit: SourceKit,
        stored: WebPageStore,
        web: WebAccess,
        intranet: IntranetHosts,
        *,
        reader: LinkReader,
        clock: Callable[[], float],
        may_go_on: Callable[[], bool],
    ) -> None:
        assert source.links is not None, "a source of links"
        self.source = source
        self.stop = Event()
        self._connections = ExitStack()
        self.close = self._connections.close
        pages = SourcePages(source, kit, stored, clock())
        self.log = pages.log
        crawler = self._connections.enter_context(web.crawler(self.stop, intranet))
        work = Following(crawler, pages, reader, source.path, self.stop, clock)
        self.refresh = RefreshPass(source.links, work, may_go_on)


# Each address takes a request or two, and up to the time limit of a page.
_MOST_CHECKED = 5
_HOUR_S = 3600.0
_CHECK_S = 30.0
# The retry delay when nothing was reachable, much shorter than the schedule.
_RETRY_S = 900.0


class LinkRefresher(LinkKind):
    """A queue of sources to refresh, and the thread that refreshes them."""

    def __init__(
        self, kit: SourceKit, web: WebAccess | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` is the wall clock."""
        self._kit = kit
        self._documents = kit.documents
        self._sources = kit.sources
        self._pages = WebPageStore(kit.storage)
        self._callbacks = kit.callbacks
        self._web = web or WebAccess(make_parser=kit.make_parser)
        self._reader = LinkReader(self._web.make_parser())
        self._clock = clock
        self._queue: dict[str, Source] = {}
        self._forgotten: set[str] = set()
        self._run: RefreshRun | None = None
        # Runs that were held by a pause, by the id of their source.
        self._held: dict[str, RefreshRun] = {}
        self._is_sweep_due = False
        self._retry_at: dict[str, float] = {}
        self._reported_missed: dict[str, frozenset[str]] = {}
        self._background = BackgroundThread(
            "web-links", self._work, has_work=lambda: bool(self._queue) or self._is_sweep_due,
            callbacks=kit.callbacks,
        )  # fmt: skip
        self._ticker = Ticker("web-schedule", _CHECK_S, self.check_schedule)

    def start(self) -> None:
        """Queue fetched pages that were not read yet, and refresh the sources that are due."""
        self._is_sweep_due = True
        self.check_schedule()
        super().start()
        self._ticker.start()

    def close(self) -> None:
        """Stop at once; unfinished refreshes are due again at the next start. Idempotent."""
        self._ticker.close()
        self._background.closing.set()
        self._stop_run("")
        super().close()
        for run in self._held.values():
            run.close()
        self._held.clear()
        self._reader.close()

    def checked(self, links: WebLinks) -> WebLinks:
        """As `LinkKind.checked`."""
        path = links.path_limit.strip()
        if path and not path.startswith("/"):
            raise AppError(f"“{path}” is not the path of a site.", "Write it like /guide/.")
        return replace(links, urls=parse_links("\n".join(links.urls)), path_limit=path)

    checked_base = staticmethod(parse_base_address)
    checked_hosts = staticmethod(parse_intranet_hosts)

    def refused(
        self, urls: Sequence[str], collection_id: str, cancel: Event
    ) -> list[tuple[str, str]]:
        """The first addresses that can't be fetched now, each with its reason.

        AppError when a text is no address, Cancelled soon after `cancel` was set.
        """
        refused: list[tuple[str, str]] = []
        with self._web.crawler(cancel, self._intranet_of(collection_id)) as crawler:
            for url in parse_links("\n".join(urls))[:_MOST_CHECKED]:
                try:
                    crawler.fetch(url)
                except PageRefused as refusal:
                    refused.append((url, refusal.reason))
        return refused

    def release(self) -> None:
        """End the process that reads links, unless it is at work; it starts again when needed."""
        self._background.while_idle(self._reader.close)

    @property
    def reports(self) -> dict[str, CrawlReport]:
        """The report on fetching each source, so far or at the end, by the id of the source."""
        with self._background.condition:
            runs = [run for run in (*self._held.values(), self._run) if run]
        return self._pages.reports() | {run.source.source_id: run.log.report for run in runs}

    # --- requests ----------------------------------------------------------------------------

    def request(self, source: Source, _places: frozenset[Path] | None = None, /) -> None:
        """Refresh a source of links now."""
        assert source.links is not None, "a source of links"
        with self._background.condition:
            self._queue[source.source_id] = source
        self.wake()

    def forget(self, source_id: str) -> None:
        """Delete the files of a removed source and stop fetching it."""
        with self._background.condition:
            self._queue.pop(source_id, None)
            self._forgotten.add(source_id)
            self._is_sweep_due = True
        self._stop_run(source_id)
        self.wake()

    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is; what was read stays, until the next time."""
        with self._background.condition:
            source = self._queue.pop(source_id, None)
            held = self._held.pop(source_id, None)
        if held:
            held.close()
            self._finish(held, CrawlState.STOPPED)
        elif source and source_id not in self._forgotten:
            self._sources.set_refreshed(source_id, self._clock())
        self._stop_run(source_id)

    def _stop_run(self, source_id: str) -> None:
        with self._background.condition:
            if self._run and source_id in ("", self._run.source.source_id):
                self._run.stop.set()

    def check_schedule(self) -> None:
        """Queue the sources that are due. If the store fails, the next check tries again."""
        try:
            due = [source for source in self._sources.sources() if self._is_due(source)]
        except AppError as error:
            log.info("the schedule of links was not looked at: %s", error.title)
            return
        with self._background.condition:
            known = {*self._queue, self._run.source.source_id if self._run else ""}
            self._queue.update({s.source_id: s for s in due if s.source_id not in known})
        self.wake()

    def _is_due(self, source: Source) -> bool:
        if source.links is None or self._is_waiting(source.source_id):
            return False
        if not source.refreshed_at:
            return True
        hours = source.links.refresh_hours
        elapsed_s = self._clock() - source.refreshed_at
        # A time ahead was written before the clock was set back: waiting for it could take years.
        return hours > 0 and not -_HOUR_S <= elapsed_s < hours * _HOUR_S

    def _is_waiting(self, source_id: str) -> bool:
        """True for a while after the source could not be reached."""
        return 0 < self._retry_at.get(source_id, 0.0) - self._clock() <= _RETRY_S

    # --- on the thread -------------------------------------------------------------------------

    def _work(self) -> None:
        if self._is_sweep_due:
            self._sweep()
        while run := self._next():
            try:
                is_done = self._refresh(run)
            except BaseException:
                # It may have taken note of a page that was not stored: it begins anew.
                self._end(run, is_done=False, is_held=False)
                raise
            self._end(run, is_done=is_done)

    def _next(self) -> RefreshRun | None:
        """The next source to refresh, with what is known of an earlier attempt."""
        if not self._background.may_go_on():
            return None
        with self._background.condition:
            if not self._queue:
                return None
            source = self._queue.pop(next(iter(self._queue)))
            run = self._held.pop(source.source_id, None)
        wanted = (source.links, source.collection_id)
        if run and (run.source.links, run.source.collection_id) != wanted:
            run.close()
            run = None
        run = run or self._open(source)
        with self._background.condition:
            self._run = run
            if self._background.closing.is_set():
                run.stop.set()
        return run

    def _open(self, source: Source) -> RefreshRun:
        def may_go_on() -> bool:
            return self._background.may_go_on() and source.source_id not in self._forgotten

        return RefreshRun(
            source, self._kit, self._pages, self._web, self._intranet_of(source.collection_id),
            reader=self._reader, clock=self._clock, may_go_on=may_go_on,
        )  # fmt: skip

    def _end(self, run: RefreshRun, *, is_done: bool, is_held: bool = True) -> None:
        """Hold an interrupted refresh, or close it, and queue it again."""
        source = run.source
        is_left = source.source_id in self._forgotten or self._background.closing.is_set()
        with self._background.condition:
            self._run = None
            if not is_done and source.source_id not in self._forgotten:
                self._queue.setdefault(source.source_id, source)
            if is_held and not is_done and not is_left:
                self._held[source.source_id] = run
                run.log.change(state=CrawlState.PAUSED)
                return
        run.close()

    def _refresh(self, run: RefreshRun) -> bool:
        """Fetch the pages of a source; False when interrupted."""
        run.log.change(state=CrawlState.RUNNING)
        try:
            if not run.refresh.run():
                return False
        except Cancelled:
            if self._background.closing.is_set() or run.source.source_id in self._forgotten:
                raise
            self._finish(run, CrawlState.STOPPED)
            return True
        if run.refresh.crawler.is_offline:
            self._retry_at[run.source.source_id] = self._clock() + _RETRY_S
            self._finish(run, CrawlState.OFFLINE)
        else:
            self._retry_at.pop(run.source.source_id, None)
            self._pages.purge()
            self._finish(run, CrawlState.DONE)
        return True

    def _finish(self, run: RefreshRun, state: CrawlState) -> None:
        source, refresh = run.source, run.refresh
        is_offline = state is CrawlState.OFFLINE
        if not is_offline:
            self._sources.set_refreshed(source.source_id, self._clock())
        run.log.change(
            state=state, ended_at=self._clock(), waiting=0, is_cut_off=refresh.is_truncated
        )
        self._pages.put_report(source.source_id, run.log.report)
        findings = refresh.pages.findings
        self._report(source, findings, is_offline=is_offline, is_truncated=refresh.is_truncated)

    def _intranet_of(self, collection_id: str) -> IntranetHosts:
        for collection in self._sources.collections():
            if collection.collection_id == collection_id:
                return intranet_hosts_of(collection.intranet_hosts)
        return NO_HOSTS

    def _report(
        self, source: Source, findings: Findings, *, is_offline: bool, is_truncated: bool
    ) -> None:
        summary = findings.summary
        log.info(
            "links: +%d ~%d -%d unchanged %d, of these not reached %d",
            summary.added, summary.changed, summary.gone, summary.unchanged, len(findings.missed),
        )  # fmt: skip
        self._callbacks.source_reached(source, not is_offline)
        self._callbacks.source_scanned(source, summary)
        if is_offline:
            return
        if is_truncated and not source.refreshed_at:
            self._callbacks.notify(_truncated_notice(source))
        before = self._reported_missed.get(source.source_id, frozenset())
        missed = frozenset(findings.missed)
        self._reported_missed[source.source_id] = missed
        if missed - before:
            self._callbacks.notify(_missed_notice(findings.missed))

    def _sweep(self) -> None:
        """Delete files without a source, and queue pages that are still to be read."""
        with self._background.condition:
            self._is_sweep_due = False
        sources = self._sources.sources()
        drop_folders_but(self._kit.folder, {source.source_id for source in sources})
        self._pages.purge()
        for source in [source for source in sources if source.links]:
            waiting = self._documents.documents(source.source_id, DocumentState.WAITING)
            waiting = [d for d in waiting if d.is_to_be_read]
            kept = [d.document_id for d in waiting if stat_of(d.path)]
            self._kit.indexer.submit(kept, unless_taken=True)
            if len(kept) < len(waiting):
                self.request(source)


def _missed_notice(missed: dict[str, str]) -> Notice:
    url, reason = next(iter(missed.items()))
    what = f"{url} could" if len(missed) == 1 else f"{len(missed):,} pages could"
    return Notice(
        f"{what} not be fetched again.", f"{reason} What was read before stays searchable."
    )


def _truncated_notice(source: Source) -> Notice:
    assert source.links is not None, "a source of links"
    limit = f"{source.links.page_limit:,} pages"
    return Notice(
        f"Only {limit} of {source.name} are read.",
        "There are more. A higher limit, in the options of the link, has them all.",
    )
