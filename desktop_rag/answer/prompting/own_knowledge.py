"""What a model adds from its own knowledge below an answer, where it may. Pure, any thread."""

import re

from desktop_rag.answer.citing.citations import normalise

OWN_KNOWLEDGE_LINE = "Not from your documents:"
# What ends with a colon is no claim to be checked.
_HEADING = f"**{OWN_KNOWLEDGE_LINE.removesuffix(':')}**:"
# Models like to make a heading, a quote or bold text of it.
_LINE = re.compile(
    r"^[ \t>#*_]*not from your documents[ \t*_]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE
)


def apart(text: str) -> tuple[str, str]:
    """What rests on sources, and from the line on what doesn't: it cites nothing.

    The line comes back as a paragraph of its own in bold.
    """
    found = _LINE.search(text)
    if found is None:
        return text, ""
    own = normalise(text[found.end() :], frozenset())[0].strip()
    return text[: found.start()], f"{_HEADING}\n\n{own}" if own else ""
