"""Admin pages for the library's database server, and for the log. Worker threads."""

from collections.abc import Sequence
from itertools import islice

from desktop_rag.activity.activity import EventFilter
from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.core import server_state
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Shown, Visit, page
from desktop_rag.features.server.html_writer import Child, Html, joined, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.values.access_values import (
    RequestKind,
    RequestRecord,
    RequestSearch,
)

_TONES = {
    server_state.IndexState.READY: "good",
    server_state.IndexState.BUILDING: "wait",
    server_state.IndexState.MISSING: "bad",
    server_state.IndexState.STALE: "bad",
    server_state.IndexState.NOT_NEEDED: "",
    server_state.IndexState.IMPOSSIBLE: "",
}
_SEARCHES_NOTE = (
    "The slowest searches of this program in the last 24 hours, since it started. What was asked"
    " is not kept."
)
_STATEMENTS_NOTE = (
    "The statements that take longest on average, as pg_stat_statements counts them on the server;"
    " $1, $2 … stand for the values."
)


class DatabaseAdmin(parts.AdminPages):
    """The size of the database, its indexes and what is slow; nothing can be changed here."""

    @page("/admin/database")
    def _show(self, _visit: Visit) -> Shown:
        state = self._library.server_state()
        if state is None:
            raise Refusal(404, "The library is a file of this computer.")
        body = joined(
            _figures(state),
            parts.note(
                f"PostgreSQL {state.server_version} with pgvector {state.vector_version}."
                " Numbers of rows are estimates of the server."
            ),
            parts.section("Size", _sizes(state)),
            parts.section("Indexes", _indexes(state.indexes), _postings(state)),
            parts.section("Replica", tag("p", server_state.replica_in_words(state.replica)))
            if state.replica
            else "",
            parts.section("Slow searches", parts.note(_SEARCHES_NOTE), _searches(state)),
            parts.section("Slow statements", *_statements(state)),
        )
        return Shown("Database", body)


def _figures(state: server_state.ServerState) -> Html:
    used = state.connections
    return parts.figures(
        (server_state.size_in_words(state.size_bytes), "with indexes"),
        (f"{used.all:,} of {used.most:,}", "connections"),
        (f"{used.own:,}", "of the library's role"),
        (f"{state.searched:,}", "searches in 24 hours"),
    )


def _sizes(state: server_state.ServerState) -> Html:
    most = max((_size(part) for part in state.parts), default=0) or 1
    rows = [
        (
            part.name,
            f"{part.rows:,}",
            server_state.size_in_words(part.table_bytes),
            server_state.size_in_words(part.index_bytes),
            joined(f"{server_state.size_in_words(_size(part))} ", parts.bar(_size(part) / most)),
        )
        for part in state.parts
    ]
    heads = ("Part", "Rows", "Table", "Indexes", "Together")
    return parts.table(heads, rows, empty="There are no tables.")


def _size(part: server_state.PartSize) -> int:
    return part.table_bytes + part.index_bytes


def _indexes(indexes: Sequence[server_state.VectorIndex]) -> Html:
    rows = [
        (
            index.model,
            f"{index.vectors:,}",
            _state(index),
            server_state.size_in_words(index.size_bytes) if index.size_bytes else "–",
            tag("small", server_state.INDEX_HINTS[index.state]),
        )
        for index in indexes
    ]
    heads = ("Vectors of", "Number", "Index", "Size", "What that means")
    return parts.table(heads, rows, empty="No model has vectors yet.")


def _state(index: server_state.VectorIndex) -> Child:
    shown = parts.chip(index.state.value, _TONES[index.state])
    if index.share is None:
        return shown
    return joined(shown, f" {index.share:.0%} ", parts.bar(index.share))


def _postings(state: server_state.ServerState) -> Html:
    postings = state.postings
    said = (
        f"Index of words: {postings.merged:,} postings are merged and {postings.unmerged:,} wait"
        f" to be, {postings.deleted_passages:,} deleted passages are still among them. They are"
        " merged when nothing else is to be done."
    )
    return parts.note(said)


def _searches(state: server_state.ServerState) -> Html:
    rows = [(parts.when(s.at), s.kind, f"{s.milliseconds:,.0f} ms") for s in state.searches]
    return parts.table(("When", "Searched by", "Time"), rows, empty="Nothing was searched yet.")


def _statements(state: server_state.ServerState) -> Sequence[Html]:
    if state.statements is None:
        return [tag("p", server_state.STATEMENTS_TITLE), parts.note(server_state.STATEMENTS_HINT)]
    rows = [
        (tag("code", s.text), f"{s.mean_ms:,.1f} ms", f"{s.slowest_ms:,.1f} ms", f"{s.calls:,}")
        for s in state.statements
    ]
    heads = ("Statement", "Mean", "Slowest", "Calls")
    return [parts.note(_STATEMENTS_NOTE), parts.table(heads, rows, empty="None is recorded yet.")]


_PATH = "/admin/log"
_CALLS = "calls"
_SHOWN = {
    "": "all requests",
    RequestKind.ANSWER.value: "questions and answers",
    RequestKind.ERROR.value: "errors",
    RequestKind.REFUSED.value: "refused requests",
    _CALLS: "calls to endpoints",
}
_LOG_TONES = {RequestKind.ANSWER: "good", RequestKind.REFUSED: "wait", RequestKind.ERROR: "bad"}
_ON = "Questions and answers are kept in the log (server.logs_text of the settings)."
_OFF = "Questions and answers are not kept, only their lengths (server.logs_text of the settings)."


class LogAdmin(parts.AdminPages):
    """Requests of programs, and calls to endpoints: the newest first, a page at a time."""

    @page(_PATH)
    def _show(self, visit: Visit) -> Shown:
        tokens = {token.token_id: token.name for token in self._serving.tokens.all()}
        chosen = parts.filters(
            visit,
            parts.select("Show", "kind", _SHOWN, visit.asked("kind")),
            parts.select("Token", "token", {"": "any"} | tokens, visit.asked("token")),
            parts.form_field("Words", "words", visit.asked("words")),
        )
        found = self._calls(visit) if visit.asked("kind") == _CALLS else self._requests(visit)
        return Shown("Log", joined(chosen, found))

    def _requests(self, visit: Visit) -> Html:
        wanted = RequestSearch(visit.asked("kind"), visit.asked("token"), visit.asked("words"))
        first = visit.page * parts.PAGE_ROWS
        fitting = (r for r in self._serving.requests.newest_first() if r.fits(wanted))
        # One more tells whether there is another page: to count all of them takes a while.
        records = list(islice(fitting, first, first + parts.PAGE_ROWS + 1))
        has_more = len(records) > parts.PAGE_ROWS
        older = tag("a", "Older", href=visit.with_page(visit.page + 1)) if has_more else None
        newer = tag("a", "Newer", href=visit.with_page(visit.page - 1)) if visit.page else None
        heads = ("When", "Token", "Request", "Model", "Result", "Seconds")
        return joined(
            parts.note(_ON if self._serving.settings().logs_text else _OFF),
            parts.table(
                heads, [_row(r) for r in records[: parts.PAGE_ROWS]], empty="No request matches."
            ),
            tag("p", newer, older, class_="pager"),
        )

    def _calls(self, visit: Visit) -> Html:
        wanted = EventFilter(frozenset({EventKind.CALL}), visit.asked("words"))
        found = self._serving.activity.find(wanted)
        rows = [_call_row(each) for each in found.events[parts.rows_of_page(visit, found.events)]]
        heads = ("When", "For", "Model", "Host", "Result", "Tokens in", "Tokens out", "Seconds")
        listed = parts.table(heads, rows, empty="No call fits.")
        return joined(
            parts.note(found.totals.in_words()), listed, parts.pager(visit, len(found.events))
        )


def _row(record: RequestRecord) -> Sequence[Child]:
    who = record.token or "none"
    if record.user:
        who += f", user {record.user}"
    result = parts.chip(
        str(record.status) if record.status else "left", _LOG_TONES.get(record.kind, "")
    )
    said = [tag("small", text) for text in (record.refusal, _logged_sizes(record)) if text]
    if record.question:
        said.append(tag("small", tag("strong", "Asked: "), record.question))
    if record.answer:
        said.append(tag("small", tag("strong", "Answered: "), record.answer))
    return [
        parts.when(record.at),
        who,
        tag("code", f"{record.method} {record.path}"),
        record.model,
        joined(result, said),
        f"{record.ms / 1000:,.2f}",
    ]


def _logged_sizes(record: RequestRecord) -> str:
    if not record.asked_chars:
        return ""
    return f"{record.asked_chars:,} characters asked, {record.answer_chars:,} answered"


def _call_row(event: ActivityEvent) -> Sequence[Child]:
    about = "~" if event.is_estimate else ""
    return [
        parts.when(event.at),
        event.subject,
        event.model,
        event.host,
        joined(
            parts.chip(event.outcome.value, "good" if event.outcome is Outcome.DONE else "bad"),
            tag("small", event.detail) if event.detail else None,
        ),
        f"{about}{event.tokens_in:,}",
        f"{about}{event.tokens_out:,}",
        f"{event.seconds:,.2f}",
    ]
