"""What a model adds from its own knowledge below an answer, where it may. Pure, any thread."""

import re

from desktop_rag.answer.citations import normalise

OWN_KNOWLEDGE_LINE = "Not from your documents:"
# Models like to make a heading, a quote or bold text of it.
_LINE = re.compile(r"^[ \t>#*_]*not from your documents[ \t*_]*:", re.IGNORECASE | re.MULTILINE)


def apart(text: str) -> tuple[str, str]:
    """What rests on sources, and from the line on what doesn't, which cites nothing."""
    found = _LINE.search(text)
    if found is None:
        return text, ""
    return text[: found.start()], normalise(text[found.start() :], frozenset())[0]
