"""Remembers answers, and finds those that can be examples for a question. Worker threads.

An example shows only the form of an answer, so its question must be nearly the same: the threshold
holds on the calibrated scale of each model.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.search.meaning import SimilarityCalibration
from desktop_rag.core.conversation import Interaction, Message, outcome_of
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import Embedder, Vectors
from desktop_rag.store.contract.interaction_store import InteractionStore

log = logging.getLogger(__name__)

MOST_EXAMPLES = 3
# From 0, unrelated, to 1, the same text; decision 023 has the figures.
LEAST_SIMILARITY = 0.75
# The number of interactions that are embedded after an answer.
_BATCH = 32


class Memory:
    """Records interactions, finds similar ones, and forgets them on request."""

    def __init__(
        self,
        interactions: InteractionStore,
        embedder: Embedder | None,
        own_text: Callable[[str], str] = lambda _id: "",
    ) -> None:
        """Without an embedder, interactions are recorded and never found.

        `own_text` is the person's version of the answer with an id, "" without one.
        """
        self._interactions = interactions
        self._own_text = own_text
        self._embedder = embedder
        self._calibration = SimilarityCalibration()
        # The question embedded last, which is recorded next; any thread may replace it.
        self._latest: tuple[str, Vectors] | None = None

    # --- for people ------------------------------------------------------------------------------

    def count(self) -> int:
        """The number of remembered interactions."""
        return self._interactions.count()

    def newest(self, most: int) -> list[Interaction]:
        """The latest interactions, newest first."""
        return self._interactions.newest(most)

    def recall(self, interaction_ids: Sequence[str]) -> list[Interaction]:
        """The given interactions, without forgotten ones."""
        return self._interactions.get(interaction_ids)

    def forget(self, interaction_id: str) -> None:
        """Remove an interaction for good; its chat stays."""
        self._interactions.forget([interaction_id])

    def put_back(self, interaction: Interaction) -> None:
        """Undo `forget`."""
        self._interactions.add(interaction)
        self._embed([interaction], Event())

    def forget_all(self) -> None:
        """Remove all interactions for good."""
        self._interactions.forget_all()

    # --- for answers -----------------------------------------------------------------------------

    def examples(
        self, asked: str, plain_question: str, *, conversation_id: str, assistant_id: str
    ) -> tuple[Interaction, ...]:
        """Successful answers from other chats to similar questions; none when embedding fails.

        An answer that the person rewrote is shown as rewritten.
        """
        if self._embedder is None:
            return ()
        try:
            unrelated = self._calibration.unrelated(self._embedder)
            found = self._interactions.similar(
                self._vector(self._embedder, asked, plain_question),
                self._embedder.name,
                assistant_id=assistant_id,
                outside=conversation_id,
                least=unrelated + LEAST_SIMILARITY * (1 - unrelated),
                most=MOST_EXAMPLES,
            )
        except AppError as error:
            log.info("earlier answers could not be searched: %s", error.title)
            return ()
        return tuple(
            replace(each, answer=self._own_text(each.interaction_id) or each.answer)
            for each in found
        )

    def record(
        self, question: str, answer: Message, *, has_several_steps: bool, assistant_id: str
    ) -> None:
        """Record a question with its answer, however it ended.

        A missing vector is left to `catch_up`; errors are only logged, as the answer is already
        given.
        """
        asked = answer.notes.asked if answer.notes else ""
        interaction = Interaction(
            interaction_id=answer.message_id,
            conversation_id=answer.conversation_id,
            question=question,
            asked=asked or question,
            # Without its sources, citations mean nothing.
            answer=normalise(answer.text, frozenset())[0],
            outcome=outcome_of(answer),
            ended_at=answer.created_at,
            model=answer.model,
            has_several_steps=has_several_steps,
            assistant_id=assistant_id,
        )
        latest = self._latest
        try:
            if self._embedder and latest and latest[0] == interaction.asked:
                self._interactions.add(interaction, self._embedder.name, latest[1])
            else:
                self._interactions.add(interaction)
        except AppError as error:
            log.info("an answer could not be remembered: %s", error.title)

    def catch_up(self, cancel: Event) -> None:
        """Embed some interactions that have no vector of the current model."""
        if self._embedder:
            name = self._embedder.name
            self._embed(self._interactions.without_vector_of(name, _BATCH), cancel)

    def _embed(self, interactions: Sequence[Interaction], cancel: Event) -> None:
        if self._embedder is None:
            return
        try:
            for interaction in interactions:
                if cancel.is_set():
                    break
                asked = interaction.asked
                vector = self._vector(self._embedder, asked, _without_filters(asked))
                self._interactions.set_vector(
                    interaction.interaction_id, self._embedder.name, vector
                )
        except AppError as error:
            log.info("remembered questions were not embedded: %s", error.title)

    def _vector(self, embedder: Embedder, asked: str, plain_question: str) -> Vectors:
        latest = self._latest
        if latest is None or latest[0] != asked:
            latest = self._latest = asked, embedder.embed_query(plain_question)
        return latest[1]


def _without_filters(asked: str) -> str:
    try:
        return parse_query(asked).text or asked
    except AppError:  # a wrong date
        return asked
