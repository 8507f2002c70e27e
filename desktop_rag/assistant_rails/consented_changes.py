"""The commands of the app as rails see them: proposed in a chat, gone on with after the word.

Threads of the rails, and the one that decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from desktop_rag.answer.conversations.answer_rails import RailedQuestion
from desktop_rag.commands.command_proposals import Answered
from desktop_rag.commands.commands import Commands
from desktop_rag.core.conversation import Message, MessageState, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.rails.actions.rails_world import RailsWorld
from desktop_rag.rails.events.rail_events import Confirmation
from desktop_rag.rails.rail_engine import Rails, transcript
from desktop_rag.rails.runtime.rail_loop import Conversation


@dataclass(frozen=True, slots=True)
class ConsentedChanges:
    """Fills the protocol `Changes` for one question."""

    commands: Commands
    asked: RailedQuestion

    def is_asked_for(self, words: str) -> bool:
        """Whether a sentence asks for a command word for word."""
        return self.commands.proposals.is_asked_for(words)

    def propose(self, action: str, values: Mapping[str, Any], words: str) -> str:
        """Put a command before the person; its id. AppError where nobody could agree."""
        asked = self.asked
        if not asked.may_change:
            raise AppError(
                "Nothing is changed from here, since nobody could agree to it.",
                "Ask in the window of the app.",
            )
        last = _last_answer(asked.history)
        proposal = self.commands.proposals.of(action, values, words, last)
        return self.commands.propose(
            proposal, asked.question, asked.conversation_id, asked.assistant_id
        ).command_id

    def carry_out(self, command_id: str) -> str:
        """Do what the person agreed to; what came of it, in words."""
        return self.commands.carry_out(command_id)

    def go_on_later(
        self, rails: Rails, world: RailsWorld, conversation: Conversation, command_id: str
    ) -> str:
        """Let the flows go on after the person's word; what to ask the person."""

        def go_on(is_agreed: bool) -> str:
            # Nobody waits for an answer from the documents any more.
            engine = rails.in_world(replace(world, answer=None, ask_every_file=None))
            turn = engine.react(conversation, Confirmation(command_id, is_agreed))
            return "\n\n".join(text for who, text in transcript(turn) if who == "bot")

        self.commands.go_on_with(command_id, go_on)
        command = self.commands.get(command_id)
        title = command.title if command else ""
        return tr("{title}? Nothing is done before you agree.", title=title)


def _last_answer(history: Sequence[Message]) -> Answered | None:
    """The last complete answer of the chat with its question."""
    for before, after in reversed(list(pairwise(history))):
        is_answer = before.role is Role.USER and after.role is Role.ASSISTANT
        is_proposal = bool(after.notes and after.notes.proposal)
        if is_answer and after.state is MessageState.DONE and after.text and not is_proposal:
            cited = [source for source in after.sources if source.is_cited]
            lines = [f"[{s.n}] {s.title} ({s.url or s.path})" for s in cited]
            return Answered(before.text, after.text, lines)
    return None
