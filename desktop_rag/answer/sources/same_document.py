"""Keeps a short question in the document that the conversation is about. Pure; any thread.

"Can I keep a dog?" after a question about a lease is about that lease, although the rules of a park
say more about dogs.
"""

from collections.abc import Collection, Sequence

from desktop_rag.answer.sources.question_rewriting import content_words
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.function_words import language_of
from desktop_rag.core.terms import terms
from desktop_rag.core.text import words

# Another document that is better by more standard deviations is what the question is about.
_BETTER = 2.4
# The share of the content words of a question that the best passage of the document has.
_LEAST_SHARE = 0.5


def inside(
    question: str, passages: Sequence[Passage], document_ids: Collection[str]
) -> tuple[Passage, ...]:
    """Those of the passages, best first, that are in these documents, if the question may be about
    them; else none.
    """
    kept = tuple(p for p in passages if p.document_id in document_ids)
    is_near = kept and passages[0].score - kept[0].score <= _BETTER
    return kept if is_near and _has_words(kept[0], question) else ()


def _has_words(passage: Passage, question: str) -> bool:
    """True when the text has enough of the content words, be it inside others: "gegrillt"."""
    language, text = language_of(words(question)), passage.text.casefold()
    asked = [terms(word, language) for word in content_words(question)]
    held = [word for word in asked if all(term in text for term in word)]
    return bool(asked) and len(held) >= _LEAST_SHARE * len(asked)
