"""Answers questions from the library, or through the wrap around an assistant with rails.

Finds sources, quotes them or has a model answer from them, then checks and locates the citations.
Runs on the answering thread; only `answer_and_store` stores anything.
"""

import itertools
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from desktop_rag.answer.checking.answer_claims import says_nothing
from desktop_rag.answer.checking.disputes import (
    ClaimChecks,
    Dispute,
    checked_dispute,
    excerpt,
    remark,
)
from desktop_rag.answer.conversations.personal import Memory
from desktop_rag.answer.conversations.unfinished_answers import AnswerStart, UnfinishedAnswers
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.answer.counting.count_answer import CountAnswer
from desktop_rag.answer.counting.counted_set import CountedSets
from desktop_rag.answer.counting.counting_question import asks_for_rows, counting_language
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.map_reduce.file_answers import FewFiles, Summaries
from desktop_rag.answer.map_reduce.map_reduce import MapReduce
from desktop_rag.answer.prompting.prompt import (
    IMAGE_TOKENS,
    WITHOUT_DOCUMENTS,
    Prompt,
    PromptExtras,
    build_prompt,
    in_manner,
    instructions_for,
    with_instructions,
)
from desktop_rag.answer.search.question_terms import is_written_out, without_names
from desktop_rag.answer.small_talk import reply_for
from desktop_rag.answer.sources.attachments import AttachedSources, Attachments
from desktop_rag.answer.sources.question_rewriting import (
    answer_before,
    asking_words,
    content_words,
    question_parts,
    refers_back,
    ways_to_ask,
)
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_headings import described
from desktop_rag.answer.sources.source_merging import located, numbered_anew, with_earlier
from desktop_rag.answer.tables.cell_values import asks_how_much, asks_when
from desktop_rag.answer.tables.table_answer import TableAnswer, is_query
from desktop_rag.answer.tools.document_tools import DocumentTools
from desktop_rag.answer.tools.model_answer import answer_with
from desktop_rag.answer.understanding.file_words import asks_for_content, compares, is_comparison
from desktop_rag.answer.understanding.named_answer import NamedAnswer
from desktop_rag.answer.understanding.scoping import ChosenScope, Scoping, unknown_name
from desktop_rag.answer.weak_model import add_words
from desktop_rag.answer.writing.answer_texts import refusals, texts_for
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.answer.writing.excerpt_candidates import (
    Candidate,
    has_figure,
    has_time,
    surroundings_of,
)
from desktop_rag.answer.writing.extractive_answer import excerpts, nearest_piece, quoted
from desktop_rag.answer.writing.relevance import Doubt, NamesAsked, in_other_languages
from desktop_rag.core.conversation import (
    AnswerEvent,
    Image,
    Interaction,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.domain import shown_name
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.languages import OTHER_LATIN, UNKNOWN, question_language
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import NamedFiles
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.core.terms import terms
from desktop_rag.models.ports import ChatModel, Embedder, Reader
from desktop_rag.store.contract.engine import Engine

_NEAREST = 3
_FEWEST_PARTS = 2
_HOW_TO_GET_ONE = (
    "No model is connected. Connect one in the settings, or ask about all documents: then the"
    " answer is made of excerpts."
)
# By the number of collections searched; none means all documents.
_NOTHING_RELEVANT = ("nothing_relevant", "nothing_relevant_here", "nothing_relevant_among")


@dataclass(frozen=True, slots=True)
class FinishedAnswer:
    """The message that answers a question, and how it was made."""

    message: Message
    has_several_steps: bool


class AnswerWrap(Protocol):
    """Wraps the answers of assistants with rails; no other question reaches it."""

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        ...

    def answer(
        self, request: AnswerRequest, service: "AnswerService"
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The finished answer, failed or not; `service.own_answer` makes the app's own answers."""
        ...


class AnswerService:
    """Answers requests; the chat and the wrap use its public parts too."""

    def __init__(
        self,
        finder: SourceFinder,
        engine: Engine,
        embedder: Embedder | None,
        models: ChatModels,
        *,
        conversations: UnstoredChats,
        memory: Memory,
        checks: ClaimChecks,
        wrap: AnswerWrap | None = None,
    ) -> None:
        """Without an embedder, sentences are chosen by words; without a `wrap`, rails fail."""
        self.finder = finder
        self.models = models
        self.check = checks.check
        self._dispute_of = checks.dispute_of
        self._documents = documents = engine.documents
        self.chosen = ChosenScope(finder, documents, engine.names)
        self.scoping = Scoping(engine.names, documents, engine.sources.collections, self.chosen)
        self.attachments = Attachments(engine.attachments, models)
        self.unfinished = UnfinishedAnswers(engine, partial(located, self._documents.content))
        self._conversations = conversations
        self._memory = memory
        self._wrap = wrap
        self._table_answer = TableAnswer(documents, engine.tables, finder.meaning_of)
        self._tools = DocumentTools(finder, documents, self._table_answer)
        self._attached = AttachedSources(finder, documents)
        self._named = NamedAnswer(finder, documents)
        self._asked_names = NamesAsked(finder.reader, finder.count_files, documents, engine.names)
        self._counting = CountAnswer(CountedSets(finder, documents, engine.names))
        map_reduce = MapReduce(documents, finder.count_tokens)
        self._few_files = FewFiles(finder, documents, map_reduce, models)
        self._summaries = Summaries(finder, embedder, map_reduce)
        self._before_next: dict[str, Callable[[], None]] = {}

    def do_before_next(self, conversation_id: str, do: Callable[[], None]) -> None:
        """Call `do` once, as soon as another question is asked in this chat."""
        if conversation_id:
            self._before_next[conversation_id] = do

    def answer(self, request: AnswerRequest) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The finished answer; yields the events on the way. Failures end in the message."""
        if do := self._before_next.pop(request.conversation_id, None):
            do()
        assistant = request.setup.assistant
        if assistant is None or not assistant.rails or request.refusal:
            return self.own_answer(request)
        if self._wrap is None:
            return _not_answered(request)
        return self._wrap.answer(request, self)

    def answer_and_store(
        self, request: AnswerRequest, *, again_to: Message | None = None
    ) -> Generator[AnswerEvent, None, Message]:
        """The stored answer; yields the events on the way. It is saved as it grows.

        It replaces the last answer to the question `again_to`, if there is one. An answer from
        every file stands below that one, and replaces only one of its kind.
        """
        with self.unfinished.keeping(self._start_of(request, again_to)) as keeper:
            finished = yield from keeper.noting(self.answer(request))
            done = replace(finished.message, message_id=keeper.answer_id)
            # The answer of now: since the start, a former one may have been put back.
            if again_to and (present := self._answer_to(again_to, request)):
                self._conversations.replace_message(present.message_id, done)
            else:
                self._conversations.add_message(done)
            done = self._conversations.as_kept(done)
            keeper.is_stored = not done.is_unstored
            if request.uses_memory:
                self._memory.record(
                    request.question,
                    done,
                    has_several_steps=finished.has_several_steps,
                    assistant_id=request.setup.assistant_id,
                )
        return done

    def _start_of(self, request: AnswerRequest, again_to: Message | None) -> AnswerStart:
        former = self._answer_to(again_to, request) if again_to else None
        return AnswerStart(
            request.conversation_id,
            request.setup.settings.endpoint.model,
            request.setup.is_open,
            former.message_id if former else "",
            request.scope if request.scope.is_without_documents else ALL_DOCUMENTS,
            is_kept=not self._conversations.is_in_memory(request.conversation_id),
        )

    def _answer_to(self, question: Message, request: AnswerRequest) -> Message | None:
        """The last answer of the requested kind; a cut new version stands below the former one."""
        messages = self._conversations.messages(question.conversation_id)
        later = itertools.dropwhile(lambda m: m.message_id != question.message_id, messages)
        after = itertools.islice(later, 1, None)
        answers = itertools.takewhile(lambda m: m.role is Role.ASSISTANT, after)
        of_kind = [m for m in answers if m.is_of_every_file == request.every_file]
        return of_kind[-1] if of_kind else None

    def first_prompt(self, request: AnswerRequest, reader: Reader) -> Prompt:
        """What a model with this context would be sent at first, without asking one."""
        request = self.scoping.applied(request)
        draft = AnswerDraft(request.conversation_id, request.question, request.query)
        self.finder.add_sources(draft, request, None, reader)
        if request.named:
            self._named.read_for(reader, draft, request.named)
        tables = self._tables(draft, request)
        list(self._table_answer.add_result(draft, None, request.cancel, *tables))
        return build_prompt(
            request.question,
            draft.sources,
            (),
            context_tokens=reader.context_tokens,
            count_tokens=reader.count_tokens,
            fence=secrets.token_hex(8),
            extras=described(self._documents, draft.sources),
        )

    # --- the app's own answer ------------------------------------------------------------------

    def own_answer(self, request: AnswerRequest) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """The app's own answer; as `answer`, without rails."""
        request = self.scoping.applied(request)
        draft = AnswerDraft(
            request.conversation_id, request.question, request.query, began_at=request.began_at
        )
        try:
            if request.scope.is_without_documents:
                yield from self._without_documents(draft, request)
            else:
                yield from self._from_documents(draft, request)
        except AppError as error:
            done = draft.message(MessageState.FAILED, error.title, error.hint)
        else:
            state = MessageState.STOPPED if request.cancel.is_set() else MessageState.DONE
            done = draft.message(state)
        sources = located(self._documents.content, done.sources)
        return FinishedAnswer(replace(done, sources=sources), draft.has_several_steps)

    def _from_documents(self, draft: AnswerDraft, request: AnswerRequest) -> Iterator[AnswerEvent]:
        """Answer; a weak model only adds to what the app quotes by itself."""
        if refusal := request.refusal:
            raise refusal
        model = self.models.main(request.setup)
        if not model or not model.is_weak or self._images(request):
            yield from self._fill(draft, request, model)
            return
        yield from self._fill(draft, request, None)
        if draft.is_excerpts and not draft.has_several_steps:
            told = described(self._documents, draft.sources)
            yield from add_words(model, draft, request, told, self.check)

    def _fill(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None
    ) -> Iterator[AnswerEvent]:
        setup = request.setup
        if reply := reply_for(request, is_open=bool(model) and setup.is_open):
            draft.text = reply
            yield TextDelta(reply)
            return
        if request.named and request.named.unread:
            self._add_hints(draft, request)
            yield from self._named.without_text(draft, request.named)
            return
        if (yield from self._counted(draft, request)):
            return
        if request.is_summary or (compares(request) and not model):
            yield from self._summarised(draft, request, model)
        else:
            yield from self._from_search(draft, request, model)
        if draft.sources or draft.sees_images or request.cancel.is_set():
            return
        if request.named and not model:
            text = request.query.text
            is_told, language = asks_for_rows(text), counting_language(text)
            yield from self._named.outline(draft, request, is_answer=is_told, language=language)
        if draft.sources:
            return
        if model and setup.is_open and not request.is_summary:
            yield from self._from_model(model, draft, request)
        else:
            yield from self._from_nothing(draft, request)

    def _summarised(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None
    ) -> Iterator[AnswerEvent]:
        self._add_hints(draft, request)
        if request.named and request.named.names and not model:
            yield from self._named.outline(draft, request, is_comparison=not request.is_summary)
        else:
            draft.has_several_steps = True
            yield from self._summaries.answer(draft, request, model)

    def _counted(
        self, draft: AnswerDraft, request: AnswerRequest
    ) -> Generator[AnswerEvent, None, bool]:
        """Answer a question for a number or a list of records; False for any other."""
        if request.is_summary:
            return False
        helper = self.models.helper(request.setup)
        is_counted = yield from self._counting.answer(draft, request, helper)
        if is_counted:
            self._add_hints(draft, request)
        return is_counted

    def _add_hints(self, draft: AnswerDraft, request: AnswerRequest) -> None:
        incomplete = self.finder.incomplete(request.setup.reach, request.question)
        hints = (*request.setup.hints, *incomplete)
        if name := unknown_name(request):
            hints += (tr("No file is called “{name}”.", name=name),)
        named = request.named or NamedFiles(())
        if hints or named.names:
            notes = draft.notes or SearchNotes()
            hints = tuple(dict.fromkeys((*notes.hints, *named.hints, *hints)))
            draft.notes = replace(notes, hints=hints, scope=named.names or notes.scope)

    def _without_documents(
        self, draft: AnswerDraft, request: AnswerRequest
    ) -> Iterator[AnswerEvent]:
        """Ask the model without a search; without a model, quote the attached files."""
        draft.scope = request.scope
        if refusal := request.setup.refusal:
            raise refusal
        if model := self.models.main(request.setup):
            yield from self._from_model(model, draft, request)
            return
        self._join_attached(draft, request)
        if not (draft.sources or draft.nearest):
            raise AppError("Without documents, only a model can answer.", _HOW_TO_GET_ONE)
        yield from self._from_excerpts(draft, request)
        if not draft.sources:
            yield from self._from_nothing(draft, request)

    def _from_search(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None
    ) -> Iterator[AnswerEvent]:
        helper = self.models.helper(request.setup)
        self.finder.add_sources(draft, request, helper, model)
        is_dispute = self._dispute_of(request.question, request.history) is not None
        if is_dispute and (before := self.finder.before(request)):
            draft.sources, draft.nearest = with_earlier(draft.sources, before), ()
        self._add_hints(draft, request)
        is_whole = False
        if model and request.named:
            is_whole = self._named.read_for(model, draft, request.named)
        is_sql = is_query(request.question)
        if not (model or is_sql) and (yield from self._part_by_part(draft, request)):
            return
        if (is_sql or not (model or request.every_file)) and self._by_rule(draft, request):
            yield SourcesFound(draft.sources, draft.notes)
            yield TextDelta(draft.text)
            return
        if model and not request.every_file:
            asked, tables = None if model.calls_tools else model, self._tables(draft, request)
            yield from self._table_answer.add_result(draft, asked, request.cancel, *tables)
        is_too_long = bool(model) and not is_whole and compares(request)
        if request.every_file or is_too_long:
            yield from self._few_files.answer(draft, request, model)
        elif model and (draft.sources or self._has_readable_attachment(request)):
            yield from self._from_model(model, draft, request)
            if not (is_whole or model.calls_tools) and says_nothing(draft.text):
                yield from self._few_files.read_on(draft, request, model)
        elif not model:
            self._join_attached(draft, request)
            yield from self._from_excerpts(draft, request)

    def _part_by_part(
        self, draft: AnswerDraft, request: AnswerRequest
    ) -> Generator[AnswerEvent, None, bool]:
        """Quote what answers each part of a question that has several; False for any other."""
        # A question that was completed from the conversation has the one before it as a part.
        is_own = draft.query == request.query and not self._dispute_of(
            request.question, request.history
        )
        is_limited = request.every_file or request.named or request.attachments
        parts = question_parts(request.query.text) if is_own and not is_limited else []
        if len(parts) < _FEWEST_PARTS:
            return False
        said, sources, history = list[str](), list[SourceRef](), tuple[Message, ...]()
        for part, ways in ways_to_ask(parts, self.finder.reader.named_things):
            # "Who repairs it, and what does that cost?": the second is a follow-up of the first.
            before = history if refers_back(part) else ()
            asked = replace(request, history=before)
            asked, found, text = self._of_part(asked, ways, sources)
            sources += [s for s in found.sources if s.n > len(sources)] if text else ()
            found.nearest = found.sources
            said.append(f"**{quoted(part)}**\n\n{text or self._not_found(found, asked)}")
            # Without its text: what it quotes may answer this part as well.
            cited = tuple(replace(s, is_cited=True) for s in found.sources if f"[{s.n}]" in text)
            answer = Message("", "", Role.ASSISTANT, "", 0.0, sources=cited)
            history = (Message("", "", Role.USER, part, 0.0), answer)
        if not sources:
            return False
        draft.sources, draft.nearest = tuple(sources), ()
        draft.is_excerpts, draft.text = True, "\n\n".join(said)
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(draft.text)
        return True

    def _of_part(
        self, request: AnswerRequest, ways: Sequence[str], before: Sequence[SourceRef]
    ) -> tuple[AnswerRequest, AnswerDraft, str]:
        """What surely answers one of the ways to ask a part, or the last one.

        A passage of the parts `before` keeps its number.
        """
        way, *others = ways
        taken = len(before)
        query = replace(request.query, text=way, phrases=())
        asked = replace(request, question=way, query=query)
        found = AnswerDraft(asked.conversation_id, way, asked.query)
        self.finder.add_sources(found, asked, None, None)
        if self._by_rule(found, asked):
            found.sources = (replace(found.sources[0], n=taken + 1),)
            return asked, found, found.text.replace("[1]", f"[{taken + 1}]")
        is_doubtful = not found.sources
        known, free = {s.passage: s.n for s in before}, itertools.count(taken + 1)
        found.sources = tuple(
            replace(source, n=known.get(source.passage) or next(free))
            for source in found.sources or found.nearest
        )
        text = self._quoted(found, asked, is_doubtful=is_doubtful) if found.sources else ""
        if others and (not text or found.is_unsure):
            return self._of_part(request, others, before)
        return asked, found, self._hedged(text, found, asked)

    def _hedged(self, text: str, draft: AnswerDraft, request: AnswerRequest) -> str:
        """The excerpts, behind the words that they may not be about the question."""
        language = request.setup.settings.preferences.language
        hedge = refusals(request.question, language).said("perhaps")
        return f"{hedge}\n\n{text}" if text and draft.is_unsure else text

    def _tables(
        self, draft: AnswerDraft, request: AnswerRequest
    ) -> tuple[Callable[[], Sequence[SourceRef]], Callable[[], Sequence[SourceRef]]]:
        query, setup = replace(draft.query, phrases=()), request.setup
        sheets = partial(self.finder.sheets, query, setup.settings.retrieval, setup.reach)
        return partial(self._from_attached, request, draft), sheets

    def _by_rule(self, draft: AnswerDraft, request: AnswerRequest) -> bool:
        """Answer by a query that needs no model; False where none fits."""
        texts = texts_for(request.question, request.setup.settings.preferences.language)
        tables = self._tables(draft, request)
        return self._table_answer.answer_by_rule(draft, request.cancel, *tables, texts)

    def _from_excerpts(self, draft: AnswerDraft, request: AnswerRequest) -> Iterator[AnswerEvent]:
        """Quote what answers the question.

        When nothing in the sources is about it, they become the nearest passages, without an event.
        """
        is_doubtful = not draft.sources
        draft.send(draft.sources or draft.nearest)
        draft.nearest = ()
        if not draft.sources:
            return
        text = self._disputed(draft, request) or self._quoted(
            draft, request, is_doubtful=is_doubtful
        )
        if not text:
            draft.nearest = draft.sources[:_NEAREST]
            draft.send(())
            return
        draft.is_excerpts, draft.text = True, self._hedged(text, draft, request)
        if draft.is_unsure:
            draft.notes = replace(draft.notes or SearchNotes(), is_unsure=True)
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(draft.text)

    def _disputed(self, draft: AnswerDraft, request: AnswerRequest) -> str:
        dispute = self._dispute_of(request.question, request.history)
        return excerpt(checked_dispute(dispute, draft.sources, self.check)) if dispute else ""

    def _quoted(self, draft: AnswerDraft, request: AnswerRequest, *, is_doubtful: bool) -> str:
        """What answers the question. Where it tells in which files that is, only passages that are
        doubtful have to be about it: a row for "2022" means little and may be the answer.
        """
        asked = draft.plain_question
        asked = draft.notes.repair(asked) if draft.notes else asked
        language = request.setup.settings.preferences.language
        older = texts_for(request.question, language).said("older")
        around = surroundings_of(self._documents, draft.sources, older)
        meaning = self.finder.meaning_of(asked)
        is_told_where = bool(request.named or request.attached_ids) and not is_doubtful
        named, texts = self.finder.reader.named_things(asked), [s.text for s in draft.sources]
        names = [name for name in named if not is_written_out(" ".join(name), texts)]
        across = in_other_languages(asked, meaning, around)
        apart = self._asked_names.apart(names, request, draft.sources, across)
        bare = without_names(asked, names)
        # "Who is …", "Tell me about …": whatever is said of it.
        # In another language than English, a capital letter may mark no name.
        is_clear = bool(names) and question_language(asked) not in {UNKNOWN, OTHER_LATIN}
        is_bare = bool(names) and not (content_words(bare) and not asks_for_content(bare))
        is_about_name = is_bare and len(apart) < len(draft.sources)
        before = answer_before(request.history, request.query.text, draft.asked)
        others = () if names else draft.sources
        of_others = self._asked_names.of_others(request.question, others)
        asking = frozenset(terms(" ".join(asking_words(asked))))
        doubt = Doubt(apart, bare if is_clear else "", is_doubtful, of_others, asking)
        at_home = [source for source in draft.sources if source.document_id in draft.home]
        said = [
            excerpts(
                asked, sources, meaning, before, around,
                wanted=_wanted_by(asked),
                is_comparison=is_comparison(asked),
                doubt=None if is_told_where or is_about_name else doubt,
            )
            for sources in (at_home, [s for s in draft.sources if s not in at_home]) if sources
        ]  # fmt: skip
        sure = "\n\n".join(text for text, is_sure in said if is_sure)
        text = sure or "\n\n".join(text for text, _ in said if text)
        draft.is_unsure = not sure
        near = [s for s in draft.sources if s.n not in apart and s.n not in across]
        known = " ".join(word for name in names for word in name) if near else ""
        if not text and (
            piece := nearest_piece(asked, near or draft.sources, meaning, around, known)
        ):
            [source] = [source for source in draft.sources if source.n == piece.n]
            name = shown_name(source.path) or source.title
            draft.nearest_said = f"**{quoted(name)}**: {quoted(piece.text)}"
        return text

    def _remark(self, dispute: Dispute, sources: Sequence[SourceRef], fence: str) -> str:
        return remark(checked_dispute(dispute, sources, self.check), fence)

    def _images(self, request: AnswerRequest) -> tuple[Image, ...]:
        return self.attachments.images(request.attachments, request.setup.settings.endpoint)

    def _has_readable_attachment(self, request: AnswerRequest) -> bool:
        """False when only the names of attachments are known, as in an imported chat."""
        return bool(request.attached_ids or self._images(request))

    def _from_attached(self, request: AnswerRequest, draft: AnswerDraft) -> list[SourceRef]:
        relevant, nearest = self._attached.relevant(request, draft.query)
        return [*relevant, *nearest]

    def _examples(self, draft: AnswerDraft, request: AnswerRequest) -> tuple[Interaction, ...]:
        if not request.uses_memory:
            return ()
        return self._memory.examples(
            draft.asked,
            draft.plain_question,
            conversation_id=request.conversation_id,
            assistant_id=request.setup.assistant_id,
        )

    def _from_model(
        self, model: ChatModel, draft: AnswerDraft, request: AnswerRequest
    ) -> Iterator[AnswerEvent]:
        setup, images = request.setup, self._images(request)
        has_sources = bool(draft.sources) or self._has_readable_attachment(request)
        is_open = setup.is_open or request.scope.is_without_documents
        draft.is_open, draft.is_own_knowledge = is_open, not has_sources
        draft.sees_images = bool(images)
        if has_sources:
            draft.nearest = ()
            # Examples are answers from sources.
            draft.examples = self._examples(draft, request)

        dispute = self._dispute_of(request.question, request.history) if has_sources else None

        def attached(context_tokens: int) -> PromptExtras:
            room = context_tokens - IMAGE_TOKENS * len(images)
            sources = self._attached.for_prompt(request, draft.query, room, model)
            extras = described(self._documents, [*sources, *draft.sources])
            extras = replace(extras, attached=sources, images=images)
            return replace(extras, remark=partial(self._remark, dispute)) if dispute else extras

        rules = (
            with_instructions(WITHOUT_DOCUMENTS, setup.instructions)
            if request.scope.is_without_documents and not has_sources
            else instructions_for(setup.instructions, is_open=is_open, has_sources=has_sources)
        )
        yield from answer_with(
            model, request, draft,
            instructions=in_manner(rules, setup.settings.preferences),
            attached=attached,
            tools=self._tools if has_sources else None,
        )  # fmt: skip

    def _join_attached(self, draft: AnswerDraft, request: AnswerRequest) -> None:
        """Put the passages of attached files before those of the library."""
        relevant, nearest = self._attached.relevant(request, draft.query)
        draft.send(numbered_anew([*relevant, *draft.sources]))
        others = [] if draft.sources else [*nearest, *draft.nearest]
        draft.nearest = numbered_anew(others)

    def _from_nothing(self, draft: AnswerDraft, request: AnswerRequest) -> Iterator[AnswerEvent]:
        """Say that there is nothing to answer from. No model is asked: it would make things up."""
        counts = self._documents.counts(readable=request.setup.reach.readable)
        if not (draft.nearest or counts.total):
            draft.notes = replace(draft.notes or SearchNotes(), files=None)
        yield SourcesFound((), draft.notes)
        draft.text = self._not_found(draft, request)
        yield TextDelta(draft.text)

    def _not_found(self, draft: AnswerDraft, request: AnswerRequest) -> str:
        """That nothing answers the question, or a name in it is nowhere, and what comes nearest."""
        reach = request.setup.reach
        texts = refusals(request.question, request.setup.settings.preferences.language)
        counts = self._documents.counts(readable=reach.readable)
        if draft.nearest:
            why = _NOTHING_RELEVANT[min(len(reach.collection_ids), 2)]
        else:
            why = "nothing_found" if counts.total else "nothing_there"
        is_all = why in {"nothing_relevant", "nothing_found"} and not request.named
        missing = self._asked_names.missing(request, draft.nearest) if is_all else []
        names = ", ".join(f"**{quoted(name.text)}**" for name in missing)
        none = texts.counted("not_there", len(missing), names=names) if missing else ""
        said = [none or texts.said(why)]
        if draft.nearest_said:
            said += [texts.said("nearest"), draft.nearest_said]
        if counts.unread:
            said.append(texts.counted("unread", counts.unread))
        return "\n\n".join(said)


def _wanted_by(question: str) -> Callable[[Candidate], bool] | None:
    if counting_language(question) or asks_how_much(question):
        return has_figure
    return has_time if asks_when(question) else None


def _not_answered(request: AnswerRequest) -> Generator[AnswerEvent, None, FinishedAnswer]:
    """The failed answer of an assistant whose rails can't run here."""
    draft = AnswerDraft(request.conversation_id, began_at=request.began_at)
    title = "The rails of this assistant can't be used here."
    yield from ()
    return FinishedAnswer(draft.message(MessageState.FAILED, title), has_several_steps=False)
