"""The answer to a question about records in words: the number, how it was counted, the list. Pure.

Titles are quoted text, and each item cites its record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.answer.counting.record_choice import Choice
from desktop_rag.answer.counting.record_forms import Kind, Record
from desktop_rag.answer.writing.excerpt_markdown import quoted

# Citations have up to three digits; the records after them are named without one.
MOST_CITED = 999
# What a person may still look through, and the window shows at once.
_MOST_LISTED = 5_000
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Counted:
    """The records that meet the condition, and those of which it isn't known.

    `noun` names them as the question does, "" when it doesn't. `condition` is what the question
    asks of them, `met_by` how that was told, `judge` the name of the model that was asked about
    `asked` of them. `notes` are further sentences.
    """

    choice: Choice
    noun: str
    condition: str
    met: tuple[Record, ...]
    open: tuple[Record, ...] = ()
    met_by: str = ""
    judge: str = ""
    asked: int = 0
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """True when of none of the records it is known whether it meets the condition."""
        return not self.asked and len(self.open) == len(self.choice.records)


def text_of(counted: Counted) -> str:
    """The answer in Markdown; its items cite the sources 1, 2, 3 …, first the met ones."""
    blocks = [" ".join([_headline(counted), *_how(counted)])]
    blocks += [*counted.notes, *_left_out(counted), *_unread(counted)]
    blocks.append(_listed(counted.met, 1))
    if counted.is_unknown:
        blocks.append(_listed(counted.open, 1))
    elif counted.open:
        blocks += [_open(counted), _listed(counted.open, len(counted.met) + 1)]
    blocks.append(_rest(len(counted.met) + len(counted.open)))
    return "\n\n".join(filter(None, blocks))


def _headline(counted: Counted) -> str:
    total, met = len(counted.choice.records), len(counted.met)
    kind = counted.choice.structure.kind
    things = quoted(counted.noun) or kind.of(total)
    if not counted.condition:
        return f"**{met:,}** {things}."
    if counted.is_unknown:
        return (
            f"There are **{total:,}** {things}. Their words don't tell which of them meet"
            f" “{quoted(counted.condition)}”."
        )
    more = f", and {len(counted.open):,} may" if counted.open else ""
    return f"**{met:,}** of {total:,} {things}: “{quoted(counted.condition)}”{more}."


def _how(counted: Counted) -> list[str]:
    choice = counted.choice
    kind = choice.structure.kind
    files = {record.source.document.document_id for record in choice.records}
    where = "" if kind is Kind.FILE or len(files) == 1 else f" in {len(files):,} files"
    said = [f"Each {kind.value} was counted as one{where}."]
    if counted.noun and not choice.strength:
        said = [f"Nothing there says “{quoted(counted.noun)}”: each {kind.value} was taken as one"]
        said[0] += f"{where}."
    if counted.met_by:
        said.append(f"Counted are {quoted(counted.met_by)}.")
    if counted.asked:
        rest = "of each" if counted.asked == len(choice.records) else f"of {counted.asked:,}"
        said.append(f"{quoted(counted.judge)} said {rest} whether it is one of them.")
    return said


def _left_out(counted: Counted) -> list[str]:
    titles = counted.choice.left_out
    return [f"Not counted, as it looks different: {_names(titles)}."] if titles else []


def _unread(counted: Counted) -> list[str]:
    return [f"Could not be read: {_names(counted.unread)}."] if counted.unread else []


def _names(names: Sequence[str]) -> str:
    shown = "; ".join(quoted(name) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _open(counted: Counted) -> str:
    return f"**Not certain**, as the words alone don't tell ({len(counted.open):,}):"


def _listed(records: Sequence[Record], first: int) -> str:
    return "\n".join(
        f"- {quoted(record.title or record.source.name)}{f' [{n}]' if n <= MOST_CITED else ''}"
        for n, record in enumerate(records, start=first)
        if n <= _MOST_LISTED
    )


def _rest(count: int) -> str:
    """What a long list lacks."""
    said = [f"Of these, the first {MOST_CITED} have a source."] if count > MOST_CITED else []
    said += [f"Only the first {_MOST_LISTED:,} are listed."] if count > _MOST_LISTED else []
    return " ".join(said)
