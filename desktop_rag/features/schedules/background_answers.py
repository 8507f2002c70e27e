"""Answers in the background, and what changed from one to the next. Worker threads."""

import re
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from threading import Event

import numpy as np

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.checking.answer_claims import CheckClaim, plain_sentence
from desktop_rag.answer.citing.citations import cited_sentences
from desktop_rag.core.claims import CONTRADICTING, CheckedClaim, Difference, DifferenceKind, Verdict
from desktop_rag.core.conversation import Message, MessageState, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.question import Setup
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.terms import terms
from desktop_rag.core.text import words
from desktop_rag.features.schedules.values.scheduled_question import (
    ComparedSentence,
    SentenceChange,
)
from desktop_rag.models.ports import Embedder, Vectors


class BackgroundAnswers:
    """Answers questions, giving way to the person's own, and compares answers."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.compare = AnswerComparison(chat.check, chat.embedder).compare

    def answer(
        self,
        question: str,
        scope: QuestionScope,
        assistant_id: str,
        cancel: Event,
        *,
        but: tuple[str, ...] = (),
        search_for: str = "",
    ) -> Message:
        """The finished answer to a question about this scope, without the files in `but`.

        With `search_for` its sources are searched by these words instead of by the question.
        AppError when it failed; InterruptedAnswer when the person's questions kept interrupting it;
        Cancelled soon after `cancel` is set or the chat stops.
        """

        def set_up() -> Setup:
            setup = self._chat.set_up(assistant_id)
            return replace(setup, reach=replace(setup.reach, but=but))

        asked = Message(uuid.uuid4().hex, "", Role.USER, question, time.time(), scope=scope)
        done = self._chat.answer_when_free(asked, set_up, search_for=search_for, cancel=cancel)
        if done.state is MessageState.FAILED:
            raise AppError(done.error_title, done.error_hint)
        return done


# Measured on the pairs of tests/unit/answer/checking/test_answer_comparison.py.
_SAME_FROM = 0.75
_SURELY_SAME_FROM, _LEAST_SUPPORT = 0.83, 0.52
_ABOUT_THE_SAME_FROM = 0.6
_MOST_SENTENCES = 200
_BATCH = 16
# So many words in place of others are a change, not another wording.
_MOST_EXCHANGED = 2
_BACKED = (Verdict.SUPPORTED, Verdict.PARTLY)
_RULED = re.compile(r"[\s|:=*_-]*")


class AnswerComparison:
    """Compares two answers to one question sentence by sentence, for changes in substance.

    To the claim checker, which compares words, a rewording is another claim; to the embedding model
    "8 pounds" and "9 pounds" are nearly the same. So meaning pairs the sentences, and the checker
    then looks for another number, date, unit or name, or a negation. A sentence in which only a
    word or two were exchanged or added counts as changed too: a missed change is worse than one too
    many (decision 054).
    """

    def __init__(self, check: CheckClaim, embedder: Embedder | None) -> None:
        """Without an embedder, sentences are paired by their words."""
        self._check = check
        self._embedder = embedder

    def compare(self, before: str, after: str) -> tuple[ComparedSentence, ...]:
        """The sentences of `after`, each with its change, then those that are gone."""
        old, cited = [s for s, _ in _sentences(before)], _sentences(after)
        new = [sentence for sentence, _ in cited]
        nearness = self._nearness(new, old)
        replaced: set[int] = set()
        found = [
            replace(self._compared(sentence, old, before, nearness[row], replaced), numbers=numbers)
            for row, (sentence, numbers) in enumerate(cited)
        ]
        gone = [
            ComparedSentence(SentenceChange.GONE, sentence)
            for column, sentence in enumerate(old)
            if column not in replaced and self._is_gone(sentence, new, after, nearness[:, column])
        ]
        return (*found, *gone)

    def _compared(
        self, sentence: str, old: Sequence[str], before: str, nearness: Vectors, replaced: set[int]
    ) -> ComparedSentence:
        """A sentence of the new answer; the index of one that it replaces goes into `replaced`."""
        if any(_is_equal(sentence, other) for other in old):
            return ComparedSentence(SentenceChange.SAME, sentence)
        nearest = int(nearness.argmax()) if old else -1
        near = float(nearness[nearest]) if old else 0.0
        if near >= _SAME_FROM and self._agree(sentence, old[nearest], near):
            return ComparedSentence(SentenceChange.SAME, sentence)
        if near >= _ABOUT_THE_SAME_FROM:
            replaced.add(nearest)
            return ComparedSentence(SentenceChange.CHANGED, sentence, old[nearest])
        change = SentenceChange.SAME if self._is_said(sentence, before) else SentenceChange.ADDED
        return ComparedSentence(change, sentence)

    def _is_gone(self, sentence: str, new: Sequence[str], after: str, nearness: Vectors) -> bool:
        if any(_is_equal(sentence, other) for other in new):
            return False
        if new and nearness.max() >= _SAME_FROM:
            nearest = int(nearness.argmax())
            return not self._agree(sentence, new[nearest], float(nearness[nearest]))
        return not self._is_said(sentence, after)

    def _agree(self, one: str, other: str, nearness: float) -> bool:
        """True when two paired sentences differ in their wording only."""
        if _is_exchange(one, other):
            return False
        checked = self._check(one, [other]), self._check(other, [one])
        # Sentences about one thing are near each other even when they say different things of it.
        is_alike = nearness >= _SURELY_SAME_FROM or any(
            c.support >= _LEAST_SUPPORT for c in checked
        )
        return is_alike and not any(_says_otherwise(each) for each in checked)

    def _is_said(self, sentence: str, answer: str) -> bool:
        """True when another answer says it, perhaps over several sentences."""
        checked = self._check(sentence, [answer])
        return checked.verdict in _BACKED and not _says_otherwise(checked)

    def _nearness(self, new: Sequence[str], old: Sequence[str]) -> Vectors:
        """The similarity of each new sentence to each old one, 0 to 1."""
        if not new or not old:
            return np.zeros((len(new), len(old)), np.float32)
        if self._embedder:
            return self._embedded(new) @ self._embedded(old).T
        pairs = [[_shared_terms(one, other) for other in old] for one in new]
        return np.array(pairs, np.float32)

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        assert self._embedder
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        return np.concatenate([self._embedder.embed_passages(batch) for batch in batches])


def _sentences(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences without citations and Markdown, each with the numbers that it cites.

    Lines that only rule a table are left out.
    """
    cited = cited_sentences(answer)
    found = ((plain_sentence(s.text).lstrip("# "), s.numbers) for s in cited)
    return [pair for pair in found if not _RULED.fullmatch(pair[0])][:_MOST_SENTENCES]


def _is_equal(one: str, other: str) -> bool:
    return terms(one) == terms(other) and _figures(one) == _figures(other)


def _figures(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def _is_exchange(one: str, other: str) -> bool:
    """True when a word or two were exchanged or added, and all else is the same."""
    a, b = terms(one), terms(other)
    missing, extra = Counter(a) - Counter(b), Counter(b) - Counter(a)
    # Words that only join others say nothing, except in the place of one another.
    written = [word.casefold() for word in words(f"{one} {other}")]
    idle = set(terms(" ".join(function_words(written))))
    if missing and extra:
        is_short = missing.total() == extra.total() <= min(_MOST_EXCHANGED, len(a) - 1)
        says_more = bool(missing.keys() - idle) and bool(extra.keys() - idle)
        differing = sum(x != y for x, y in zip(a, b, strict=False))
        is_in_place = len(a) == len(b) and differing <= _MOST_EXCHANGED
        return is_short and (says_more or is_in_place)
    is_put_in = bool((missing + extra).keys() - idle)
    return is_put_in and (_is_within(a, b) or _is_within(b, a))


def _is_within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """True when the whole contains the terms in their order."""
    rest = iter(whole)
    return all(term in rest for term in part)


def _says_otherwise(checked: CheckedClaim) -> bool:
    return checked.verdict is Verdict.CONTRADICTED or any(map(_is_decisive, checked.differences))


def _is_decisive(difference: Difference) -> bool:
    # A capital letter alone makes no name: German nouns have one.
    is_other_name = difference.kind is DifferenceKind.NAME and difference.in_source is not None
    return difference.kind in CONTRADICTING or is_other_name


def _shared_terms(one: str, other: str) -> float:
    """The Dice coefficient of their terms."""
    a, b = set(terms(one)), set(terms(other))
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
