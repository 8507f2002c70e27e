"""The log: requests of programs, and the app's own calls to endpoints. Worker threads."""

from collections.abc import Iterator, Sequence
from itertools import islice

from desktop_rag.activity.activity import EventFilter
from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.features.server.admin.admin_visits import Handled, Shown, Visit
from desktop_rag.features.server.admin.page_parts import (
    PAGE_ROWS,
    chip,
    filters,
    form_field,
    note,
    pager,
    rows_of_page,
    select,
    stacked,
    table,
    when,
)
from desktop_rag.features.server.html_writer import Child, Html, joined, tag
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.values.usage_figures import (
    RequestKind,
    RequestRecord,
    RequestSearch,
)

_PATH = "/admin/log"
_CALLS = "calls"
_SHOWN = {
    "": "all requests",
    RequestKind.ANSWER.value: "questions and answers",
    RequestKind.ERROR.value: "errors",
    RequestKind.REFUSED.value: "refused requests",
    _CALLS: "calls to endpoints",
}
_TONES = {RequestKind.ANSWER: "good", RequestKind.REFUSED: "wait", RequestKind.ERROR: "bad"}
_ON = "Questions and answers are kept in the log. Settings → Other programs switches that off."
_OFF = (
    "Questions and answers are not kept, only their lengths. Settings → Other programs switches"
    " that on."
)


class LogAdmin:
    """The newest requests first, a page at a time."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def handlers(self) -> Sequence[Handled]:
        """The page alone."""
        return [(_PATH, "GET", self._show)]

    def _show(self, visit: Visit) -> Shown:
        tokens = {token.token_id: token.name for token in self._serving.tokens.all()}
        chosen = filters(
            visit,
            select("Show", "kind", _SHOWN, visit.asked("kind")),
            select("Token", "token", {"": "any"} | tokens, visit.asked("token")),
            form_field("Words", "words", visit.asked("words")),
        )
        found = self._calls(visit) if visit.asked("kind") == _CALLS else self._requests(visit)
        return Shown("Log", stacked(chosen, found))

    # --- requests --------------------------------------------------------------------------

    def _requests(self, visit: Visit) -> Html:
        wanted = RequestSearch(visit.asked("kind"), visit.asked("token"), visit.asked("words"))
        first = visit.page * PAGE_ROWS
        fitting = (r for r in self._serving.requests.newest_first() if r.fits(wanted))
        # One more tells whether there is another page: to count all of them takes a while.
        records = list(islice(_from(fitting, first), PAGE_ROWS + 1))
        more = tag("a", "Older", href=visit.with_page(visit.page + 1))
        newer = tag("a", "Newer", href=visit.with_page(visit.page - 1))
        heads = ("When", "Token", "Request", "Model", "Result", "Seconds")
        return stacked(
            note(_ON if self._serving.settings().logs_text else _OFF),
            table(heads, [_row(r) for r in records[:PAGE_ROWS]], empty="No request matches."),
            tag(
                "p",
                newer if visit.page else None,
                more if len(records) > PAGE_ROWS else None,
                class_="pager",
            ),
        )

    # --- calls to endpoints ----------------------------------------------------------------

    def _calls(self, visit: Visit) -> Html:
        wanted = EventFilter(frozenset({EventKind.CALL}), visit.asked("words"))
        found = self._serving.activity.find(wanted)
        rows = [_call_row(each) for each in found.events[rows_of_page(visit, found.events)]]
        heads = ("When", "For", "Model", "Host", "Result", "Tokens in", "Tokens out", "Seconds")
        return stacked(
            note(found.totals.in_words()),
            table(heads, rows, empty="No call fits."),
            pager(visit, len(found.events)),
        )


def _from(records: Iterator[RequestRecord], first: int) -> Iterator[RequestRecord]:
    return islice(records, first, None)


def _row(record: RequestRecord) -> Sequence[Child]:
    who = record.token or "none"
    if record.user:
        who += f", user {record.user}"
    result = chip(str(record.status) if record.status else "left", _TONES.get(record.kind, ""))
    said = [
        tag("small", text)
        for text in (record.refusal, _sizes(record))
        if text
    ]  # fmt: skip
    if record.question:
        said.append(tag("small", tag("strong", "Asked: "), record.question))
    if record.answer:
        said.append(tag("small", tag("strong", "Answered: "), record.answer))
    return [
        when(record.at),
        who,
        tag("code", f"{record.method} {record.path}"),
        record.model,
        joined(result, said),
        f"{record.ms / 1000:,.2f}",
    ]


def _sizes(record: RequestRecord) -> str:
    if not record.asked_chars:
        return ""
    return f"{record.asked_chars:,} characters asked, {record.answer_chars:,} answered"


def _call_row(event: ActivityEvent) -> Sequence[Child]:
    about = "~" if event.is_estimate else ""
    return [
        when(event.at),
        event.subject,
        event.model,
        event.host,
        joined(
            chip(event.outcome.value, "good" if event.outcome is Outcome.DONE else "bad"),
            tag("small", event.detail) if event.detail else None,
        ),
        f"{about}{event.tokens_in:,}",
        f"{about}{event.tokens_out:,}",
        f"{event.seconds:,.2f}",
    ]
