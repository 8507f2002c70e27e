"""The text of a passage with its quote highlighted, collapsed to a few lines. Qt thread."""

import regex
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.plain_markdown import plain_markdown
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.marked_text import MarkedText

_COLLAPSED_CHARS = 280
_LEAD_CHARS = 90
# Rows of a table and of a list are short.
_COLLAPSED_LINES = 10
_CUT = " …"


class PassageText(MarkedText):
    """A collapsible passage of a source."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        quote: str,
        parent: QWidget | None = None,
        *,
        wrapped_from: int = 0,
        is_markdown: bool = False,
    ) -> None:
        """`wrapped_from`: the length from which a line may continue in the next; 0 for never.

        Of Markdown only the text is shown, without its marks.
        """
        super().__init__(theme, tr("Passage"), parent)
        passage, quote = text.strip(), quote.strip()
        shown = unwrapped(passage, wrapped_from) if wrapped_from else passage
        at = passage.find(quote)
        end = at + len(quote)
        if is_markdown:
            plain = plain_markdown(shown)
            shown = plain.text
            at, end = (at, end) if at < 0 else (plain.place(at), plain.place(end))
        self._passage = shown
        self._quote = shown[at:end] if at >= 0 else quote
        self._is_whole = not self.is_longer
        self._show()

    @property
    def is_longer(self) -> bool:
        """True if the collapsed passage is shortened."""
        lines = self._passage.count("\n")
        return len(self._passage) > _COLLAPSED_CHARS + 40 or lines > _COLLAPSED_LINES + 1

    @property
    def is_whole(self) -> bool:
        """True while the whole passage is shown."""
        return self._is_whole

    def show_whole(self, is_whole: bool) -> None:
        """Show the whole passage, or only the part around the quote."""
        self._is_whole = is_whole
        self._show()

    def _show(self) -> None:
        shown = self._passage if self._is_whole else collapsed(self._passage, self._quote)
        before, quote, _ = split_at_quote(shown, shown_quote(shown, self._quote))
        self.show_marked(shown, [(len(before), len(before) + len(quote))])


def unwrapped(text: str, line_chars: int) -> str:
    """Join hard-wrapped lines by replacing line breaks with spaces; offsets stay valid.

    A line is joined with the next if it has at least `line_chars` characters and the next one
    starts with a lower-case letter.
    """
    return regex.sub(rf"(?<=[^\n]{{{line_chars}}})\n(?=\p{{Ll}})", " ", text)


def collapsed(passage: str, quote: str) -> str:
    """An excerpt of the passage around the quote, cut at words and marked with …

    Of many lines the first ones are shown, even if the quote goes on.
    """
    at = max(0, passage.find(quote)) if quote else 0
    start = max(0, at - _LEAD_CHARS)
    end = min(len(passage), max(start + _COLLAPSED_CHARS, at + len(quote)))
    if start:
        space = passage.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    if end < len(passage):
        space = passage.rfind(" ", max(start, at + len(quote)), end)
        end = space if space > 0 else end
    if passage.count("\n", start, end) >= _COLLAPSED_LINES:
        start = max(start, passage.rfind("\n", 0, at) + 1)
        end = start + len("\n".join(passage[start:end].split("\n")[:_COLLAPSED_LINES]))
    lead, tail = "… " if start else "", _CUT if end < len(passage) else ""
    return f"{lead}{passage[start:end]}{tail}"


def shown_quote(excerpt: str, quote: str) -> str:
    """What of the quote is in an excerpt that may be cut within it."""
    if quote in excerpt:
        return quote
    at = excerpt.find(quote.partition("\n")[0])
    return excerpt[at:].removesuffix(_CUT) if at >= 0 else ""


def split_at_quote(passage: str, quote: str) -> tuple[str, str, str]:
    """The text before, in and after the quote; without a quote all of it is before."""
    at = passage.find(quote) if quote else -1
    if at < 0:
        return passage, "", ""
    return passage[:at], quote, passage[at + len(quote) :]
