"""What rails may use of the world, each as a plain function; whatever is missing is None.

Any thread.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.language.flow_program import Program
from desktop_rag.features.rails.prompts.stage_prompts import Prompts
from desktop_rag.features.rails.rail_events import RailEvent
from desktop_rag.models.ports import Vectors


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document, and the words that name its source."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class DocumentAnswer:
    """An answer from documents, with citations, and the passages it stands on.

    One that `is_own_knowledge` stands on none: a model gave it.
    """

    text: str
    passages: Sequence[Passage] = ()
    is_own_knowledge: bool = False


class Changes(Protocol):
    """What changes something outside the conversation, each after the person agreed to it.

    AppError, with the reason, for what can't be proposed or failed.
    """

    def is_asked_for(self, words: str) -> bool:
        """Whether a sentence asks for a command word for word."""
        ...

    def propose(self, action: str, values: Mapping[str, Any], words: str) -> str:
        """Put a command before the person, who said `words`; its id. Nothing is done."""
        ...

    def carry_out(self, command_id: str) -> str:
        """Do what the person agreed to; what came of it, in words."""
        ...


@dataclass(frozen=True)
class RailsWorld:
    """The functions that the actions call. Each may take long and may raise AppError.

    `complete`: prompt to text, by a chat model. `retrieve` and `search`: a question to the passages
    that fit best. `check_facts`: an answer and its passages to the probability, from 0 to 1, that
    these support it. `embed`: texts to unit vectors. `embed_examples`: the same for the texts of a
    configuration, whose vectors somebody keeps. `answer`: a question answered the way the app
    always does. `ask_every_file`: a question put to each document, the answer in words. `changes`:
    where a person is who can agree to commands.
    """

    complete: Callable[[str], str] | None = None
    retrieve: Callable[[str], Sequence[Passage]] | None = None
    check_facts: Callable[[str, Sequence[Passage]], float] | None = None
    embed: Callable[[Sequence[str]], Vectors] | None = None
    embed_examples: Callable[[Sequence[str]], Vectors] | None = None
    answer: Callable[[str], DocumentAnswer] | None = None
    search: Callable[[str], Sequence[Passage]] | None = None
    ask_every_file: Callable[[str], str] | None = None
    changes: Changes | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the model: what for, what was sent and what came back, and how long it took."""

    task: str
    prompt: str
    answer: str
    seconds: float


@dataclass(slots=True)
class ModelCalls:
    """The calls of the model in one turn, which are limited."""

    complete: Callable[[str], str] | None
    most: int
    made: list[ModelCall] = field(default_factory=list[ModelCall])

    def ask(self, task: str, prompt: str) -> str:
        """The answer of the model; AppError without one, and beyond the limit."""
        if self.complete is None:
            raise AppError("No model is set.", "Choose an endpoint in the settings.")
        if len(self.made) >= self.most:
            raise AppError(f"This turn called the model {self.most} times, which is the limit.")
        begins = time.monotonic()
        answer = self.complete(prompt)
        self.made.append(ModelCall(task, prompt, answer, time.monotonic() - begins))
        return answer


class NearExample(Protocol):
    """An example that is similar to a sentence."""

    @property
    def text(self) -> str:
        """The sentence."""
        ...

    @property
    def intent(self) -> str:
        """Its intent."""
        ...

    @property
    def similarity(self) -> float:
        """The cosine of the two vectors."""
        ...


class Recognised(Protocol):
    """What a sentence likely means, by the examples alone."""

    @property
    def intent(self) -> str:
        """The likeliest intent, empty without one."""
        ...

    @property
    def score(self) -> float:
        """The probability, from 0 to 1, that it is right."""
        ...

    @property
    def is_accepted(self) -> bool:
        """Whether that is enough to go without a model."""
        ...

    @property
    def nearest(self) -> Sequence[NearExample]:
        """The most similar examples, best first."""
        ...


class Nearest(Protocol):
    """What is near to a text among the examples and flows of a configuration."""

    def recognise(self, text: str) -> Recognised | None:
        """The intent by examples; None where nothing can be compared."""
        ...

    def flows(self, text: str) -> Sequence[str]:
        """The flows nearest to a text, as they are written."""
        ...


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The settings of the stages.

    `is_by_examples_only`: the nearest example decides, whatever its score, from `least_similarity`
    on; below that `fallback_intent`, if there is one. `facts_from` is the probability from which an
    answer passes `check_facts`.
    """

    is_by_examples_only: bool = False
    least_similarity: float = 0.0
    fallback_intent: str = ""
    facts_from: float = 0.5


@dataclass(frozen=True, slots=True)
class Around:
    """All that is around an action of the app's own; `command_id` is what the person agreed to."""

    program: Program
    context: Mapping[str, Any]
    events: Sequence[RailEvent]
    prompts: Prompts
    world: RailsWorld
    settings: StageSettings
    nearest: Nearest
    model: ModelCalls
    command_id: str = ""
