"""Answers questions for the number or the list of records by reading and counting. Worker threads.

Code finds the records and counts them. A model is asked only whether one of them meets a condition
that its fields and words don't tell.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from threading import Event

from desktop_rag.answer.counting.conditions import Judged, Verdict, has_word, judged
from desktop_rag.answer.counting.counted_set import CountedSet, CountedSets
from desktop_rag.answer.counting.counting_text import MOST_CITED, Counted, Note, text_of
from desktop_rag.answer.counting.counting_words import (
    CountingQuestion,
    content_words,
    counting_question,
    head_words,
)
from desktop_rag.answer.counting.file_count import file_count
from desktop_rag.answer.counting.item_judging import ItemVerdicts, ask_items, batches_of
from desktop_rag.answer.counting.record_choice import Choice, chosen
from desktop_rag.answer.counting.record_forms import Kind, Record
from desktop_rag.answer.counting.record_names import AROUND, DIRECT
from desktop_rag.answer.counting.record_structures import structures_in
from desktop_rag.answer.sources.source_merging import numbered
from desktop_rag.answer.sources.whole_text import passage_of
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.answer.writing.answer_texts import AnswerTexts, texts_for
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import (
    AnswerEvent,
    FileCounts,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.models.ports import ChatModel

# More requests than these are made only after the person agreed.
_MOST_REQUESTS = 6
_SAMPLE = 8
_LEAST_SAMPLE_SHARE = 0.75
_UNIFORM = 0.6
_LONGEST_SOURCE_CHARS = 600
# What is a record by its form, whatever it has in common with others.
_RECORDS = (Kind.FILE, Kind.TASK, Kind.ROW)


@dataclass(slots=True)
class _Asked:
    """What a model said about records, and why it was not asked about all of them."""

    verdicts: dict[int, bool]
    model: str = ""
    note: Note | None = None


class CountAnswer:
    """Fills drafts with numbers and lists of records."""

    def __init__(self, sets: CountedSets) -> None:
        self._sets = sets

    def answer(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None, cancel: Event
    ) -> Generator[AnswerEvent, None, bool]:
        """Answer a question about records; False, with an untouched draft, for any other.

        Yields FileAsked before each request to the model, then SourcesFound and TextDelta.
        """
        question = counting_question(request.query.text)
        if question is None or request.attachments:
            return False
        preferred = request.setup.settings.preferences.language
        texts = texts_for(request.question, preferred, question.language.code)
        files = self._sets.library_files(request)
        if files and (text := file_count(question, files, texts)):
            draft.text = text
            yield TextDelta(text)
            return True
        counted_set = self._sets.of(request, content_words(question))
        if counted_set is None:
            return False
        structures = structures_in(counted_set.documents)
        choice = chosen(question, structures, counted_set.names)
        if choice is None or not (
            yield from _is_sure(choice, question, counted_set, model, cancel)
        ):
            return False
        found = judged(choice.records, choice.condition, question)
        asked = yield from _ask_about_open(choice, found, request, model, cancel)
        counted = _counted(question, choice, found, asked, counted_set)
        _write(draft, counted, counted_set, texts)
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(draft.text)
        return True


def _is_sure(
    choice: Choice,
    question: CountingQuestion,
    counted_set: CountedSet,
    model: ChatModel | None,
    cancel: Event,
) -> Generator[AnswerEvent, None, bool]:
    """True when the records are certainly those that the question asks for.

    A wrong count is worse than none: where names don't tell, a model is asked about some of the
    records, and without one only a plain "how many are there" is answered.
    """
    named = [noun for noun in choice.nouns if not question.language.is_form(noun)]
    if named and set(head_words(question)).isdisjoint(named):
        return False  # "How many stores does the chain have?" where records are of the chain
    if not counted_set.is_given and not _are_records(choice, question):
        return False
    if choice.strength >= DIRECT or (choice.strength == AROUND and counted_set.is_limited):
        return True
    if not counted_set.is_limited or question.is_loose:
        return False
    is_form_clear = choice.structure.uniformity >= _UNIFORM or choice.structure.kind is Kind.FILE
    if not choice.nouns:
        return is_form_clear
    [noun] = choice.nouns
    if noun in question.language.sets["measures"]:
        return False
    if model is not None:
        return (yield from _are(noun, choice.records, model, cancel))
    is_told = any(has_word(record, noun) for record in choice.records)
    return is_form_clear and not is_told and not choice.condition


def _are_records(choice: Choice, question: CountingQuestion) -> bool:
    """True for records by their fields, and for others whose words tell which of them are meant.

    Nobody said that there are records here: the parts of a text under a heading are none.
    """
    fields = choice.structure.shared.keys()
    alike = sum(not fields.isdisjoint(record.fields) for record in choice.records)
    if choice.structure.uniformity >= _UNIFORM and alike >= _UNIFORM * len(choice.records):
        return True
    found = judged(choice.records, choice.condition, question)
    return choice.structure.kind in _RECORDS and Verdict.OPEN not in found.verdicts


def _are(
    noun: str, records: Sequence[Record], model: ChatModel, cancel: Event
) -> Generator[AnswerEvent, None, bool]:
    """True when the model says of most of a sample that each is one of what the noun names."""
    step = max(1, len(records) // _SAMPLE)
    sample = records[::step][:_SAMPLE]
    found = ItemVerdicts()
    asked = f"Does the whole entry describe exactly one item of the kind “{noun}”?"
    try:
        yield from ask_items(asked, sample, model, cancel, found)
    except AppError:
        return False
    return sum(found.said.values()) >= _LEAST_SAMPLE_SHARE * len(sample)


def _ask_about_open(
    choice: Choice,
    found: Judged,
    request: AnswerRequest,
    model: ChatModel | None,
    cancel: Event,
) -> Generator[AnswerEvent, None, _Asked]:
    """Ask the model about the records whose words don't tell, if it takes few requests."""
    places = [n for n, verdict in enumerate(found.verdicts) if verdict is Verdict.OPEN]
    if not places:
        return _Asked({})
    if model is None:
        return _Asked({}, note=Note("without_model"))
    records = [choice.records[place] for place in places]
    requests = len(batches_of(records, model))
    if requests > _MOST_REQUESTS and not request.every_file:
        return _Asked({}, note=Note("many_requests", {"count": requests}))
    verdicts, note = ItemVerdicts(), None
    try:
        yield from ask_items(request.question, records, model, cancel, verdicts)
    except AppError as error:
        note = Note("not_judged", {"reason": error.title})
    return _Asked({places[n]: v for n, v in verdicts.said.items()}, model.name, note)


def _counted(
    question: CountingQuestion,
    choice: Choice,
    found: Judged,
    asked: _Asked,
    counted_set: CountedSet,
) -> Counted:
    met: list[Record] = []
    left: list[Record] = []
    for place, (record, verdict) in enumerate(zip(choice.records, found.verdicts, strict=True)):
        is_met = asked.verdicts.get(place, verdict is Verdict.YES)
        if is_met:
            met.append(record)
        elif verdict is Verdict.OPEN and place not in asked.verdicts:
            left.append(record)
    is_limited = bool(choice.condition) or not all(v is Verdict.YES for v in found.verdicts)
    return Counted(
        choice,
        _as_written(choice.nouns, question),
        _condition_in_words(question, choice) if is_limited else "",
        tuple(met),
        tuple(left),
        met_by=found.met_by,
        judge=asked.model,
        asked=len(asked.verdicts),
        unread=counted_set.unread,
        note=asked.note,
    )


def _as_written(nouns: Sequence[str], question: CountingQuestion) -> str:
    """The nouns as the question spells them."""
    written = [word.strip('.,;:!?"“”„') for word in question.rest.replace("’", "'").split()]
    return " ".join(w for w in written if any(w.casefold().endswith(noun) for noun in nouns))


def _condition_in_words(question: CountingQuestion, choice: Choice) -> str:
    """What the question asks of the records, without the words that name them."""
    written = question.rest.split()
    kept = [w for w in written if w.casefold().strip(".,;:!?") not in choice.nouns]
    return " ".join(kept) or question.rest


def _write(
    draft: AnswerDraft, counted: Counted, counted_set: CountedSet, texts: AnswerTexts
) -> None:
    draft.sources = _sources([*counted.met, *counted.open][:MOST_CITED])
    draft.nearest = ()
    draft.is_excerpts = draft.has_several_steps = True
    draft.text = text_of(counted, texts)
    read = len(counted_set.documents)
    matched = len({source.document_id for source in draft.sources})
    draft.notes = replace(draft.notes or SearchNotes(), files=FileCounts(matched, read))


def _sources(records: Sequence[Record]) -> tuple[SourceRef, ...]:
    """A source for each record, at the place where it begins."""
    places: dict[str, Places] = {}
    passages = []
    for record in records:
        document = record.source.document
        if document.document_id not in places:
            marks, headings, _ = places_from_json(record.source.places)
            places[document.document_id] = Places(marks, headings)
        text = record.text[:_LONGEST_SOURCE_CHARS].rstrip()
        place = places[document.document_id].anchor(record.start, record.start + len(text))
        passage = passage_of(document, text, "", record.start)
        passages.append(replace(passage, anchor=place or Anchor()))
    return numbered(passages)
