"""What rails may use of the world: plain functions, None for what is missing. Any thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.intent.intent_recognition import Nearest
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
    """A cited answer with its passages; one that `is_own_knowledge` is a model's, without any."""

    text: str
    passages: Sequence[Passage] = ()
    is_own_knowledge: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes outside the conversation, each after consent; AppError on refusal and failure.

    `is_asked_for`: whether a sentence asks for a command word for word. `propose`: puts an action
    with its values before the person, who said these words; its id, nothing is done. `carry_out`:
    does what they agreed to; what came of it, in words.
    """

    is_asked_for: Callable[[str], bool]
    propose: Callable[[str, Mapping[str, Any], str], str]
    carry_out: Callable[[str], str]


@dataclass(frozen=True)
class RailsWorld:
    """The functions that the actions call. Each may take long and may raise AppError.

    `complete`: prompt to text, by a chat model. `retrieve` and `search`: question to the best
    passages. `check_facts`: answer and passages to the probability that they support it. `embed`:
    texts to unit vectors; `embed_examples`: the same for a configuration, with a cache. `answer`:
    the app's own answer. `ask_every_file`: the answer of all documents. `changes`: commands, where
    a person can agree to them.
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
    """One call of the model: its task and its prompt."""

    task: str
    prompt: str


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
        answer = self.complete(prompt)
        self.made.append(ModelCall(task, prompt))
        return answer


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The settings of the stages.

    With `is_by_examples_only` the nearest example decides if its similarity reaches
    `least_similarity`, else `fallback_intent`.
    """

    is_by_examples_only: bool = False
    least_similarity: float = 0.0
    fallback_intent: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What an action of the app is given; `command_id` is what the person agreed to."""

    program: Program
    context: Mapping[str, Any]
    events: Sequence[RailEvent]
    prompts: Prompts
    world: RailsWorld
    settings: StageSettings
    nearest: Nearest
    model: ModelCalls
    command_id: str = ""
