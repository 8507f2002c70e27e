"""What is shown when the pointer rests on a citation: the passage, and where it is. Pure."""

from pathlib import Path

from desktop_rag.core.conversation import SourceRef
from desktop_rag.ui.foundation.mail_words import with_head_in_words
from desktop_rag.ui.foundation.place_words import place_in_words
from desktop_rag.ui.foundation.wording import one_line

_MAX_CHARS = 320


def citation_tip(source: SourceRef) -> str:
    """The cited words, or the beginning of the passage, with the file and the place; plain text."""
    said = with_head_in_words(source.quote or source.text, source.path, source.part)
    words = " ".join(said.split())
    if len(words) > _MAX_CHARS:
        cut = words.rfind(" ", _MAX_CHARS // 2, _MAX_CHARS)
        words = f"{words[: cut if cut > 0 else _MAX_CHARS]} …"
    file = source.url or Path(source.path).name
    where = [piece for piece in (file, source.part, place_in_words(source.anchor)) if piece]
    return f"{one_line(words)}\n\n{one_line(' · '.join(where))}"
