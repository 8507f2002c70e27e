"""The services of rails while the app is open: the rails of assistants, and their commands.

Any thread. Most of rails is imported on first use, which saves the start of the app 0.1 s.
"""

from collections.abc import Callable, Generator, Sequence
from functools import cached_property
from pathlib import Path
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
    from desktop_rag.features.rails.assistants.own_rails import OwnRails
    from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

Embed = Callable[[Sequence[str]], Vectors]


class AssistantRails:
    """Puts rails around answers: it is an `AnswerWrap`. Opens the rest when it is needed."""

    def __init__(
        self, embed: Embed, embed_examples: Embed, root: Path, commands: Commands | None = None
    ) -> None:
        """`embed` is the bundled model, for which the recognition of intents is calibrated.

        `embed_examples` is the same with a cache, for examples. `root` has the folders that the
        person writes here. Without `commands` nothing is ever proposed.
        """
        self._root = root
        self._embed = embed
        self._embed_examples = embed_examples
        self._commands = commands

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        if rails:
            self.answers.check(rails)

    def answer(
        self, request: AnswerRequest, service: AnswerService
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The answer that the rails make or let through; failures end in the message."""
        return self.answers.answer(request, service)

    @cached_property
    def own(self) -> "OwnRails":
        """The folders that the person writes."""
        from desktop_rag.features.rails.actions.rails_world import RailsWorld
        from desktop_rag.features.rails.assistants.own_rails import OwnRails

        world = RailsWorld(embed=self._embed, embed_examples=self._embed_examples)
        return OwnRails(self._root, world)

    @cached_property
    def answers(self) -> "RailedAnswers":
        """Runs and tries the rails of assistants."""
        from desktop_rag.features.rails.assistants.railed_answers import RailedAnswers

        return RailedAnswers(self._embed, self._embed_examples, self._commands)


class RailServices(WingServices):
    """`assistants` runs rails, `commands` keeps and carries out what they proposed."""

    def __init__(self, services: Services) -> None:
        home = services.home
        self._history = services.chat.history
        self.commands = Commands(home, services.library)
        services.file_takers[COMMANDS] = lambda text: self.commands.take(commands_in(text))
        embeddings = rail_embeddings(home.rail_vectors, services.embedders.bundled)
        self.assistants = AssistantRails(*embeddings, home.rails, self.commands)

    def forget_gone_chats(self) -> None:
        """Keep only the commands of chats that are still there."""
        self.commands.keep_only({chat.conversation_id for chat in self._history.all()})

    def stop(self) -> None:
        """End the running command."""
        self.commands.close()

    close = stop
