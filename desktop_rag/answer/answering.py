"""Makes one answer: finds its sources, has them answered from, checks and places what is cited.

Runs on the thread that answers.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from desktop_rag.answer.conversations.answer_memory import Memory
from desktop_rag.answer.conversations.assistants import Setup
from desktop_rag.answer.conversations.attachments import Attachments
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.map_reduce.map_reduce import MapReduce
from desktop_rag.answer.map_reduce.summaries import Summaries
from desktop_rag.answer.map_reduce.whole_library import WholeLibrary
from desktop_rag.answer.prompting.instructions import instructions_for
from desktop_rag.answer.prompting.preferences import in_manner
from desktop_rag.answer.prompting.prompt import IMAGE_TOKENS, Beside
from desktop_rag.answer.sources.attached_sources import AttachedSources
from desktop_rag.answer.sources.earlier_sources import numbered_anew
from desktop_rag.answer.sources.passages import place_of
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.tables.table_answer import TableAnswer
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.extractive_answer import (
    NOTHING_FOUND,
    NOTHING_RELEVANT,
    NOTHING_RELEVANT_AMONG,
    NOTHING_RELEVANT_HERE,
    NOTHING_THERE,
    UNREAD,
    excerpts,
)
from desktop_rag.answer.writing.model_answer import answer_with
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.attachment import Attachment
from desktop_rag.core.conversation import (
    AnswerEvent,
    Conversation,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.interaction import Interaction
from desktop_rag.core.query import parse_query
from desktop_rag.core.question import SearchScope
from desktop_rag.core.settings import FEW_FILES, RetrievalSettings
from desktop_rag.core.summary_request import asks_for_summary
from desktop_rag.models.ports import ChatModel, Embedder
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.tables import TableQueries

# By how many collections were asked: none is all documents.
_NOTHING_RELEVANT = (NOTHING_RELEVANT, NOTHING_RELEVANT_HERE, NOTHING_RELEVANT_AMONG)
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """A question with everything that its answer depends on.

    `history` are the messages before it. Every file is asked by itself if `every_file`; few files
    also when nothing was found, if `asks_few_files`. One that `uses_memory` may have earlier
    answers of the same assistant as examples, and is remembered itself.
    """

    question: str
    conversation: Conversation
    history: Sequence[Message]
    setup: Setup
    every_file: bool = False
    asks_few_files: bool = False
    uses_memory: bool = True
    attachments: tuple[Attachment, ...] = ()


class Answering:
    """Turns a question into the message that answers it."""

    def __init__(
        self,
        finder: SourceFinder,
        documents: DocumentStore,
        tables: TableQueries,
        embedder: Embedder | None,
        models: ChatModels,
        *,
        memory: Memory,
        attachments: Attachments,
    ) -> None:
        """Without an embedder sentences are chosen by their words."""
        self._finder = finder
        self._documents = documents
        self._embedder = embedder
        self._models = models
        self._table_answer = TableAnswer(documents, tables)
        self._memory = memory
        self._attachments = attachments
        self._attached = AttachedSources(finder, documents)
        pieces = MapReduce(finder.count_tokens)
        self._whole_library = WholeLibrary(finder, documents, embedder, pieces)
        self._summaries = Summaries(finder, documents, embedder, pieces)

    def answer(self, asking: Asking, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The answer, not stored yet; yields what happens on the way.

        Whatever the endpoint did wrong is told by the message.
        """
        draft = AnswerDraft(asking.conversation.conversation_id, began_at=time.monotonic())
        try:
            yield from self._drafted(draft, asking, cancel)
        except AppError as error:
            done = draft.message(MessageState.FAILED, error.title, error.hint)
        else:
            state = MessageState.STOPPED if cancel.is_set() else MessageState.DONE
            done = draft.message(state)
        if asking.uses_memory:
            self._memory.record(
                asking.question,
                done,
                has_several_steps=draft.has_several_steps,
                assistant_id=asking.conversation.assistant_id,
            )
        return replace(done, sources=self._placed(done.sources))

    def _drafted(self, draft: AnswerDraft, asking: Asking, cancel: Event) -> Iterator[AnswerEvent]:
        setup = asking.setup
        if setup.refusal:
            raise setup.refusal
        model = self._models.main(setup.settings)
        is_summary = wants_summary(asking.question, asking.attachments)
        if is_summary:
            _tell(draft, setup)
            draft.has_several_steps = True
            yield from self._summaries.answer(
                draft, asking.question, attached=texts_of(asking.attachments),
                reach=setup.reach, wishes=setup.wishes, model=model, cancel=cancel,
                preferences=setup.settings.preferences,
            )  # fmt: skip
        else:
            yield from self._looked_up(draft, asking, model, cancel)
        if draft.sources or draft.sees_images or cancel.is_set():
            return
        if model and setup.is_open and not is_summary:
            yield from self._from_model(model, draft, asking, cancel)
        else:
            yield from self._from_nothing(draft, setup.reach)

    def _looked_up(
        self, draft: AnswerDraft, asking: Asking, model: ChatModel | None, cancel: Event
    ) -> Iterator[AnswerEvent]:
        setup = asking.setup
        settings, reach = setup.settings, setup.reach
        self._finder.give(
            draft, asking.question, asking.history, settings.retrieval,
            reach=reach, model=self._models.helper(settings), cancel=cancel,
        )  # fmt: skip
        _tell(draft, setup)
        if model and not asking.every_file:
            attached = partial(self._from_attached, asking, draft, settings.retrieval)
            yield from self._table_answer.add_result(draft, model, cancel, attached)
        if asking.every_file or (model and self._is_worth_asking_all(draft, asking)):
            draft.has_several_steps = True
            yield from self._whole_library.answer(
                draft, settings.retrieval,
                reach=reach, attached=texts_of(asking.attachments), wishes=setup.wishes,
                model=model, cancel=cancel, preferences=settings.preferences,
            )  # fmt: skip
        elif model and (draft.sources or self._is_given_anything(asking)):
            yield from self._from_model(model, draft, asking, cancel)
        elif not model:
            self._join_attached(draft, asking)
            if draft.sources:
                yield from self._from_excerpts(draft, _said_before(draft, asking))

    def _is_worth_asking_all(self, draft: AnswerDraft, asking: Asking) -> bool:
        """Nothing is about the question among all, but alone one of few files may have something.

        More files take longer than anybody waits unasked. It takes a model to tell: without one,
        of 143 questions about something else 13 were answered with words that happened to match.
        What is attached is what is asked about.
        """
        if not (draft.nearest and asking.asks_few_files) or asking.attachments:
            return False
        count = self._finder.count_files(draft.asked, FEW_FILES + 1, asking.setup.reach)
        return 1 < count <= FEW_FILES

    def _is_given_anything(self, asking: Asking) -> bool:
        """Whether there is more of what is attached than its name, as in an imported chat."""
        has_text = any(attachment.has_text for attachment in asking.attachments)
        return has_text or bool(
            self._attachments.images(asking.attachments, asking.setup.settings.endpoint)
        )

    def _from_attached(
        self, asking: Asking, draft: AnswerDraft, settings: RetrievalSettings
    ) -> list[SourceRef]:
        """The passages of what is attached, those that fit best first."""
        about, near = self._attached.relevant(asking.attachments, draft.asked, settings)
        return [*about, *near]

    def _examples(self, asked: str, asking: Asking) -> tuple[Interaction, ...]:
        if not asking.uses_memory:
            return ()
        conversation = asking.conversation
        return self._memory.examples(
            asked,
            conversation_id=conversation.conversation_id,
            assistant_id=conversation.assistant_id,
        )

    def _from_model(
        self, model: ChatModel, draft: AnswerDraft, asking: Asking, cancel: Event
    ) -> Iterator[AnswerEvent]:
        images = self._attachments.images(asking.attachments, asking.setup.settings.endpoint)
        is_given = bool(draft.sources) or self._is_given_anything(asking)
        draft.is_open, draft.is_own_knowledge = asking.setup.is_open, not is_given
        draft.sees_images = bool(images)
        if is_given:
            draft.nearest = ()

        def attached(context_tokens: int) -> Beside:
            room = context_tokens - IMAGE_TOKENS * len(images)
            sources = self._attached.for_prompt(
                asking.attachments,
                draft.asked,
                asking.setup.settings.retrieval,
                room,
                model.count_tokens,
            )
            return Beside(sources, images)

        # Examples are of answers from sources.
        draft.examples = self._examples(draft.asked, asking) if is_given else ()
        wishes, is_open = asking.setup.wishes, draft.is_open
        rules = instructions_for(wishes, is_open=is_open, has_sources=is_given)
        yield from answer_with(
            model, asking.question, asking.history, draft, cancel,
            instructions=in_manner(rules, asking.setup.settings.preferences),
            attached=attached,
        )  # fmt: skip

    def _join_attached(self, draft: AnswerDraft, asking: Asking) -> None:
        """What attached files say of the question stands before what the library says."""
        about, near = self._attached.relevant(
            asking.attachments, draft.asked, asking.setup.settings.retrieval
        )
        draft.send(numbered_anew([*about, *draft.sources]))
        nearest = [] if draft.sources else [*near, *draft.nearest]
        draft.nearest = numbered_anew(nearest[:_NEAREST])

    def _placed(self, sources: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        """The sources with cited ones at the place of their quote: a row, not the whole table."""
        return tuple(
            replace(source, anchor=self._place(source)) if source.quote else source
            for source in sources
        )

    def _place(self, source: SourceRef) -> Anchor:
        places = self._documents.content(source.document_id)[1]
        return place_of(places, source.start, source.end) or source.anchor

    def _from_excerpts(self, draft: AnswerDraft, said: str) -> Iterator[AnswerEvent]:
        draft.is_excerpts = True
        yield SourcesFound(draft.sources, draft.notes)
        asked = parse_query(draft.asked).text or draft.asked
        asked = draft.notes.repair(asked) if draft.notes else asked
        draft.text = excerpts(asked, draft.sources, self._embedder, said)
        yield TextDelta(draft.text)

    def _from_nothing(self, draft: AnswerDraft, reach: SearchScope) -> Iterator[AnswerEvent]:
        """Say that there is nothing to answer from; no model is asked to make something up."""
        yield SourcesFound((), draft.notes)
        counts = self._documents.counts()
        if draft.nearest:
            draft.text = _NOTHING_RELEVANT[min(len(reach.collection_ids), 2)]
        else:
            draft.text = NOTHING_FOUND if counts.total else NOTHING_THERE
        if counts.unread:
            files = "1 file has" if counts.unread == 1 else f"{counts.unread:,} files have"
            draft.text += f"\n\n{UNREAD.format(files)}"
        yield TextDelta(draft.text)


def texts_of(attachments: Sequence[Attachment]) -> tuple[str, ...]:
    """The ids of those with text that an answer can cite."""
    return tuple(a.attachment_id for a in attachments if a.has_text)


def wants_summary(question: str, attachments: Sequence[Attachment]) -> bool:
    """Whether documents are to be summarised: of images alone, a model is asked about these."""
    return asks_for_summary(question) and bool(texts_of(attachments) or not attachments)


def _tell(draft: AnswerDraft, setup: Setup) -> None:
    if setup.hints:
        notes = draft.notes or SearchNotes()
        draft.notes = replace(notes, hints=(*notes.hints, *setup.hints))


def _said_before(draft: AnswerDraft, asking: Asking) -> str:
    """The answer before, for a question that goes on from it and wants to know more."""
    answers = [message.text for message in asking.history if message.role is Role.ASSISTANT]
    return answers[-1] if answers and draft.asked != asking.question else ""
