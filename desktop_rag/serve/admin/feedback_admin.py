"""Feedback: what people said about answers. Worker threads."""

from collections import Counter
from collections.abc import Sequence

from desktop_rag.answer.chat import Chat
from desktop_rag.serve.admin.admin_visits import Handled, Shown, Visit
from desktop_rag.serve.admin.page_parts import (
    chip,
    note,
    pager,
    rows_of_page,
    section,
    stacked,
    table,
    when,
)

_PATH = "/admin/feedback"
_KINDS = {"liked": "good", "disliked": "bad", "rewritten": "", "withdrawn": ""}


class FeedbackAdmin:
    """Likes, dislikes and rewrites, by model and one by one."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def handlers(self) -> Sequence[Handled]:
        """The page alone."""
        return [(_PATH, "GET", self._show)]

    def _show(self, visit: Visit) -> Shown:
        given = self._chat.history.feedback.newest_first()
        titles = self._chat.history.titles()
        numbers = Counter((event.model or "without a model", event.subject) for event in given)
        models = [
            [model, *(f"{numbers[model, kind]:,}" for kind in _KINDS)]
            for model in sorted({model for model, _ in numbers})
        ]
        rows = [
            (when(e.at), chip(e.subject, _KINDS.get(e.subject, "")), titles.get(e.chat_id, ""),
             e.model)
            for e in given[rows_of_page(visit, given)]
        ]  # fmt: skip
        body = stacked(
            table(("Model", *(kind.capitalize() for kind in _KINDS)), models,
                  empty="Nobody has said anything about answers yet."),
            section(
                "One by one",
                table(("When", "Said", "Chat", "Model"), rows, empty="Nothing yet."),
                pager(visit, len(given)),
            ),
            note("Every change is listed; the last one about an answer counts."),
        )  # fmt: skip
        return Shown("Feedback", body)
