"""Usage: requests, answers, characters and times, by token and day. Worker threads."""

import time
from collections.abc import Sequence

from desktop_rag.core.programs.usage_figures import DAY_S, Usage, usage_since
from desktop_rag.serve.admin.admin_visits import Handled, Shown, Visit
from desktop_rag.serve.admin.page_parts import (
    bar,
    filters,
    note,
    section,
    select,
    stacked,
    table,
)
from desktop_rag.serve.html_writer import Child, joined, tag
from desktop_rag.serve.serving import Serving

_PATH = "/admin/usage"
_SPANS = {"7": "7 days", "30": "30 days", "90": "90 days", "1": "24 hours"}
_HEADS = ("Requests", "Answers", "Refused", "Errors", "Characters asked", "Characters answered",
          "Median time", "Slowest")  # fmt: skip
_NOTE = (
    "From the log, which keeps up to 90 days. Times are those of whole answers. Models count tokens"
    " each in their own way, so characters are shown; the tokens of calls to endpoints are in the"
    " log."
)


class UsageAdmin:
    """Figures with bars."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def handlers(self) -> Sequence[Handled]:
        """The page alone."""
        return [(_PATH, "GET", self._show)]

    def _show(self, visit: Visit) -> Shown:
        days = visit.asked("days") if visit.asked("days") in _SPANS else "7"
        since = time.time() - int(days) * DAY_S
        figures = usage_since(since, self._serving.requests.newest_first())
        whole = figures.whole
        shown = [
            (f"{whole.requests:,}", "requests"),
            (f"{whole.answers:,}", "answers"),
            (_seconds(whole.median_ms), "median time"),
            (_seconds(whole.slowest_ms), "slowest"),
        ]
        body = stacked(
            filters(visit, select("Time", "days", _SPANS, days)),
            tag(
                "ul",
                [tag("li", tag("span", tag("strong", number), label)) for number, label in shown],
                class_="figures",
            ),
            section("By day", _table("Day", figures.days)),
            section("By token", _table("Token", figures.tokens)),
            note(_NOTE),
        )
        return Shown("Usage", body)


def _table(what: str, rows: Sequence[Usage]) -> Child:
    most = max((row.requests for row in rows), default=0)
    return table((what, *_HEADS), [_row(row, most) for row in rows], empty="Nothing was asked yet.")


def _row(usage: Usage, most: int) -> Sequence[Child]:
    return [
        usage.label or "without a valid token",
        joined(f"{usage.requests:,} ", bar(usage.requests / most)),
        f"{usage.answers:,}",
        f"{usage.refused:,}",
        f"{usage.errors:,}",
        f"{usage.asked_chars:,}",
        f"{usage.answer_chars:,}",
        _seconds(usage.median_ms),
        _seconds(usage.slowest_ms),
    ]


def _seconds(ms: int) -> str:
    return f"{ms / 1000:,.2f} s" if ms else "–"
