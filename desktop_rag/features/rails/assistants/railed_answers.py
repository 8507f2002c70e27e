"""Answers of assistants with rails: what the rails say themselves, and what they let through.

The answering thread; the turn of the rails and its actions run on threads of their own.
"""

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING

from desktop_rag.answer.conversations.answer_rails import (
    RailedQuestion,
    TriedSentence,
    as_sources,
)
from desktop_rag.core.conversation import (
    AnswerEvent,
    AnswerRestated,
    Message,
    MessageState,
    Role,
    SourcesFound,
    TextDelta,
)
from desktop_rag.features.rails.actions.rails_world import DocumentAnswer, Passage, RailsWorld
from desktop_rag.features.rails.assistants.own_rails import tried
from desktop_rag.features.rails.assistants.rail_names import RailSets, is_built_in
from desktop_rag.features.rails.assistants.rail_service import (
    Beginning,
    ConsentedChanges,
    CrossingTurn,
    PassingPieces,
    found_as_shown,
    made_message,
    proposal_of,
    railed_message,
)
from desktop_rag.features.rails.commands.commands import Commands
from desktop_rag.features.rails.rail_engine import Rails, Turn
from desktop_rag.features.rails.runtime.rail_loop import Conversation
from desktop_rag.models.ports import Vectors

if TYPE_CHECKING:
    from desktop_rag.features.rails.rail_events import RailEvent

# Earlier turns that the flows of a folder are taken through again.
_MOST_TURNS = 12


class RailedAnswers:
    """Runs the rails of assistants. Holds no conversation."""

    def __init__(
        self,
        embed: Callable[[Sequence[str]], Vectors],
        embed_examples: Callable[[Sequence[str]], Vectors],
        commands: Commands | None = None,
    ) -> None:
        """`embed` is the bundled model: the recognition of intents is calibrated for it.

        `embed_examples` does the same for the examples of rails, whose vectors are kept. Without
        `commands` nothing is ever proposed.
        """
        self._sets = RailSets(RailsWorld(embed=embed, embed_examples=embed_examples))
        self._embed = embed
        self._commands = commands

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used."""
        self._sets.rails(rails)

    def try_sentence(self, rails: str, text: str) -> TriedSentence:
        """What would be done with a sentence; no document is searched and no model is asked."""
        return tried(self._sets.rails(rails), RailsWorld(embed=self._embed), text)

    def run(self, asked: RailedQuestion, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        opened = self._sets.rails(asked.rails)
        begun = self._so_far(opened, asked)
        is_held = bool(opened.configuration.output_rails)
        turns: list[Turn] = []
        pieces = self._pieces(opened, asked, turns)
        crossing = CrossingTurn(asked.answer, is_held=is_held, pieces=pieces)
        changes = ConsentedChanges(self._commands, asked) if self._commands else None
        events: list[RailEvent] = []
        calls, to_ask = 0, ""

        def turn(answer: Callable[[str], Message]) -> None:
            nonlocal calls, to_ask
            world = replace(self._world(asked, answer, crossing), changes=changes)
            under_way = opened.in_world(world).say(begun, asked.question, cancel)
            turns.append(under_way)
            events.extend(under_way)
            calls = len(under_way.model_calls)
            if changes and (command_id := proposal_of(events)):
                to_ask = changes.go_on_later(opened, world, under_way.conversation, command_id)

        yield from crossing.events(turn)
        blank = Message(uuid.uuid4().hex, asked.conversation_id, Role.ASSISTANT, "", time.time())
        if cancel.is_set():
            blank = replace(blank, state=MessageState.STOPPED)
        made = crossing.made
        if made is not None and made.state is not MessageState.DONE:
            return made_message(made, crossing.streamed, is_held=is_held)
        done = railed_message(
            opened.configuration, events, blank, made, is_model_asked=calls > 0, asked=to_ask
        )
        yield from _shown(done, crossing.streamed)
        return done

    def _pieces(
        self, opened: Rails, asked: RailedQuestion, turns: Sequence[Turn]
    ) -> Callable[[], PassingPieces] | None:
        """An answer checked from its beginning by the rails for output; None if they want all.

        The check runs on the answering thread, while the one of `turns` waits for the whole answer.
        """
        if not opened.configuration.shows_pieces:
            return None

        def passes(beginning: Beginning) -> str | None:
            found = beginning.found
            has_nothing_to_check = False

            def support(text: str, _: Sequence[Passage]) -> float:
                nonlocal has_nothing_to_check
                support = asked.support(text, found.sources)
                has_nothing_to_check = support is None
                return support or 0.0

            world = RailsWorld(
                check_facts=support,
                complete=None if is_built_in(asked.rails) else asked.complete,
            )
            rows = [{"text": source.text, "source": source.title} for source in found.sources]
            known = {"relevant_passages": rows, "is_own_knowledge": found.is_own_knowledge}
            context = {**turns[-1].conversation.state.context, **known}
            passed = opened.in_world(world).passed(beginning.text, context)
            # A heading or an introduction proves nothing: it waits for the first statement.
            return "" if passed is None and has_nothing_to_check else passed

        as_shown = partial(found_as_shown, opened.configuration)
        return lambda: PassingPieces(passes, as_shown)

    def _world(
        self, asked: RailedQuestion, answer: Callable[[str], Message], crossing: CrossingTurn
    ) -> RailsWorld:
        """What the rails may use. The built-in sets need no model and no search of their own."""

        def answered(question: str) -> DocumentAnswer:
            made = answer(question)
            passages = [Passage(source.text, source.title) for source in made.sources]
            return DocumentAnswer(made.text, passages, made.is_own_knowledge)

        def support(text: str, passages: Sequence[Passage]) -> float:
            made = crossing.made
            if made is None:
                sources = as_sources([(passage.text, passage.source) for passage in passages])
                return asked.support(text, sources) or 0.0
            if made.is_excerpts or not (made.model or made.is_own_knowledge):
                return 1.0  # the words of the documents, or of the app itself
            return asked.support(text, made.sources) or 0.0

        world = RailsWorld(embed=self._embed, answer=answered, check_facts=support)
        if is_built_in(asked.rails):
            return world

        def search(query: str) -> list[Passage]:
            return [Passage(found.text, found.title) for found in asked.search(query)]

        return replace(world, complete=asked.complete, retrieve=search, search=search)

    def _so_far(self, rails: Rails, asked: RailedQuestion) -> Conversation:
        """The conversation that the flows of a folder are in, made again without a model."""
        known = {
            "commands_done": self._commands.done_before(asked.assistant_id)
            if self._commands
            else ""
        }
        conversation = rails.begin({"has_knowledge_base": not is_built_in(asked.rails), **known})
        if is_built_in(asked.rails):
            return conversation
        for question, answer in _turns(asked.history):
            said = DocumentAnswer(answer)
            world = RailsWorld(
                embed=self._embed,
                answer=lambda _, said=said: said,
                check_facts=lambda _text, _passages: 1.0,
                search=lambda _: [],
            )
            turn = rails.in_world(world).say(conversation, question)
            for _ in turn:
                pass
            conversation = turn.conversation
        return conversation


def _turns(history: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The last questions, each with its answer."""
    pairs = [
        (before.text, after.text)
        for before, after in pairwise(history)
        if before.role is Role.USER and after.role is Role.ASSISTANT
    ]
    yield from pairs[-_MOST_TURNS:]


def _shown(done: Message, streamed: str) -> Iterator[AnswerEvent]:
    """What brings the screen from what was streamed to the message."""
    if streamed == done.text or (streamed and done.text == streamed.rstrip()):
        return
    if streamed and done.text.startswith(streamed):
        yield TextDelta(done.text[len(streamed) :])
        return
    yield SourcesFound(done.sources, done.notes)
    if streamed:
        yield AnswerRestated(done.text, done.thinking)
        return
    if done.text:
        yield TextDelta(done.text)
