"""Separates what a model adds from its own knowledge below an answer. Pure, any thread."""

import re

from desktop_rag.answer.citing.citations import normalise

OWN_KNOWLEDGE_LINE = "Not from your documents:"
# Text that ends with a colon is not checked as a claim.
_HEADING = f"**{OWN_KNOWLEDGE_LINE.removesuffix(':')}**:"
# Models like to make a heading, a quote or bold text of it.
_LINE = re.compile(
    r"^[ \t>#*_]*not from your documents[ \t*_]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE
)


def split_own_knowledge(text: str) -> tuple[str, str]:
    """The part of an answer that rests on sources, and the part below the line, without citations.

    The line becomes a bold paragraph of its own.
    """
    found = _LINE.search(text)
    if found is None:
        return text, ""
    own = normalise(text[found.end() :], frozenset())[0].strip()
    return text[: found.start()], f"{_HEADING}\n\n{own}" if own else ""
