"""Sets of questions, their runs with one set-up each, answers and judgements. Frozen values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from desktop_rag.core.claims import Claim, Verdict
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.settings import Room

LONGEST_NAME = 120
LONGEST_QUESTION = 4_000
MOST_QUESTIONS = 2_000
# The kind of a run that answers a set, and of one that only searches for the known places.
QUESTIONS, SEARCH = "questions", "search"
# Tags of questions that a model proposed, and that were made from headings and sentences.
PROPOSED, FROM_TEXT = "proposed", "from-text"
# The rubric of a judging model, unless the person writes another.
RUBRIC = (
    "Better is what answers the question that was asked, correctly and completely, says no more"
    " than it can back, and says plainly what it does not know."
)


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question. Each of `expected` is a complete right answer, each of `wrong` a wrong one.

    `sources` are paths and addresses that a right answer rests on. `question_id` stays the same
    when the question is reworded, so that runs of other versions can be compared.
    """

    question_id: str
    text: str
    expected: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A named set; each change makes it the next version. Runs keep the questions as asked.

    `rubric` is what a model judges the answers by, "" for the usual one. `documents` is a folder
    that the questions are asked of, "" for the person's library.
    """

    set_id: str
    name: str
    questions: tuple[SetQuestion, ...] = ()
    version: int = 1
    changed_at: float = 0.0
    rubric: str = ""
    documents: str = ""

    @property
    def is_measured(self) -> bool:
        """True for a set from disk, which nobody edits, asks or judges here."""
        return not self.version

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags of its questions, sorted."""
        return tuple(sorted({tag for question in self.questions for tag in question.tags}))


def validated_set(given: QuestionSet) -> QuestionSet:
    """The set ready for storing: texts trimmed, questions without text and repeated ones left out.

    AppError for a missing name, too many questions or one that is too long.
    """
    name = " ".join(strip_invalid_characters(given.name).split())
    if not name:
        raise AppError("The set has no name.", "Give it one to choose it by.")
    if len(name) > LONGEST_NAME:
        raise AppError("The name is too long.", f"It may have {LONGEST_NAME} letters.")
    questions = tuple(_each_once(map(_trimmed, given.questions)))
    if len(questions) > MOST_QUESTIONS:
        raise AppError("The set is too large.", f"It may have {MOST_QUESTIONS:,} questions.")
    for question in questions:
        if len(question.text) > LONGEST_QUESTION:
            hint = f"It begins with “{question.text[:60]}”, and may have {LONGEST_QUESTION:,}."
            raise AppError("A question has too many letters.", hint)
    return replace(given, name=name, questions=questions)


def _trimmed(question: SetQuestion) -> SetQuestion:
    text = strip_invalid_characters(question.text).strip()
    kept = {
        field: (strip_invalid_characters(t).strip() for t in getattr(question, field))
        for field in ("expected", "wrong", "tags", "sources")
    }
    texts = {field: tuple(dict.fromkeys(filter(None, found))) for field, found in kept.items()}
    return replace(question, text=text, **texts)


def _each_once(questions: Iterable[SetQuestion]) -> Iterable[SetQuestion]:
    """The first of questions worded alike; ids stay unique."""
    texts: set[str] = set()
    ids: set[str] = set()
    for question in questions:
        folded = " ".join(question.text.split()).casefold()
        if folded and folded not in texts and question.question_id not in ids:
            texts.add(folded)
            ids.add(question.question_id)
            yield question


@dataclass(frozen=True, slots=True)
class SetUp:
    """One of the alternatives to compare. Empty fields, 0 and None stand for the settings in use.

    `lexical_weight` is that of the fusion, from meaning (0) to words (1); -1 leaves it.
    `instructions` replace those of the assistant. With `chunking` or `embedder`, the folder or
    address of a model, the documents are indexed into a scratch library for the run, as are
    `documents`, a folder that is asked in place of the person's library. One that `only_searches`
    has no answers written: a question counts by whether the passages for one hold its known place.
    """

    name: str
    assistant_id: str = ""
    base_url: str = ""
    model: str = ""
    collection_id: str = ""
    room: Room | None = None
    lexical_weight: float = -1.0
    instructions: str = ""
    chunking: ChunkSettings | None = None
    embedder: str = ""
    documents: str = ""
    only_searches: bool = False

    @property
    def needs_library(self) -> bool:
        """True when the documents have to be indexed for it."""
        return self.chunking is not None or bool(self.embedder or self.documents)


class RunState(StrEnum):
    """The state of a run. A waiting one goes on by itself, also after a crash."""

    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Run:
    """The questions of a version of a set with a set-up.

    `settings` are all that were in use, without keys. A failed run could not begin or go on, as
    its error says. What failed before `resumed_at` is asked again. `kind` is what was measured, and
    `figures` what is known of the whole beyond its answers.
    """

    run_id: str
    set_id: str
    set_version: int
    set_up: SetUp
    questions: tuple[SetQuestion, ...]
    made_at: float
    state: RunState = RunState.WAITING
    resumed_at: float = 0.0
    app_version: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    error_title: str = ""
    error_hint: str = ""
    kind: str = QUESTIONS
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a process while an answer is made, in bytes; 0 where unknown."""

    peak: int = 0
    mean: int = 0


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer to a question of a run. `tokens_in` and `tokens_out` are -1 where not counted.

    `seconds` are from the question to the finished answer, `cost` is in the currency of the prices
    that the person entered, -1 where there are none. `grade` is a model's comparison with the
    expected answer, "" for none. `server` is the memory of a model server on this computer.
    `measured` is the score of a measurement, from 0 to 1, -1 for an answer; `rows` are all it told.
    """

    answer_id: str
    run_id: str
    question_id: str
    text: str
    answered_at: float
    state: MessageState = MessageState.DONE
    model: str = ""
    is_excerpts: bool = False
    seconds: float = 0.0
    sources: tuple[SourceRef, ...] = ()
    claims: tuple[Claim, ...] = ()
    tokens_in: int = -1
    tokens_out: int = -1
    cost: float = -1.0
    app: Memory = field(default_factory=Memory)
    server: Memory = field(default_factory=Memory)
    grade: str = ""
    error_title: str = ""
    error_hint: str = ""
    measured: float = -1.0
    rows: tuple[Mapping[str, Any], ...] = ()

    @property
    def has_failed(self) -> bool:
        """True when there is no finished answer."""
        return self.state is not MessageState.DONE

    @property
    def is_unanswered(self) -> bool:
        """True when an answer rests on no document, or what was measured was not there."""
        is_missing = not self.measured or (self.measured < 0 and not self.sources)
        return not self.has_failed and is_missing

    @property
    def unsupported(self) -> int:
        """The number of claims that the sources don't support."""
        wrong = (Verdict.NOT_IN_SOURCES, Verdict.CONTRADICTED)
        return sum(claim.verdict in wrong for claim in self.claims)

    @property
    def supported_share(self) -> float | None:
        """The share of supported claims; None without any."""
        if not self.claims:
            return None
        return sum(c.verdict is Verdict.SUPPORTED for c in self.claims) / len(self.claims)


class Preference(StrEnum):
    """Which of two answers a judge finds better."""

    FIRST = "first"
    SECOND = "second"
    SAME = "same"


# The same choice between the two in the other order.
TURNED = {
    Preference.FIRST: Preference.SECOND,
    Preference.SECOND: Preference.FIRST,
    Preference.SAME: Preference.SAME,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of one answer, or of two to the same question.

    With a `preference`, `first_run` and `second_run` were compared; else `rating` is from 1 to 5,
    of the answer of `first_run`. `judge` is the name of a model, "" for the person; a model judged
    by the `rubric`, "" for the usual one.
    """

    judgement_id: str
    set_id: str
    question_id: str
    first_run: str
    judged_at: float
    second_run: str = ""
    preference: Preference | None = None
    rating: int = 0
    comment: str = ""
    judge: str = ""
    rubric: str = ""

    def of_pair(self, first: str, second: str) -> Preference | None:
        """The preference between these two runs in this order; None for a judgement of others."""
        if (self.first_run, self.second_run) == (first, second):
            return self.preference
        if (self.first_run, self.second_run) == (second, first) and self.preference:
            return TURNED[self.preference]
        return None


@dataclass(frozen=True, slots=True)
class SetsChanged:
    """A set, a run or a judgement was added, changed or removed."""


@dataclass(frozen=True, slots=True)
class RunWentOn:
    """A run has another answer, or is `doing` something else; "" for asking."""

    run_id: str
    set_id: str
    answered: int
    total: int
    doing: str = ""
