"""Admin pages for collections, crawls and documents. Worker threads."""

from collections import Counter
from collections.abc import Sequence

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import Collection, Document, DocumentState, Source, WebLinks
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Answer, Moved, Shown, Visit, page
from desktop_rag.features.server.html_writer import Child, Html, joined, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.collection_calls import (
    CollectionCalls,
    CollectionChange,
    Folder,
    Links,
    Remote,
)
from desktop_rag.features.server.rest.sending_calls import SendingCalls, UploadQuery
from desktop_rag.features.server.serving import Serving
from desktop_rag.models.embedding.joined_embedding import NAMES

_PATH = "/admin/collections"
_ONE = f"{_PATH}/{{collection_id}}"
_HOSTS = (
    "One in each line: wiki.example, wiki.example:8080, wiki.example 10.1.0.0/16. Without any,"
    " pages are fetched from public addresses only."
)
_FOLDER = "The whole path. Who may ask this collection may then read its files."
_REMOTE = "Such as https://cloud.example/remote.php/dav/files/ann/ of a Nextcloud, or imaps://mail.example."
_LINKS = "An address in each line; that of a sitemap stands for the pages it lists."
# What programs call an application: the sender of these documents.
_UPLOADS = "admin page"
_METHODS = {"structure": "headings and sentences", "tokens": "tokens", "words": "words"}
_PUBLIC = "Pages are fetched from public addresses only."


class CollectionAdmin(parts.AdminPages):
    """Lists the collections with the state of their documents; adds, renames and removes them."""

    def __init__(self, serving: Serving) -> None:
        super().__init__(serving)
        self._calls = CollectionCalls(serving.chat, serving.library, serving.links.link)

    @page(_PATH)
    def _list(self, visit: Visit) -> Shown:
        sources = self._library.sources.all()
        rows = [self._row(each, sources) for each in self._library.collections.all()]
        heads = ("Collection", "Sources", "Documents", "Searchable", "Unread", "Failed", "Model")
        listed = parts.table(heads, rows, empty="There are no collections yet.")
        name = parts.form_field("Name", "name", required=True, maxlength=80)
        added = parts.form(visit, _PATH, name, tag("p", parts.button("Add collection")))
        return Shown("Collections", joined(listed, parts.section("New collection", added)))

    def _row(self, collection: Collection, sources: Sequence[Source]) -> list[str]:
        own = [s for s in sources if s.collection_id == collection.collection_id]
        counts = [self._library.documents.counts(source.source_id) for source in own]
        failed = sum(each.of(DocumentState.FAILED) for each in counts)
        name: Html = tag("a", collection.name, href=f"{_PATH}/{collection.collection_id}")
        return [
            name,
            f"{len(own):,}",
            f"{sum(each.total for each in counts):,}",
            f"{sum(each.searchable for each in counts):,}",
            f"{sum(each.unread for each in counts):,}",
            f"{failed:,}",
            collection.embedder or "as in the settings",
        ]

    @page(_ONE)
    def _show(self, visit: Visit) -> Shown:
        collection = self._of(visit)
        path = f"{_PATH}/{collection.collection_id}"
        own = [
            s for s in self._library.sources.all() if s.collection_id == collection.collection_id
        ]
        rows = [
            (s.name, s.state.value, f"{self._library.documents.counts(s.source_id).total:,}",
             parts.when(s.added_at))
            for s in own
        ]  # fmt: skip
        body = joined(self._sources(visit, path, rows), self._settings(visit, path, collection))
        return Shown(collection.name, body)

    def _sources(self, visit: Visit, path: str, rows: Sequence[Sequence[Child]]) -> Html:
        kinds = self._library.sources.remote_kinds
        return parts.section(
            "Sources",
            parts.table(("Source", "State", "Documents", "Added"), rows, empty="No sources yet."),
            parts.form(visit, f"{path}/look", tag("p", parts.button("Look for changes now"))),
            parts.form(
                visit, f"{path}/folder",
                parts.form_field("Folder of this computer", "folder", required=True, hint=_FOLDER),
                tag("p", parts.button("Add folder")),
            ),
            parts.upload_form(
                visit, f"{path}/upload", "Files of yours",
                "Together up to 8 MB. One of the same name takes the place of an earlier one.",
            ),
            parts.form(
                visit, f"{path}/links",
                parts.text_area("Web pages", "urls", hint=_LINKS),
                parts.form_field("Most pages", "pages", "100", kind="number", min=1, max=10_000),
                tag("p", parts.button("Add web pages")),
            ),
            parts.form(
                visit, f"{path}/remote",
                parts.select("From", "kind", {each: each for each in kinds}, "webdav"),
                parts.form_field("Address", "address", required=True, hint=_REMOTE),
                parts.form_field("User", "user", autocomplete="off"),
                parts.form_field("App password or token", "password", kind="password",
                                 autocomplete="new-password"),
                parts.text_area("Only these folders or projects", "chosen"),
                tag("p", parts.button("Add from there")),
            ),
        )  # fmt: skip

    def _settings(self, visit: Visit, path: str, collection: Collection) -> Html:
        chunking = collection.chunking
        return parts.section(
            "Settings",
            parts.form(
                visit, f"{path}/cutting",
                parts.select("Pieces follow", "method", _METHODS, chunking.method),
                parts.form_field("Tokens of a piece (0: as the model takes)", "most",
                           str(chunking.max_tokens), kind="number", min=0, max=8192),
                parts.form_field("Tokens repeated in the next", "overlap",
                           str(chunking.overlap_tokens), kind="number", min=0, max=128),
                parts.select("Embedding model", "embedder", self._embedders(), collection.embedder),
                parts.note("Documents follow in the background; until then the old pieces answer."),
                tag("p", parts.button("Save")),
            ),
            parts.form(
                visit, path,
                parts.form_field("Name", "name", collection.name, required=True, maxlength=80),
                tag("p", parts.button("Rename")),
            ),
            parts.form(
                visit, f"{path}/hosts",
                parts.text_area("Hosts of the local network that its links may name", "hosts",
                          "\n".join(collection.intranet_hosts), hint=_HOSTS),
                tag("p", parts.button("Save")),
            ),
            tag("p", tag("a", "Remove this collection…", href=f"{path}/remove")),
        )  # fmt: skip

    @page(_PATH, "POST")
    def _add(self, visit: Visit) -> Moved:
        added = self._library.collections.add(visit.sent("name"))
        return Moved(_PATH, f"“{added.name}” was added.")

    @page(_ONE, "POST")
    def _rename(self, visit: Visit) -> Moved:
        renamed = self._library.collections.rename(
            self._of(visit).collection_id, visit.sent("name")
        )
        return Moved(f"{_PATH}/{renamed.collection_id}", f"It is now called “{renamed.name}”.")

    @page(f"{_ONE}/hosts", "POST")
    def _set_hosts(self, visit: Visit) -> Moved:
        collection = self._of(visit)
        hosts = visit.sent_lines("hosts")
        changed = self._library.collections.set_intranet_hosts(collection.collection_id, hosts)
        number = len(changed.intranet_hosts)
        said = f"{number:,} hosts of the local network may be fetched." if number else _PUBLIC
        return Moved(f"{_PATH}/{collection.collection_id}", said)

    @page(f"{_ONE}/cutting", "POST")
    def _set_cutting(self, visit: Visit) -> Moved:
        collection_id = self._of(visit).collection_id
        sent = {"max_tokens": visit.number("most", 8192), "method": visit.sent("method"),
                "overlap_tokens": visit.number("overlap", 128)}  # fmt: skip
        change = CollectionChange.checked({"chunking": sent, "embedder": visit.sent("embedder")})
        self._calls.change_collection(Caller(visit.session.token), collection_id, change)
        return Moved(f"{_PATH}/{collection_id}", "Its documents follow in the background.")

    @page(f"{_ONE}/folder", "POST")
    def _add_folder(self, visit: Visit) -> Moved:
        collection_id = self._of(visit).collection_id
        folder = Folder.checked({"path": visit.sent("folder")})
        added = self._calls.add_folder(Caller(visit.session.token), collection_id, folder)
        return Moved(f"{_PATH}/{collection_id}", f"“{added.name}” is read now.")

    @page(f"{_ONE}/upload", "POST")
    def _upload(self, visit: Visit) -> Moved:
        collection_id = self._of(visit).collection_id
        calls = SendingCalls(self._chat, self._library, self._serving.links.link)
        for name, content in visit.files:
            said = UploadQuery.checked({"name": name, "application": _UPLOADS})
            calls.put_file(Caller(visit.session.token), collection_id, name, said, content)
        return Moved(f"{_PATH}/{collection_id}", f"{len(visit.files):,} files are read now.")

    @page(f"{_ONE}/links", "POST")
    def _add_links(self, visit: Visit) -> Moved:
        collection_id = self._of(visit).collection_id
        links = Links.checked(
            {"urls": list(visit.sent_lines("urls")), "page_limit": visit.number("pages", 10_000)}
        )
        self._calls.add_links(Caller(visit.session.token), collection_id, links)
        return Moved(f"{_PATH}/{collection_id}", "The pages are fetched now.")

    @page(f"{_ONE}/remote", "POST")
    def _add_remote(self, visit: Visit) -> Moved:
        collection_id = self._of(visit).collection_id
        names = ("kind", "address", "user", "password")
        sent: dict[str, object] = {name: visit.sent(name) for name in names}
        sent["chosen"] = list(visit.sent_lines("chosen"))
        self._calls.add_remote(Caller(visit.session.token), collection_id, Remote.checked(sent))
        return Moved(f"{_PATH}/{collection_id}", "It is read now.")

    def _embedders(self) -> dict[str, str]:
        used = {c.embedder for c in self._library.collections.all()} - {*NAMES}
        bundled = {spec: name for spec, name in NAMES.items() if spec}
        return {"": "as in the settings"} | bundled | {each: each for each in sorted(used)}

    @page(f"{_ONE}/look", "POST")
    def _look(self, visit: Visit) -> Moved:
        collection = self._of(visit)
        for source in self._library.sources.all():
            if source.collection_id == collection.collection_id:
                self._library.sources.rescan(source.source_id)
        return Moved(f"{_PATH}/{collection.collection_id}", "Its sources are looked at now.")

    @page(f"{_ONE}/remove", "GET", "POST")
    def _remove(self, visit: Visit) -> Answer:
        collection = self._of(visit)
        if not visit.is_post:
            said = (
                f"Remove “{collection.name}” with its sources from the library? Files on the disk"
                " are not touched."
            )
            back = f"{_PATH}/{collection.collection_id}"
            return parts.question(visit, "Remove a collection", said, "Remove", back)
        self._library.collections.remove(collection.collection_id)
        return Moved(_PATH, f"“{collection.name}” was removed.")

    def _of(self, visit: Visit) -> Collection:
        every = self._library.collections.all()
        return visit.one_of(every, "collection_id", "There is no such collection.")


_CRAWL_PATH = "/admin/crawls"
_ONE_CRAWL = f"{_CRAWL_PATH}/{{source_id}}"
_HOUR_S = 3600.0
_MOST_REFUSALS = 100
_REFUSED = (DocumentState.FAILED, DocumentState.SKIPPED)


class CrawlAdmin(parts.AdminPages):
    """Web pages as sources: when they are fetched, and what was refused."""

    @page(_CRAWL_PATH)
    def _list(self, visit: Visit) -> Shown:
        names = parts.collection_names(self._library)
        rows = [
            self._row(visit, source, links, names.get(source.collection_id, ""))
            for source in self._library.sources.all()
            if (links := source.links)
        ]
        heads = ("Link", "Collection", "State", "Pages", "Refused", "Last run", "Next run", "")
        listed = parts.table(heads, rows, empty="No web pages are in the library.")
        how = parts.note("Links are added on the page of a collection.")
        return Shown("Crawls", joined(listed, how))

    def _row(
        self, visit: Visit, source: Source, links: WebLinks, collection: str
    ) -> Sequence[Child]:
        counts = self._library.documents.counts(source.source_id)
        refused = sum(counts.of(state) for state in _REFUSED)
        path = f"{_CRAWL_PATH}/{source.source_id}"
        return [
            tag("a", source.name, href=path),
            collection,
            parts.chip("waiting", "wait") if not source.refreshed_at else source.state.value,
            f"{counts.searchable:,} of at most {links.page_limit:,}",
            f"{refused:,}",
            parts.when(source.refreshed_at),
            _next_run(source, links),
            parts.form(visit, f"{path}/run", parts.button("Run now", about=source.name)),
        ]

    @page(_ONE_CRAWL)
    def _show(self, visit: Visit) -> Shown:
        source, links = self._of(visit)
        path = f"{_CRAWL_PATH}/{source.source_id}"
        pages = self._library.documents.all(source_id=source.source_id)
        refused = [d for d in pages if d.state in _REFUSED]
        rows = [_refused_row(d) for d in refused[parts.rows_of_page(visit, refused)]]
        last, following = parts.when(source.refreshed_at), _next_run(source, links)
        body = joined(
            tag("p", "Last run: ", last, ". Next: ", following, "."),
            parts.form(visit, f"{path}/run", tag("p", parts.button("Run now"))),
            parts.section("Links", tag("ul", [tag("li", url) for url in links.urls])),
            *_report(self._library.sources.crawls().get(source.source_id)),
            parts.section(
                "Refused pages",
                parts.table(("Page", "State", "Reason"), rows, empty="No page was refused."),
                parts.pager(visit, len(refused)),
            ),
        )
        return Shown(source.name, body)

    @page(f"{_ONE_CRAWL}/run", "POST")
    def _run(self, visit: Visit) -> Moved:
        source, _ = self._of(visit)
        self._library.sources.rescan(source.source_id)
        return Moved(_CRAWL_PATH, f"“{source.name}” is fetched now.")

    def _of(self, visit: Visit) -> tuple[Source, WebLinks]:
        crawls = [source for source in self._library.sources.all() if source.links]
        source = visit.one_of(crawls, "source_id", "There is no such crawl.")
        assert source.links, "only these are crawled"
        return source, source.links


def _next_run(source: Source, links: WebLinks) -> Child:
    if not links.refresh_hours:
        return "only on request"
    if not source.refreshed_at:
        return "soon"
    return parts.when(source.refreshed_at + links.refresh_hours * _HOUR_S)


def _report(report: CrawlReport | None) -> Sequence[Child]:
    if report is None:
        return ()
    cut = "A limit left pages out." if report.is_cut_off else ""
    rows: list[Sequence[Child]] = [
        ("State", report.state.value),
        ("Began", parts.when(report.began_at)),
        ("Ended", parts.when(report.ended_at) if report.ended_at else "–"),
        ("Requests", f"{report.requests:,}"),
        ("Pages read", f"{report.pages:,}, of them {report.fresh:,} new or changed"),
        ("Copies", f"{report.copies:,}"),
        ("Waiting", f"{report.waiting:,}"),
        ("Left out", f"{report.refused_count:,}. {cut}".strip()),
    ]
    refused = [(refusal.url, refusal.reason) for refusal in report.refused[:_MOST_REFUSALS]]
    more = report.refused_count - len(refused)
    found: list[Child] = [parts.section("Last fetching", parts.table(("", ""), rows, empty=""))]
    if refused:
        rest = parts.note(f"and {more:,} more") if more > 0 else None
        addresses = parts.table(("Address", "Reason"), refused, empty="")
        found.append(parts.section("Addresses that were not read", addresses, rest))
    return found


def _refused_row(document: Document) -> Sequence[Child]:
    return [document.url or str(document.path), document.state.value, document.reason]


_DOCUMENTS = "/admin/documents"
_TONES = {
    DocumentState.SEARCHABLE: "good",
    DocumentState.SEARCHABLE_BY_WORDS: "good",
    DocumentState.FAILED: "bad",
    DocumentState.WAITING: "wait",
    DocumentState.READING: "wait",
}
_MOST_REASONS = 40
_SHOWN_TEXT = 20_000


class DocumentAdmin(parts.AdminPages):
    """Finds documents by name, state and reason; reads them again, or leaves them out."""

    @page(_DOCUMENTS)
    def _list(self, visit: Visit) -> Shown:
        collections = parts.collection_names(self._library)
        of_source = {s.source_id: s.collection_id for s in self._library.sources.all()}
        every = [d for d in self._library.documents.all() if d.source_id in of_source]
        found = [
            d for d in every
            if _fits(d, visit) and visit.asked("collection") in ("", of_source[d.source_id])
        ]  # fmt: skip
        shown = found[parts.rows_of_page(visit, found)]
        rows = [self._row(d, collections[of_source[d.source_id]]) for d in shown]
        heads = ("", "Document", "State", "Reason", "Collection", "Pieces", "Read")
        body = joined(
            _filters(visit, collections, every),
            parts.form(
                visit, f"{_DOCUMENTS}/again",
                parts.table(heads, rows, empty="No document fits."),
                parts.pager(visit, len(found)),
                tag(
                    "p", parts.button("Read ticked again"), " ",
                    tag("button", "Remove ticked…", type="submit", class_="danger",
                        formaction=f"{_DOCUMENTS}/remove"),
                ) if rows else None,
            ),
            parts.form(visit, f"{_DOCUMENTS}/failed",
                       tag("p", parts.button("Read all failed ones again"))),
        )  # fmt: skip
        return Shown("Documents", body)

    def _row(self, document: Document, collection: str) -> list[Html | str]:
        name = document.title or document.name
        ticked = tag(
            "input", type="checkbox", name="document", value=document.document_id,
            aria_label=f"Choose {name}",
        )  # fmt: skip
        where = document.url or str(document.path)
        return [
            ticked,
            joined(
                tag("a", name, href=f"{_DOCUMENTS}/{document.document_id}"),
                tag("small", f"{where} {document.part}".strip()),
            ),
            parts.chip(document.state.value, _TONES.get(document.state, "")),
            document.reason,
            collection,
            f"{document.chunk_count:,}",
            parts.when(document.indexed_at),
        ]

    @page(f"{_DOCUMENTS}/{{document_id}}")
    def _show(self, visit: Visit) -> Shown:
        document = self._library.documents.get(visit.parts["document_id"])
        if document is None:
            raise Refusal(404, "There is no such document.")
        text = self._library.documents.text(document.document_id)
        rows = [
            ("Place", document.url or str(document.path)),
            ("Part", document.part),
            ("State", document.state.value),
            ("Reason", document.reason),
            ("Format", document.format),
            ("Language", document.language),
            ("Tags", ", ".join(document.all_tags)),
            ("Pieces", f"{document.chunk_count:,}"),
            ("Read", parts.when(document.indexed_at)),
        ]
        head = parts.table(("Field", "Value"), [row for row in rows if row[1]], empty="")
        again = parts.form(
            visit, f"{_DOCUMENTS}/again",
            tag("input", type="hidden", name="document", value=document.document_id),
            tag("p", parts.button("Read again"), " ",
                tag("button", "Remove…", type="submit", class_="danger",
                    formaction=f"{_DOCUMENTS}/remove")),
        )  # fmt: skip
        cut = (
            parts.note(f"The first {_SHOWN_TEXT:,} characters.")
            if len(text) > _SHOWN_TEXT
            else None
        )
        shown = tag("pre", text[:_SHOWN_TEXT]) if text else parts.note("There is none.")
        body = joined(head, again, parts.section("Text", cut, shown))
        return Shown(document.title or document.name, body)

    # --- what is done ----------------------------------------------------------------------

    @page(f"{_DOCUMENTS}/again", "POST")
    def _read_again(self, visit: Visit) -> Moved:
        number = self._library.documents.read_again(_ticked(visit))
        return Moved(_DOCUMENTS, f"{number:,} documents are read again.")

    @page(f"{_DOCUMENTS}/failed", "POST")
    def _retry_failed(self, _visit: Visit) -> Moved:
        number = self._library.documents.retry_failed()
        return Moved(_DOCUMENTS, f"{number:,} documents are read again.")

    @page(f"{_DOCUMENTS}/remove", "POST")
    def _remove(self, visit: Visit) -> Shown | Moved:
        """Asks first; the second form confirms."""
        ticked = _ticked(visit)
        documents = self._library.documents.of_ids(ticked)
        if visit.sent("sure"):
            number = self._gone(documents)
            return Moved(_DOCUMENTS, f"{number:,} documents were removed from the library.")
        pages = sum(1 for d in documents if d.url)
        body = parts.form(
            visit, f"{_DOCUMENTS}/remove",
            tag("p", f"Remove {len(documents):,} documents from the library, and leave their files"
                     " out from now on? The files on the disk are not touched."),
            parts.note(f"{pages:,} of them are web pages: these stay until their link is removed.")
            if pages else None,
            tag("ul", [tag("li", d.title or d.name) for d in documents]),
            [tag("input", type="hidden", name="document", value=each) for each in ticked],
            tag("p", tag("button", "Remove", type="submit", class_="danger", name="sure",
                         value="yes"), " ", tag("a", "Cancel", href=_DOCUMENTS)),
        )  # fmt: skip
        return Shown("Remove documents", body)

    def _gone(self, documents: Sequence[Document]) -> int:
        """Leaves files out from now on, and deletes what programs sent. Returns how many."""
        sent = {d.document_id: each for d in documents if (each := self._library.sent.find(d))}
        number = 0
        for document in documents:
            if own := sent.get(document.document_id):
                number += len(self._library.sent.remove(document.source_id, [own.own_id]))
        files = [d.document_id for d in documents if d.document_id not in sent]
        return number + len(self._library.exclusions.exclude(files))


def _ticked(visit: Visit) -> tuple[str, ...]:
    ticked = visit.sent_all("document")[: parts.PAGE_ROWS]
    if not ticked:
        raise Refusal(400, "No document is ticked.")
    return ticked


def _fits(document: Document, visit: Visit) -> bool:
    words, state, reason = visit.asked("name"), visit.asked("state"), visit.asked("reason")
    if state and document.state.name != state:
        return False
    if reason and document.reason != reason:
        return False
    where = f"{document.title}\n{document.url or document.path}".casefold()
    return all(word in where for word in words.casefold().split())


def _filters(visit: Visit, collections: dict[str, str], every: Sequence[Document]) -> Html:
    reasons = Counter(d.reason for d in every if d.reason).most_common(_MOST_REASONS)
    states = {state.name: state.value for state in DocumentState}
    return parts.filters(
        visit,
        parts.form_field("Name or place", "name", visit.asked("name")),
        parts.select("State", "state", {"": "any"} | states, visit.asked("state")),
        parts.select(
            "Reason", "reason",
            {"": "any"} | {reason: f"{reason} ({number:,})" for reason, number in reasons},
            visit.asked("reason"),
        ),
        parts.select("Collection", "collection", {"": "all"} | collections,
                     visit.asked("collection")),
    )  # fmt: skip
