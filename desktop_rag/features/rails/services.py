"""The services of rails while the app is open: rails of assistants, and their commands."""

from desktop_rag.app import Services
from desktop_rag.features.rails.assistants.rail_service import AssistantRails
from desktop_rag.features.rails.commands.commands import Commands
from desktop_rag.features.rails.commands.commands_done import COMMANDS, commands_in
from desktop_rag.models.embedding.joined_embedding import rail_embeddings
from desktop_rag.registry import WingServices


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
