"""The services of rails while the app is open: the rails of assistants, and their commands.

Any thread. Most of rails is imported on first use, which saves the start of the app 0.1 s.
"""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from desktop_rag.answer.answer_service import AnswerService, FinishedAnswer
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerEvent
from desktop_rag.features.rails.commands.commands import Commands
from desktop_rag.features.rails.commands.commands_done import COMMANDS, commands_in
from desktop_rag.models.embedding.joined_embedding import rail_embeddings
from desktop_rag.models.ports import Vectors
from desktop_rag.registry import WingServices

if TYPE_CHECKING:
    from desktop_rag.features.rails.assistants.own_rails import OwnRails, TriedSentence
    from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

Embed = Callable[[Sequence[str]], Vectors]


class AssistantRails:
    """Checks, tries and teaches rails, and puts them around answers: it is an `AnswerWrap`."""

    def __init__(
        self, embed: Embed, embed_examples: Embed, root: Path, commands: Commands | None = None
    ) -> None:
        """`embed` is the bundled model, for which the recognition of intents is calibrated.

        `embed_examples` is the same with a cache, for examples. `root` has the folders that the
        person writes here. Without `commands` nothing is ever proposed.
        """
        self._root = root
        self._own: OwnRails | None = None
        self._embed = embed
        self._embed_examples = embed_examples
        self._commands = commands
        self._answers: RailedAnswers | None = None
        self._lock = Lock()

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        if rails:
            self._opened().check(rails)

    def try_sentence(self, rails: str, text: str) -> "TriedSentence":
        """What would be done with a sentence; searches no document and asks no model."""
        return self._opened().try_sentence(rails, text)

    def answer(
        self, request: AnswerRequest, service: AnswerService
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The answer that the rails make or let through; failures end in the message."""
        return self._opened().answer(request, service)

    def folders(self) -> Sequence[Path]:
        """The folders of rails that were written in the window."""
        return self.own.folders(()) if self._root.is_dir() else ()

    def topic_names(self, rails: str) -> tuple[str, ...]:
        """The topics of these rails that a sentence can be taught to."""
        return self.own.topic_names(rails) if rails else ()

    def teach(self, rails: str, name: str, sentence: str) -> Callable[[], None]:
        """Add a sentence to a topic's examples; returns what undoes it. AppError on failure."""
        return self.own.teach(rails, name, sentence)

    @property
    def own(self) -> "OwnRails":
        """The folders that the person writes."""
        with self._lock:
            if self._own is None:
                from desktop_rag.features.rails.actions.rails_world import RailsWorld
                from desktop_rag.features.rails.assistants.own_rails import OwnRails

                world = RailsWorld(embed=self._embed, embed_examples=self._embed_examples)
                self._own = OwnRails(self._root, world)
            return self._own

    def _opened(self) -> "RailedAnswers":
        with self._lock:
            if self._answers is None:
                from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

                self._answers = RailedAnswers(self._embed, self._embed_examples, self._commands)
            return self._answers


class RailServices(WingServices):
    """`assistants` runs rails, `commands` keeps and carries out what they proposed."""

    def __init__(self, services: Services) -> None:
        home = services.home
        self._history = services.chat.history
        self.commands = Commands(home, services.library)
        services.backups.leave_file(COMMANDS, lambda text: self.commands.take(commands_in(text)))
        embeddings = rail_embeddings(home.rail_vectors, services.embedders.bundled)
        self.assistants = AssistantRails(*embeddings, home.rails, self.commands)

    def forget_gone_chats(self) -> None:
        """Keep only the commands of chats that are still there."""
        self.commands.keep_only({chat.conversation_id for chat in self._history.all()})

    def stop(self) -> None:
        """End the running command."""
        self.commands.close()

    close = stop
