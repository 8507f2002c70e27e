"""Shows an answer as it grows: the pieces of a model become events. On the answering thread.

Citations are brought into one form at once, and what may be the beginning of one is held back for
a moment, so that nobody sees 【1†source】. The draft keeps what the model wrote, of which the
finished answer is made (`finish_answer`).
"""

import re
from collections.abc import Iterator

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    AnswerWaits,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.models.ports import Delta

# What the next piece may make a citation, at the end of a line, with the blanks before it.
_UNFINISHED = re.compile(
    r"[ \t]*(?:\\?[\[【［⟦{][^\]】］⟧}\n]{0,60}|[(（]\s?[^\W\d]{0,12}\.?\s?[\d,;&\s-]{0,20}"
    r"|<(?:s(?:u(?:p(?:>[^<\n]{0,12}(?:</?(?:s(?:up?)?)?)?)?)?)?)?|\^\d*|[¹²³⁰⁴-⁹]+|\\)?$"
)
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
# A fence of such a kind around the whole answer is the model's habit, not code.
_PROSE_FENCE = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*", re.IGNORECASE)
_BEGUN_FENCE = re.compile(r"[ \t]*(?:`{1,2}|~{1,2}|`{3,}\w*|~{3,}\w*)[ \t]*")
_LONGEST_LINE_CHARS = 4_000


class GrowingAnswer:
    """Adds pieces to a draft, and gives the events that show them."""

    def __init__(self, draft: AnswerDraft) -> None:
        self._draft = draft
        self._before = draft.text
        self._known = frozenset(source.n for source in draft.sources)
        self._shown = ""
        self._begin()

    def _begin(self) -> None:
        self._settled = ""
        self._line = ""
        # The code block that the text has got to, and the fence around the whole answer.
        self._fence = self._wrapper = ""
        self._is_begun = self._may_be_over = False

    def add(self, delta: Delta) -> Iterator[AnswerEvent]:
        """The events of a piece: none while it may be a part of something."""
        draft = self._draft
        if delta.status:
            yield AnswerWaits(delta.status)
        elif delta.was_thinking:
            draft.thinking += draft.text[len(self._before) :]
            draft.text = self._before
            self._shown = ""
            self._begin()
            yield AnswerRestated(draft.text, draft.thinking)
        elif delta.is_thinking:
            draft.thinking += delta.text
            yield ThinkingDelta(delta.text)
        elif delta.text:
            draft.text += delta.text
            self._take(delta.text)
            yield from self._news(self._settled + self._tail())

    def finish(self) -> Iterator[AnswerEvent]:
        """What was held back, at the end of the answer."""
        is_end = bool(self._wrapper) and self._line.strip() == self._wrapper
        yield from self._news(self._settled + ("" if is_end else self._in_one_form(self._line)))

    def _news(self, shown: str) -> Iterator[AnswerEvent]:
        before, self._shown = self._shown, shown
        if not shown.startswith(before):
            yield AnswerRestated(self._before + shown, self._draft.thinking)
        elif added := shown[len(before) :]:
            yield TextDelta(added)

    def _take(self, text: str) -> None:
        """Settle the lines that are complete, and what is certain of a long one."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._settle(line)
        if len(self._line) > _LONGEST_LINE_CHARS:
            end = self._certain_chars()
            self._settled += self._in_one_form(self._line[:end])
            self._line = self._line[end:]

    def _settle(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not self._is_begun and _PROSE_FENCE.fullmatch(line):
            self._wrapper, self._is_begun = fence[1], True
            return
        self._is_begun = self._is_begun or bool(line.strip())
        if fence and self._wrapper and not self._fence and line.strip() == self._wrapper:
            # The end of the whole, unless more follows.
            self._fence, self._may_be_over = fence[1], True
            return
        if self._may_be_over and line.strip():
            self._settled, self._may_be_over = f"{self._settled}{self._fence}\n", False
        self._settled += self._in_one_form(line) + "\n"
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and line.strip() == self._fence:
            self._fence = ""

    def _tail(self) -> str:
        """What is certain of the line that is not complete."""
        if self._may_be_over or _BEGUN_FENCE.fullmatch(self._line):
            return ""
        return self._in_one_form(self._line[: self._certain_chars()])

    def _certain_chars(self) -> int:
        found = None if self._fence else _UNFINISHED.search(self._line)
        return found.start() if found else len(self._line)

    def _in_one_form(self, text: str) -> str:
        is_code = self._fence or _FENCE.match(text)
        return text if is_code else normalise(text, self._known)[0]
