r"""How many citations are read, over scripted answers in 52 forms and 12 languages.

python benchmarks/answers/citation_forms.py [--answers N] [--seed S]

Each answer has sentences with markers of one form, of numbers that were sent and others, and things
that look like markers. The later forms, the last of the known ones and those marked, were written
after the rules: of 24, 19 were read in full at once, 1 in part and 4 not at all (1,257 of 1,454
citations). The rules were then completed by `[No. 1]`, `\cite{1}`, `[cf. source 1]`, `[1.]` and
Hindi words before a raised number, so no form here tells any more how an unknown one fares.
"""

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

from desktop_rag.answer.citing.citations import citations, finish_answer
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor

_SENT = 6
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")

# {n} and {m} are numbers, {u} and {w} raised and wide ones, {d} in the language's own digits;
# {s} is its word for source.
FORMS = (
    " [{n}]", "[{n}]", " [{n}, {m}]", " [{n}][{m}]", " [{n}; {m}]", "【{n}】", "【{n}†source】",
    "^{n}", "[^{n}]", "{u}", "<sup>{n}</sup>", "<sup>[{n}]</sup>", "［{w}］", " [{d}]",
    " [cite: {n}]", " [cite: {n}, {m}]", " [{n}†L1-L4]", " [S{n}]", " [#{n}]", r" \[{n}\]",
    " ({s} {n})", " [{s} {n}]", " [{s}: {n}]", " [[{n}]]", " [{n}, p. 4]", " [ {n} ]",
    " [{n}: Handbook]", " [{n}](#source-{n})",
    " [Source #{n}]", " [No. {n}]", "^[{n}]^", " [source_{n}]", " [[{s} {n}]]", " **[{n}]**",
    r" \cite{{{n}}}", " [citation:{n}][citation:{m}]", " [{s} {n}, {s} {m}]", " (source: [{n}])",
    " [{n} & {m}]", "⁽{u}⁾",
)  # fmt: skip
LATER = (
    " [src {n}]", " [Ref. {n}]", " 〔{n}〕", " [{n}, {m}, and {n}]", " [cf. {s} {n}]", " [{n}.]",
    " [docs {n} and {m}]", " [*{n}*]", " [@{n}]", "<ref>{n}</ref>", " [[{n}]](#ref-{n})",
    " [{n} – {s} A]",
)  # fmt: skip
_TRAPS = (
    "values[2]", "matrix[0][1]", "50 m²", "10^6", "[0, 1]", "`rows[3]`", "[2024]", "x^2 + 1",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """Sentences without their full stops, the stop, a word for source, and the digits."""

    sentences: tuple[str, ...]
    stop: str
    source: str
    digits: str = "0123456789"


LANGUAGES = {
    "en": Language(("The lamp is lit at dusk", "The keeper left in winter"), ".", "source"),
    "de": Language(("Das Licht brennt nachts", "Der Wärter ging im Winter"), ".", "Quelle"),
    "fr": Language(("La lampe brûle la nuit", "Le gardien est parti"), ".", "source"),
    "es": Language(("La lámpara arde de noche", "El guardián se marchó"), ".", "fuente"),
    "it": Language(("La lampada arde di notte", "Il guardiano partì"), ".", "fonte"),
    "pl": Language(("Lampa pali się nocą", "Latarnik odszedł zimą"), ".", "źródło"),
    "ru": Language(("Лампа горит ночью", "Смотритель ушёл зимой"), ".", "источник"),
    "zh": Language(("灯在夜里点亮", "看守人在冬天离开了"), "。", "来源"),
    "ja": Language(("灯は夜に点灯します", "番人は冬に去りました"), "。", "出典"),
    "ko": Language(("등불은 밤에 켜진다", "등대지기는 겨울에 떠났다"), ".", "출처"),
    "ar": Language(("يضاء المصباح ليلا", "غادر الحارس شتاء"), ".", "المصدر", "٠١٢٣٤٥٦٧٨٩"),
    "hi": Language(("दीपक रात में जलता है", "रखवाला सर्दियों में गया"), "।", "स्रोत", "०१२३४५६७८९"),
}


@dataclass
class Counts:
    """The counts of one form or of all."""

    answers: int = 0
    right: int = 0
    read: int = 0
    unknown: int = 0
    false: int = 0
    missed: list[str] = field(default_factory=list[str])


def main() -> int:
    """Measure and print; exit code 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=23)
    arguments = parser.parse_args()
    counts = measure(arguments.answers, arguments.seed)
    print(f"{'form':<32}{'answers':>8}{'right':>7}{'read':>7}{'unknown':>9}{'false':>7}")
    for form, found in counts.items():
        print(_row(f"{form.strip()}{' (later)' if form in LATER else ''}", found))
    total, later = total_of(counts, FORMS + LATER), total_of(counts, LATER)
    print(_row("all", total), _row("later", later), sep="\n")
    print("\n".join(total.missed[:20]))
    return int(bool(total.unknown) or total.read < 0.99 * total.right)


def _row(name: str, found: Counts) -> str:
    numbers = (found.answers, found.right, found.read, found.unknown, found.false)
    return f"{name:<32}" + "".join(
        f"{n:>{w}}" for n, w in zip(numbers, (8, 7, 7, 9, 7), strict=True)
    )


def total_of(counts: dict[str, Counts], forms: tuple[str, ...]) -> Counts:
    """The sum over these forms."""
    total = Counts()
    for form in forms:
        found = counts[form]
        total.answers += found.answers
        total.right += found.right
        total.read += found.read
        total.unknown += found.unknown
        total.false += found.false
        total.missed += found.missed
    return total


def measure(answers: int, seed: int) -> dict[str, Counts]:
    """The counts of each form; the same for the same seed."""
    chance = random.Random(seed)
    forms = FORMS + LATER
    counts = {form: Counts() for form in forms}
    for index in range(answers):
        form = forms[index % len(forms)]
        _try(form, chance.choice(tuple(LANGUAGES.values())), chance, counts[form])
    return counts


def _try(form: str, language: Language, chance: random.Random, found: Counts) -> None:
    sources = [
        SourceRef(n, f"d{n}", "/a.md", "T", Anchor(), "Oil.", 1.0) for n in range(1, _SENT + 1)
    ]
    parts: list[str] = []
    wanted: Counter[int] = Counter()
    foreign: list[str] = []
    for _ in range(chance.randint(2, 4)):
        is_sent = chance.random() < 0.75
        n, m = chance.sample(range(1, _SENT + 1) if is_sent else range(_SENT + 1, 100), 2)
        marker = _marker(form, language, n, m)
        if is_sent:
            wanted.update((n, m) if "{m}" in form else (n,))
        else:
            foreign.append(marker.strip())
        parts.append(chance.choice(language.sentences) + marker + language.stop)
    parts.insert(chance.randint(0, len(parts)), f"{chance.choice(_TRAPS)}{language.stop}")
    answer = " ".join(parts)
    text, _ = finish_answer(answer, sources)
    shown = Counter(n for citation in citations(text) for n in citation.numbers)
    found.answers += 1
    found.right += wanted.total()
    found.read += (shown & wanted).total()
    found.unknown += sum(c for n, c in shown.items() if n > _SENT) + sum(f in text for f in foreign)
    found.false += sum(c for n, c in (shown - wanted).items() if n <= _SENT)
    if shown != wanted:
        found.missed.append(f"{answer!r} → {text!r}")


def _marker(form: str, language: Language, n: int, m: int) -> str:
    digits = str.maketrans("0123456789", language.digits)
    return form.format(
        n=n,
        m=m,
        u=str(n).translate(_RAISED),
        w=str(n).translate(_WIDE),
        d=str(n).translate(digits),
        s=language.source,
    )


if __name__ == "__main__":
    sys.exit(main())
