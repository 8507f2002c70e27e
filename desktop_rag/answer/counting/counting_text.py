"""The answer to a question about records in words: the number, how it was counted, the list. Pure.

Titles are quoted text, and each item cites its record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from desktop_rag.answer.counting.conditions import MetBy
from desktop_rag.answer.counting.record_choice import Choice
from desktop_rag.answer.counting.record_forms import Kind, Record
from desktop_rag.answer.writing.answer_texts import AnswerTexts
from desktop_rag.answer.writing.excerpt_markdown import quoted

# Citations have up to three digits; the records after them are named without one.
MOST_CITED = 999
# What a person may still look through, and the window shows at once.
_MOST_LISTED = 5_000
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Note:
    """A further sentence, by its name, with its values."""

    sentence: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Counted:
    """The records that meet the condition, and those of which it isn't known.

    `noun` names them as the question does, "" when it doesn't. `condition` is what the question
    asks of them, `met_by` how that was told, `judge` the name of the model that was asked about
    `asked` of them. `unread` pairs files that could not be read with the reason.
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
    note: Note | None = None

    @property
    def is_unknown(self) -> bool:
        """True when of none of the records it is known whether it meets the condition."""
        return not self.asked and len(self.open) == len(self.choice.records)


def text_of(counted: Counted, texts: AnswerTexts) -> str:
    """The answer in Markdown; its items cite the sources 1, 2, 3 …, first the met ones."""
    blocks = [" ".join([_headline(counted, texts), *_how(counted, texts)])]
    if note := counted.note:
        blocks.append(texts.said(note.sentence, **note.values))
    blocks += [*_left_out(counted, texts), *_unread(counted, texts), _listed(counted.met, 1)]
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
    """What was counted as one."""
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
    """What a long list lacks."""
    said = [texts.said("cited", count=MOST_CITED)] if count > MOST_CITED else []
    said += [texts.said("listed", count=_MOST_LISTED)] if count > _MOST_LISTED else []
    return " ".join(said)
