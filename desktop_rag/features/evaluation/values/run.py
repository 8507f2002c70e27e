"""Runs: the questions of a set asked with one set-up, and what came of each. Frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.values.question_set import SetQuestion


@dataclass(frozen=True, slots=True)
class SetUp:
    """What is compared. Empty fields, 0 and None mean what the app uses anyway.

    `lexical_weight` is that of the fusion, from meaning (0) to words (1); -1 leaves it.
    `instructions` replace those of the assistant. With `chunking` or `embedder`, the folder or
    address of a model, the documents are indexed into a library of its own for the run.
    """

    name: str
    assistant_id: str = ""
    base_url: str = ""
    model: str = ""
    collection_id: str = ""
    passages: int = 0
    source_tokens: int = 0
    lexical_weight: float = -1.0
    instructions: str = ""
    chunking: ChunkSettings | None = None
    embedder: str = ""

    @property
    def needs_library(self) -> bool:
        """True when the documents have to be indexed for it."""
        return self.chunking is not None or bool(self.embedder)


class RunState(StrEnum):
    """Where a run is. A waiting one goes on by itself, also after a crash."""

    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Run:
    """The questions of a version of a set with a set-up.

    `settings` are all of those that answered, without keys. A failed run could not begin or go
    on, as its error says. What failed before `resumed_at` is asked again.
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


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a process takes while an answer is made, in bytes; 0 where unknown."""

    peak: int = 0
    mean: int = 0


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The answer to a question of a run. `tokens_in` and `tokens_out` are -1 where not counted.

    `seconds` are from the question to the finished answer, `cost` is in the currency of the prices
    that the person entered, -1 where there are none. `grade` is a model's comparison with the
    expected answer, "" for none. `server` is the memory of a model server on this computer.
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

    @property
    def has_failed(self) -> bool:
        """True when there is no finished answer."""
        return self.state is not MessageState.DONE

    @property
    def is_unanswered(self) -> bool:
        """True when an answer rests on no document."""
        return not self.has_failed and not self.sources

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


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of one answer, or of two to the same question.

    With a `preference`, `first_run` and `second_run` were compared; else `rating` is from 1 to 5,
    of the answer of `first_run`. `judge` is the name of a model, "" for the person; a
    model judged by the `rubric`, "" for the usual one.
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
        """The preference between these two runs in this order; None when it is about others."""
        if (self.first_run, self.second_run) == (first, second):
            return self.preference
        if (self.first_run, self.second_run) == (second, first) and self.preference:
            turned = {Preference.FIRST: Preference.SECOND, Preference.SECOND: Preference.FIRST}
            return turned.get(self.preference, Preference.SAME)
        return None
