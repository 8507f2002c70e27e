"""What is made of turns that insist: how they are recognised, and what the prompt then advises.

The disputes are made from facts in sentences of several languages. In each fact's library the
person is wrong (the source says what the answer said), right (the source says what the person
says), or brings a new source that says so. The advice is firm, right or both; "read again" leaves
it to the model. Firm to a person who is right would be stubborn, right to one who is wrong would
give in. No model is asked.
Run: python benchmarks/answers/insisting.py
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.answer.checking.disputes import CheckedDispute, Insistence, checked_dispute
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.parsed import Anchor

_TURNS = Path(__file__).parents[2] / "tests" / "unit" / "answer" / "checking"
_INSISTENCE = Insistence()
_SETS = ("insisting_turns.toml", "insisting_held_out.toml")


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sentence with a gap, the person's words with one, and two values."""

    sentence: str
    words: str
    one: str
    other: str


_FACTS = (
    _Fact("The lease of the harbour office was signed by Ingrid Holm in {}.",
          "No, it was {}, you are wrong.", "2017", "2019"),
    _Fact("The rent of the harbour office is {} euros a month.", "That's not true, it is {} euros.",
          "900", "950"),
    _Fact("The pump in the engine room has {} valves and one gauge.",
          "You're mistaken, it has {} valves.", "3", "2"),
    _Fact("The annual report shows an operating margin of {} percent for the fish market.",
          "No way, the margin was {} percent.", "14", "12"),
    _Fact("The council of the island voted on {} April for the new ferry timetable.",
          "But it was on {} April, I'm sure.", "4", "30"),
    _Fact("The warranty of the outboard motor ends after {} months of use.",
          "Nonsense. It's {} months.", "24", "36"),
    _Fact("Der Mietvertrag des Hafenbüros wurde {} von Ingrid Holm unterschrieben.",
          "Nein, das war {}, das stimmt nicht.", "2017", "2019"),
    _Fact("Die Miete des Hafenbüros beträgt {} Euro im Monat.",
          "Falsch, es sind {} Euro.", "900", "950"),
    _Fact("Le bail du bureau du port a été signé par Ingrid Holm en {}.",
          "Non, c'était en {}, tu te trompes.", "2017", "2019"),
    _Fact("El contrato de la oficina del puerto fue firmado por Ingrid Holm en {}.",
          "No, fue en {}, te equivocas.", "2017", "2019"),
    _Fact("Het huurcontract van het havenkantoor werd in {} getekend door Ingrid Holm.",
          "Nee, dat was in {}, dat klopt niet.", "2017", "2019"),
)  # fmt: skip


def main() -> int:
    """Print the figures; 1 when a person who is right would be contradicted."""
    for name in _SETS:
        _print_recognition(name)
    checker = ClaimChecker()
    cases: dict[str, Callable[[_Fact], Sequence[str]]] = {
        "person wrong": lambda fact: [fact.sentence.format(fact.one)],
        "person right": lambda fact: [fact.sentence.format(fact.other)],
        "new source": lambda fact: [fact.sentence.format(v) for v in (fact.one, fact.other)],
    }
    advice = {case: Counter(_advices(checker, texts)) for case, texts in cases.items()}
    for case, counts in advice.items():
        _say(f"{case:<13} {', '.join(f'{name} {n}' for name, n in counts.most_common())}")
    is_stubborn = advice["person right"]["firm"] + advice["new source"]["firm"]
    gives_in = advice["person wrong"]["right"]
    _say(f"stubborn {is_stubborn}, giving in {gives_in}, of {len(_FACTS)} facts in each case")
    return 1 if is_stubborn or gives_in else 0


def _print_recognition(name: str) -> None:
    tables = tomllib.loads((_TURNS / name).read_text(encoding="utf-8"))
    found: dict[str, list[tuple[str, bool]]] = {"yes": [], "no": []}
    for language, turns in tables.items():
        for kind, told in found.items():
            told += [(language, _INSISTENCE.claim(turn) is not None) for turn in turns[kind]]
    right, wrong = (sum(is_taken for _, is_taken in found[kind]) for kind in ("yes", "no"))
    missed = Counter(language for language, is_taken in found["yes"] if not is_taken)
    _say(
        f"{name}: precision {right / (right + wrong):.3f}, recall {right / len(found['yes']):.3f}"
        f" ({len(found['yes'])} turns that insist, {len(found['no'])} that don't,"
        f" {len(tables)} languages; missed {dict(missed)})"
    )


def _advices(checker: ClaimChecker, texts: Callable[[_Fact], Sequence[str]]) -> Iterator[str]:
    for fact in _FACTS:
        sources = [_source(n, text) for n, text in enumerate(texts(fact), 1)]
        answer = Message("a", "c", Role.ASSISTANT, f"{fact.sentence.format(fact.one)} [1]", 0.0,
                         sources=tuple(sources[:1]))  # fmt: skip
        dispute = _INSISTENCE.dispute_of(fact.words.format(fact.other), [answer])
        found = checked_dispute(dispute, sources, checker.check) if dispute else None
        yield _kind(found) if found else "not recognised"


def _kind(found: CheckedDispute) -> str:
    if found.supporting and found.denying:
        return "both"
    return "firm" if found.denying else "right" if found.supporting else "read again"


def _source(n: int, text: str) -> SourceRef:
    return SourceRef(n, f"d{n}", f"/{n}.md", "", Anchor(), text, 1.0, quote=text, end=len(text),
                     is_cited=True)  # fmt: skip


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
