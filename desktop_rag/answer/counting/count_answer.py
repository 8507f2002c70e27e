"""Answers questions for the number or the list of records by reading and counting. Worker threads.

Code finds the records and counts them. A model is asked only whether one of them meets a condition
that its fields and words don't tell.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from threading import Event

from desktop_rag.answer.counting.conditions import (
    Judged,
    MetBy,
    Verdict,
    ask_items,
    batches_of,
    has_word,
    judged,
)
from desktop_rag.answer.counting.counted_set import CountedSet, CountedSets, file_count
from desktop_rag.answer.counting.counting_question import (
    CountingQuestion,
    content_words,
    counting_question,
    head_words,
    matter_words,
    names_thing,
    plain_words,
)
from desktop_rag.answer.counting.record_structures import (
    AROUND,
    DIRECT,
    FoundStructure,
    Kind,
    Record,
    names_any,
    near,
    strength,
    structures_in,
)
from desktop_rag.answer.sources.attachments import passage_of
from desktop_rag.answer.sources.source_merging import numbered
from desktop_rag.answer.writing.answer_texts import AnswerTexts, texts_for
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.answer.writing.extractive_answer import quoted
from desktop_rag.core.conversation import (
    AnswerEvent,
    FileCounts,
    SearchNotes,
    SourceRef,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.places import Places, places_from_json
from desktop_rag.core.terms import terms
from desktop_rag.models.ports import ChatModel

# The choice of the structure that holds the records.

# A structure is one of records when they share fields, and hold much of the text.
_UNIFORM = 0.6
_LEAST_COVERAGE = 0.3
_COVERING = 0.4
_AS_GOOD = 0.15
# Up to this share of the records may be something else: an introduction, a template.
_ODD_SHARE = 0.2
_MOSTLY = 0.6
_STRUCTURAL: dict[str, tuple[Kind, ...]] = {
    "files": (Kind.FILE,),
    "tasks": (Kind.TASK,),
    "rows": (Kind.ROW,),
    "sections": (Kind.SECTION,),
    "items": (Kind.ITEM, Kind.NUMBERED, Kind.TASK),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The counted records, the nouns of the question that name them, and its other words.

    `left_out` are titles of what has their form and is something else. `strength` says how surely
    the question names these records (see `record_names`).
    """

    structure: FoundStructure
    records: tuple[Record, ...]
    nouns: tuple[str, ...]
    condition: tuple[str, ...]
    strength: int
    left_out: tuple[str, ...] = ()


def chosen(
    question: CountingQuestion, structures: Sequence[FoundStructure], around: Sequence[str]
) -> Choice | None:
    """The records that the question asks for; None where there are none.

    `around` are the names of what it is limited to. Without a word that names records, those of the
    main structure are taken, with a strength of 0.
    """
    found = _chosen(question, structures, around) if structures else None
    return None if found and _are_amounts(found) else found


def _chosen(
    question: CountingQuestion, structures: Sequence[FoundStructure], around: Sequence[str]
) -> Choice | None:
    words = content_words(question)
    if structural := _structural(question, structures, words):
        return structural
    if _asks_for_files(question):
        # "Files about the lamp" are no rows of a file about it.
        return None
    named = [(s, n) for s in structures for n in [_named(words, s, around)] if n]
    best = max((n for _, found in named for n in found.values()), default=0)
    if best:
        able = [s for s, found in named if max(found.values()) == best]
        structure = main_structure(able) or max(
            able, key=lambda s: (s.uniformity >= _UNIFORM, len(s.records))
        )
        if best < DIRECT and structure.kind is not Kind.FILE:
            structure = main_structure(structures) or structure
        found = _named(words, structure, around)
        surest = max(found.values(), default=0)
        nouns = tuple(word for word, n in found.items() if n == surest) or tuple(words[:1])
        return _choice(structure, words, nouns, best)
    structure = main_structure(structures)
    if structure is None:
        return None
    nouns = tuple(words[:1]) if names_thing(question) else ()
    return _choice(structure, words, nouns, best)


def _are_amounts(choice: Choice) -> bool:
    """True when a table has amounts, not records: a cell below "Ducks" in the row of a year."""
    if choice.structure.kind is not Kind.ROW or not choice.records:
        return False
    asked = set(terms(" ".join(choice.nouns)))
    # The first column names the row, and may number what is asked for.
    for name in list(choice.records[0].fields)[1:]:
        if asked & set(terms(name)):
            values = [record.fields.get(name, "") for record in choice.records]
            if sum(map(_is_number, values)) > _MOSTLY * len(values):
                return True
    return False


def _is_number(value: str) -> bool:
    return any(map(str.isdigit, value)) and not any(map(str.isalpha, value))


def _structural(
    question: CountingQuestion, structures: Sequence[FoundStructure], words: Sequence[str]
) -> Choice | None:
    """Records asked for by a word for their form: "How many sections are in it?"."""
    sets = question.language.sets
    spoken = [w for w in plain_words(question.rest) if w not in sets["idle"]]
    for place, word in enumerate(spoken):
        if word in sets["entries"] and (structure := main_structure(structures)):
            return _choice(structure, words, (word,), DIRECT)
        for name, kinds in _STRUCTURAL.items():
            is_asked = word in sets[name] and (name != "files" or not place)
            fitting = [s for s in structures if s.kind in kinds] if is_asked else []
            if fitting and not any(strength(word, s, ()) for s in structures if s not in fitting):
                most = max(fitting, key=lambda s: len(s.records))
                return _choice(main_structure(fitting) or most, words, (word,), DIRECT)
    return None


def _asks_for_files(question: CountingQuestion) -> bool:
    """True when files are to be counted, and not what is in them."""
    sets = question.language.sets
    spoken = [w for w in plain_words(question.rest) if w not in sets["idle"]]
    return bool(spoken) and spoken[0] in sets["files"]


def _named(
    words: Sequence[str], structure: FoundStructure, around: Sequence[str]
) -> dict[str, int]:
    found = {word: strength(word, structure, around) for word in words}
    return {word: n for word, n in found.items() if n}


def _choice(
    structure: FoundStructure, words: Sequence[str], nouns: tuple[str, ...], surely: int
) -> Choice:
    records, left = _without_odd(structure)
    for noun in nouns:
        below = near(noun, structure.records)
        if 0 < len(below) < len(structure.records):
            # Where only what looks different is below the noun, that is what was asked for.
            inside = set(map(id, below))
            records = tuple(record for record in records if id(record) in inside) or below
    condition = tuple(word for word in words if word not in nouns)
    return Choice(structure, records, nouns, condition, surely, left)


def main_structure(structures: Sequence[FoundStructure]) -> FoundStructure | None:
    """The structure that holds the records of the documents best; None when there is none."""
    uniform = [s for s in structures if s.uniformity >= _UNIFORM and s.coverage >= _LEAST_COVERAGE]
    if uniform:
        return reduce(lambda s, t: t if _is_as_uniform(s, t) else s, uniform)
    free = [s for s in structures if s.coverage >= _COVERING]
    return next((s for s in free if s.kind is Kind.TASK), next(iter(free), None))


def _is_as_uniform(outer: FoundStructure, inner: FoundStructure) -> bool:
    """True when the records inside are as much alike, and more of them."""
    outer_worth = outer.uniformity * outer.coverage
    is_as_good = inner.uniformity * inner.coverage >= outer_worth - _AS_GOOD
    return len(inner.records) > len(outer.records) and is_as_good


def _without_odd(structure: FoundStructure) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The records without those that are none, and the titles of the latter."""
    shared = set(structure.shared)

    def is_odd(record: Record) -> bool:
        if structure.kind not in (Kind.FILE, Kind.SECTION, Kind.PART):
            return False
        words = plain_words(record.title)
        stem = plain_words(record.source.document.path.stem.replace("_", " ").replace("-", " "))
        name = stem if structure.kind is Kind.FILE else words
        is_matter = bool(name) and matter_words().issuperset(name)
        if is_matter and "template" in name:
            return True  # it has the fields of a record, without values
        return shared.isdisjoint(record.fields) if shared else is_matter

    odd = [record for record in structure.records if is_odd(record)]
    if not odd or len(odd) > max(1, _ODD_SHARE * len(structure.records)):
        return structure.records, ()
    left = set(map(id, odd))
    kept = tuple(record for record in structure.records if id(record) not in left)
    return kept, tuple(record.title for record in odd)


# The answer in words.

# Citations have up to three digits; the records after them are named without one.
MOST_CITED = 999
# What a person may still look through, and the window shows at once.
_MOST_LISTED = 5_000
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Counted:
    """The records that meet the condition, and those of which it is unknown.

    `noun` names them as the question does, "" when it doesn't; `condition` is what it asks of them,
    `met_by` how that was decided. `judge` is the model that was asked about `asked` of them.
    `unread` pairs files that could not be read with the reason.
    """

    choice: Choice
    noun: str
    condition: str
    met: tuple[Record, ...]
    open: tuple[Record, ...] = ()
    met_by: MetBy | None = None
    judge: str = ""
    asked: int = 0
    unread: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def is_unknown(self) -> bool:
        """True when of none of the records it is known whether it meets the condition."""
        return not self.asked and len(self.open) == len(self.choice.records)


def text_of(counted: Counted, texts: AnswerTexts) -> str:
    """The answer in Markdown; its items cite the sources 1, 2, 3 …, first the met ones."""
    blocks = [" ".join([_headline(counted, texts), *_how(counted, texts)])]
    blocks += [
        counted.note,
        *_left_out(counted, texts),
        *_unread(counted, texts),
        _listed(counted.met, 1),
    ]
    if counted.is_unknown:
        blocks.append(_listed(counted.open, 1))
    elif counted.open:
        blocks.append(texts.said("open", count=len(counted.open)))
        blocks.append(_listed(counted.open, len(counted.met) + 1))
    blocks.append(_rest(len(counted.met) + len(counted.open), texts))
    return "\n\n".join(filter(None, blocks))


def _headline(counted: Counted, texts: AnswerTexts) -> str:
    total, met, condition = len(counted.choice.records), len(counted.met), quoted(counted.condition)
    things = quoted(counted.noun) or texts.form(counted.choice.structure.kind, total)
    if not condition:
        return texts.said("all", count=met, things=things)
    if counted.is_unknown:
        return texts.said("unknown", total=total, things=things, condition=condition)
    values = {"count": met, "total": total, "things": things, "condition": condition}
    if counted.open:
        return texts.said("some_and_open", open=len(counted.open), **values)
    return texts.said("some", **values)


def _how(counted: Counted, texts: AnswerTexts) -> list[str]:
    said = [_as_one(counted, texts)]
    if counted.met_by:
        said.append(_met_by(counted.met_by, texts))
    if counted.asked:
        sentence = "judged_each" if counted.asked == len(counted.choice.records) else "judged_some"
        said.append(texts.said(sentence, judge=quoted(counted.judge), count=counted.asked))
    return said


def _as_one(counted: Counted, texts: AnswerTexts) -> str:
    choice = counted.choice
    kind = choice.structure.kind
    files = {record.source.document.document_id for record in choice.records}
    sentence = "each_taken" if counted.noun and not choice.strength else "each_is_one"
    if kind is not Kind.FILE and len(files) > 1:
        sentence += "_in_files"
    each = texts.each(kind)
    return texts.said(
        sentence,
        each=each,
        Each=f"{each[0].upper()}{each[1:]}",
        noun=quoted(counted.noun),
        files=len(files),
    )


def _met_by(met_by: MetBy, texts: AnswerTexts) -> str:
    words = [quoted(word) for word in met_by.words]
    return texts.said(
        met_by.sentence,
        those=texts.said("all_but_those" if met_by.is_negated else "those"),
        field=quoted(met_by.field),
        value=" ".join(words),
        words=texts.joined(texts.said("quote", text=word) for word in words),
    )


def _left_out(counted: Counted, texts: AnswerTexts) -> list[str]:
    names = [quoted(title) for title in counted.choice.left_out]
    return [texts.said("left_out", names=_names(names, texts))] if names else []


def _unread(counted: Counted, texts: AnswerTexts) -> list[str]:
    names = [
        quoted(texts.said("unread_file", name=name, reason=reason or texts.said("unread_yet")))
        for name, reason in counted.unread
    ]
    return [texts.said("unread", names=_names(names, texts))] if names else []


def _names(names: Sequence[str], texts: AnswerTexts) -> str:
    return texts.first_of(names, _MOST_NAMED, "; ")


def _listed(records: Sequence[Record], first: int) -> str:
    return "\n".join(
        f"- {quoted(record.title or record.source.name)}{f' [{n}]' if n <= MOST_CITED else ''}"
        for n, record in enumerate(records, start=first)
        if n <= _MOST_LISTED
    )


def _rest(count: int, texts: AnswerTexts) -> str:
    """Says which records of a long list are not cited or not listed."""
    said = [texts.said("cited", count=MOST_CITED)] if count > MOST_CITED else []
    said += [texts.said("listed", count=_MOST_LISTED)] if count > _MOST_LISTED else []
    return " ".join(said)


# More requests than these are made only after the person agreed.
_MOST_REQUESTS = 6
_SAMPLE = 8
_LEAST_SAMPLE_SHARE = 0.75
_LONGEST_SOURCE_CHARS = 600
# What is a record by its form, whatever it has in common with others.
_RECORDS = (Kind.FILE, Kind.TASK, Kind.ROW)


@dataclass(slots=True)
class _Asked:
    """What a model said about records, and why it was not asked about all of them."""

    verdicts: dict[int, bool]
    model: str = ""
    note: str = ""


class CountAnswer:
    """Fills drafts with numbers and lists of records."""

    def __init__(self, sets: CountedSets) -> None:
        self._sets = sets

    def answer(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None
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
            yield from _is_sure(choice, question, counted_set, model, request.cancel)
        ):
            return False
        found = judged(choice.records, choice.condition, question)
        choice, found = _by_value(choice, found)
        asked = yield from _ask_about_open(choice, found, request, model, texts)
        counted = _counted(question, choice, found, asked, counted_set)
        if counted.is_unknown and not (model or counted_set.is_given):
            # A passage may say it: "14 of 96 positions are vacant".
            return False
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
    head = head_words(question)
    # "How many stores does the chain have?" where records are of the chain; "How many minutes …?"
    is_other = bool(named) and set(head).isdisjoint(named)
    if is_other or not question.language.sets["measures"].isdisjoint(head[:1]):
        return False
    is_left = model and not (counted_set.is_limited or _is_asked_first(choice, question))
    if is_left or not (counted_set.is_given or _are_records(choice, question)):
        return False
    if choice.strength >= DIRECT or (choice.strength == AROUND and counted_set.is_limited):
        return True
    if not counted_set.is_limited:
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


def _by_value(choice: Choice, found: Judged) -> tuple[Choice, Judged]:
    """The different values of the column that names what is counted, in place of its rows."""
    named = (n.casefold() for n in choice.structure.labels if names_any(choice.nouns[0], [n]))
    name = next(named, "") if choice.structure.kind is Kind.ROW and choice.nouns else ""
    if not name or all(r.fields.get(name) in (r.title, None) for r in choice.records):
        return choice, found
    values: dict[str, tuple[Record, Verdict]] = {}
    for record, verdict in zip(choice.records, found.verdicts, strict=True):
        if value := record.fields.get(name, ""):
            known = values.get(value.casefold())
            if known is None or (known[1] is not Verdict.YES and verdict is not Verdict.NO):
                values[value.casefold()] = replace(record, title=value), verdict
    records, verdicts = zip(*values.values(), strict=True)
    return replace(choice, records=records), replace(found, verdicts=verdicts)


def _is_asked_first(choice: Choice, question: CountingQuestion) -> bool:
    """True for parts of texts whose name is the first word of the question: "towers built …".

    A model reads tables by a query, and what a sentence tells: "How many people work for …?"
    """
    first = next(iter(content_words(question)), "")
    is_part = choice.structure.kind not in (Kind.ROW, Kind.FILE)
    return is_part and first in choice.nouns


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
    found = dict[int, bool]()
    asked = f"Does the whole entry describe exactly one item of the kind “{noun}”?"
    try:
        yield from ask_items(asked, sample, model, cancel, found)
    except AppError:
        return False
    return sum(found.values()) >= _LEAST_SAMPLE_SHARE * len(sample)


def _ask_about_open(
    choice: Choice,
    found: Judged,
    request: AnswerRequest,
    model: ChatModel | None,
    texts: AnswerTexts,
) -> Generator[AnswerEvent, None, _Asked]:
    """Ask the model about the records whose words don't tell, if it takes few requests."""
    places = [n for n, verdict in enumerate(found.verdicts) if verdict is Verdict.OPEN]
    if not places:
        return _Asked({})
    if model is None:
        return _Asked({}, note=texts.said("without_model"))
    records = [choice.records[place] for place in places]
    requests = len(batches_of(records, model))
    if requests > _MOST_REQUESTS and not request.every_file:
        return _Asked({}, note=texts.said("many_requests", count=requests))
    verdicts, note = dict[int, bool](), ""
    try:
        yield from ask_items(request.question, records, model, request.cancel, verdicts)
    except AppError as error:
        note = texts.said("not_judged", reason=error.title)
    return _Asked({places[n]: v for n, v in verdicts.items()}, model.name, note)


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
    draft.model = counted.judge
    draft.text = text_of(counted, texts)
    read = len(counted_set.documents)
    fitting = (*counted.met, *counted.open)
    matched = len({record.source.document.document_id for record in fitting})
    draft.notes = replace(draft.notes or SearchNotes(), files=FileCounts(matched, read))


def _sources(records: Sequence[Record]) -> tuple[SourceRef, ...]:
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
