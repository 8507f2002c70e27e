"""Documents: found by name, state and reason; read again, or left out. Worker threads."""

from collections import Counter
from collections.abc import Sequence

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.features.server.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.features.server.admin.page_parts import (
    PAGE_ROWS,
    button,
    chip,
    filters,
    form,
    form_field,
    note,
    pager,
    rows_of_page,
    section,
    select,
    stacked,
    table,
    when,
)
from desktop_rag.features.server.html_writer import Html, joined, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library

_PATH = "/admin/documents"
_TONES = {
    DocumentState.SEARCHABLE: "good",
    DocumentState.SEARCHABLE_BY_WORDS: "good",
    DocumentState.FAILED: "bad",
    DocumentState.WAITING: "wait",
    DocumentState.READING: "wait",
}
_MOST_REASONS = 40
_SHOWN_TEXT = 20_000


class DocumentAdmin:
    """The documents of the library, a page at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def handlers(self) -> Sequence[Handled]:
        """The list, one document, and what can be done to those that are ticked."""
        return [
            (_PATH, "GET", self._list),
            (f"{_PATH}/again", "POST", self._read_again),
            (f"{_PATH}/failed", "POST", self._retry_failed),
            (f"{_PATH}/remove", "POST", self._remove),
            (f"{_PATH}/{{document_id}}", "GET", self._show),
        ]

    def _list(self, visit: Visit) -> Shown:
        collections = {c.collection_id: c.name for c in self._library.collections.all()}
        of_source = {s.source_id: s.collection_id for s in self._library.sources.all()}
        every = [d for d in self._library.documents.all() if d.source_id in of_source]
        found = [
            d for d in every
            if _fits(d, visit) and visit.asked("collection") in ("", of_source[d.source_id])
        ]  # fmt: skip
        shown = found[rows_of_page(visit, found)]
        rows = [self._row(d, collections[of_source[d.source_id]]) for d in shown]
        heads = ("", "Document", "State", "Reason", "Collection", "Pieces", "Read")
        body = stacked(
            _filters(visit, collections, every),
            form(
                visit, f"{_PATH}/again",
                table(heads, rows, empty="No document fits."),
                pager(visit, len(found)),
                tag(
                    "p", button("Read ticked again"), " ",
                    tag("button", "Remove ticked…", type="submit", class_="danger",
                        formaction=f"{_PATH}/remove"),
                ) if rows else None,
            ),
            form(visit, f"{_PATH}/failed", tag("p", button("Read all failed ones again"))),
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
                tag("a", name, href=f"{_PATH}/{document.document_id}"),
                tag("small", f"{where} {document.part}".strip()),
            ),
            chip(document.state.value, _TONES.get(document.state, "")),
            document.reason,
            collection,
            f"{document.chunk_count:,}",
            when(document.indexed_at),
        ]

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
            ("Read", when(document.indexed_at)),
        ]
        head = table(("Field", "Value"), [row for row in rows if row[1]], empty="")
        again = form(
            visit, f"{_PATH}/again",
            tag("input", type="hidden", name="document", value=document.document_id),
            tag("p", button("Read again"), " ",
                tag("button", "Remove…", type="submit", class_="danger",
                    formaction=f"{_PATH}/remove")),
        )  # fmt: skip
        cut = note(f"The first {_SHOWN_TEXT:,} characters.") if len(text) > _SHOWN_TEXT else None
        body = stacked(
            head,
            again,
            section(
                "Text", cut, tag("pre", text[:_SHOWN_TEXT]) if text else note("There is none.")
            ),
        )
        return Shown(document.title or document.name, body)

    # --- what is done ----------------------------------------------------------------------

    def _read_again(self, visit: Visit) -> Moved:
        number = self._library.documents.read_again(_ticked(visit))
        return Moved(_PATH, f"{number:,} documents are read again.")

    def _retry_failed(self, _visit: Visit) -> Moved:
        number = self._library.documents.retry_failed()
        return Moved(_PATH, f"{number:,} documents are read again.")

    def _remove(self, visit: Visit) -> Shown | Moved:
        """Asks first; the second form says yes."""
        ticked = _ticked(visit)
        documents = self._library.documents.of_ids(ticked)
        if visit.sent("sure"):
            number = self._gone(documents)
            return Moved(_PATH, f"{number:,} documents were removed from the library.")
        pages = sum(1 for d in documents if d.url)
        body = form(
            visit, f"{_PATH}/remove",
            tag("p", f"Remove {len(documents):,} documents from the library, and leave their files"
                     " out from now on? The files on the disk are not touched."),
            note(f"{pages:,} of them are web pages: these stay until their link is removed.")
            if pages else None,
            tag("ul", [tag("li", d.title or d.name) for d in documents]),
            [tag("input", type="hidden", name="document", value=each) for each in ticked],
            tag("p", tag("button", "Remove", type="submit", class_="danger", name="sure",
                         value="yes"), " ", tag("a", "Cancel", href=_PATH)),
        )  # fmt: skip
        return Shown("Remove documents", body)

    def _gone(self, documents: Sequence[Document]) -> int:
        """Files are left out from now on; what a program sent is deleted. Returns how many."""
        sent = {d.document_id: each for d in documents if (each := self._library.sent.find(d))}
        number = 0
        for document in documents:
            if own := sent.get(document.document_id):
                number += len(self._library.sent.remove(document.source_id, [own.own_id]))
        files = [d.document_id for d in documents if d.document_id not in sent]
        return number + len(self._library.exclusions.exclude(files))


def _ticked(visit: Visit) -> tuple[str, ...]:
    ticked = visit.sent_all("document")[:PAGE_ROWS]
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
    return filters(
        visit,
        form_field("Name or place", "name", visit.asked("name")),
        select("State", "state", {"": "any"} | states, visit.asked("state")),
        select(
            "Reason", "reason",
            {"": "any"} | {reason: f"{reason} ({number:,})" for reason, number in reasons},
            visit.asked("reason"),
        ),
        select("Collection", "collection", {"": "all"} | collections, visit.asked("collection")),
    )  # fmt: skip
