"""Pairs of a claim and a source for fit_entailment.py: labelled by people, and made by rules.

A made pair changes one thing of a true claim: a number, a date, a name, a unit, a role, a
quantifier, a direction, a cause or a negation. Where the source has it too, the same is changed
there: then the changed claim is true and the first one false, so that no claim betrays its label.
"""

import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from claim_sets import LEARNED

from desktop_rag.core.text import sentences, words

SUPPORTED, CONTRADICTED, NEITHER = range(3)
_OTHER = (CONTRADICTED, NEITHER)
# Kinds not named here only say that the claim is unsupported.
_KINDS = {"contradicted": (CONTRADICTED,), "not_enough_info": (NEITHER,)}
# What names the source in an id; in other sets the source's text does.
_DOCUMENT = {"bump": re.compile(r"-[^-]*$"), "contract_nli": re.compile(r"-nda-.*$")}
_HELD_OUT = 10
# Of fever_nli, which has half of all claims, this share is learned from in each epoch.
SHARES = {"fever_nli": 0.5}

_MOST_CHARS = 480
_STEM = 5
_LEAST_WORDS, _MOST_WORDS = 7, 40

_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_NAME = re.compile(r"[A-Z][\w.'-]*[a-z](?:\s+(?:(?:of|the|de|van|von)\s+)?[A-Z][\w'-]*[a-z])*")
_AUXILIARY = re.compile(r"\b(is|was|are|were|can|will|has|have|had|does|did|may|must|should)\b")
_NEGATED = re.compile(r"\b(is|was|are|were|can|will|has|have|had|may|must|should)(?: not|n't)\b")


def _groups(text: str) -> list[list[str]]:
    return [group.strip().split("|") for group in text.split(";")]


# Words of a group are exchanged for one another: in the first, the claim turns false.
_CONTRARY = _groups("""
January|February|March|April|May|June|July|August|September|October|November|December;
Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday; million|billion|thousand;
seconds|minutes|hours|days|weeks|months|years; second|minute|hour|day|week|month|year;
metres|kilometres|centimetres|miles|feet; meters|kilometers|centimeters|miles|feet;
kilograms|grams|tonnes|pounds; dollars|euros|pounds|yen;
two|three|four|five|six|seven|eight|nine|ten|twelve|twenty; first|second|third|last; all|some|no;
most|few; many|few; every|no; always|never; often|rarely; at least|at most; more than|less than;
more|less; most|least; higher|lower; larger|smaller; largest|smallest; highest|lowest;
before|after; increase|decrease; increased|decreased; increases|decreases; rose|fell; grew|shrank;
won|lost; wins|loses; north|south|east|west; northern|southern|eastern|western; because of|despite;
due to|despite; caused|prevented; causes|prevents; leads to|prevents; led to|prevented;
with|without; include|exclude; includes|excludes; including|excluding; positive|negative; old|new;
older|younger; early|late; earlier|later; male|female; father|mother; son|daughter; brother|sister;
husband|wife; major|minor; began|ended; begins|ends; opened|closed; accepted|rejected;
allowed|forbidden; required|optional; supported|opposed; bought|sold; born|died; former|current;
public|private
""")
_SAME = _groups("""
began|started; begins|starts; ended|finished; bought|purchased|acquired; large|big;
about|approximately|around|roughly; however|nevertheless; more than|over|in excess of;
less than|under|below; because of|due to|owing to; also|in addition; many|numerous; near|close to;
film|movie; located|situated; created|made; shows|demonstrates; showed|demonstrated; used|employed;
received|got; need|require; needs|requires; must|has to; help|assist; number of|amount of;
big|large; children|kids; said|stated; whole|entire; annually|every year; is not|isn't;
was not|wasn't; did not|didn't; does not|doesn't; has not|hasn't; cannot|can't; percent|%
""")
_NUMERALS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, what its source has about it, and the labels that it may have."""

    claim: str
    source: str
    labels: tuple[int, ...]
    origin: str


def labelled(grounding: Path, *, held_out: bool) -> list[Pair]:
    """The claims that people labelled: those held out, one of ten sources, or the others."""
    pairs: list[Pair] = []
    for name, file in LEARNED.items():
        for line in (grounding / file).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            document = _DOCUMENT[name].sub("", row["id"]) if name in _DOCUMENT else row["source"]
            if (zlib.crc32(document.encode()) % _HELD_OUT == 0) == held_out:
                kind = _KINDS.get(row.get("kind", ""), _OTHER)
                labels = (SUPPORTED,) if row["label"] == "supported" else kind
                source = evidence(row["claim"], row["source"])
                pairs.append(Pair(row["claim"], source, labels, name))
    return pairs


def evidence(claim: str, source: str) -> str:
    """The sentences that share most with the claim, rare words most, in their order."""
    if len(source) <= _MOST_CHARS:
        return source
    parts = [source[start:end] for start, end in sentences(source)]
    stems = [_stems(part) for part in parts]
    known = Counter(stem for found in stems for stem in found)
    said = {stem: math.log(1 + len(parts) / known[stem]) for stem in _stems(claim) & known.keys()}
    shared = [sum(said[stem] for stem in found & said.keys()) for found in stems]
    chosen: list[int] = []
    left = _MOST_CHARS
    for place in sorted(range(len(parts)), key=lambda place: -shared[place]):
        if not chosen or len(parts[place]) <= left:
            chosen.append(place)
            left -= len(parts[place])
    return " ".join(parts[place] for place in sorted(chosen))


def _stems(text: str) -> set[str]:
    return {word.casefold()[:_STEM] for word in words(text)}


def texts(bench: Path) -> list[str]:
    """Paragraphs of encyclopedias, abstracts, manuals and annual reports; none of a benchmark."""
    found: list[str] = []
    for name in ("squad", "pubmedqa"):
        corpus = bench / "retrieval" / name / "corpus.jsonl"
        found += [json.loads(line)["text"] for line in corpus.read_text("utf-8").splitlines()]
    for path in sorted((bench / "docs_cpp" / "files").rglob("*.md")):
        found += path.read_text("utf-8", errors="replace").split("\n\n")
    for path in sorted((bench / "financebench" / "files").glob("*.pdf")):
        found += _pages(path)
    return [text for text in found if len(_plain_sentences(text)) > 1]


def _pages(path: Path) -> Iterator[str]:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            yield re.sub(r"\s+", " ", page.get_textpage().get_text_range())


def _plain_sentences(text: str) -> list[str]:
    """Sentences of running text, none of tables, lists or code."""
    found = [re.sub(r"\s+", " ", text[start:end]) for start, end in sentences(text)]
    return [
        sentence
        for sentence in found
        if _LEAST_WORDS <= len(sentence.split()) <= _MOST_WORDS
        and sentence[0].isupper()
        and sentence[-1] == "."
        and not re.search(r"[|`<>\[\]{}]|\.\.\.", sentence)
    ]


def made(pairs: Sequence[Pair], paragraphs: Sequence[str], most: int, seed: int) -> list[Pair]:
    """About so many pairs: half from the labelled true claims, the rest from running text."""
    rng = random.Random(seed)
    true = [pair for pair in pairs if pair.labels == (SUPPORTED,)]
    by_set: dict[str, list[Pair]] = {}
    for pair in true:
        by_set.setdefault(pair.origin, []).append(pair)
    found: list[Pair] = []
    while len(found) < most // 2:
        # From each set alike, as far as its claims reach.
        pair = rng.choice(by_set[rng.choice(list(by_set))])
        found += _changed(pair.claim, pair.source, _names(rng.choice(true).source), rng)
    while len(found) < most * 9 // 10:
        found += _from_text(rng.choice(paragraphs), rng.choice(paragraphs), rng)
    while len(found) < most:
        found += _from_table(rng)
    return found


def _from_text(text: str, other: str, rng: random.Random) -> Iterator[Pair]:
    found = _plain_sentences(text)
    start = rng.randrange(len(found))
    near = found[max(0, start - rng.randrange(3)) : start + 1 + rng.randrange(1, 4)]
    source, claim = " ".join(near)[: 2 * _MOST_CHARS], found[start]
    if _hits(rng, 0.25) and len(near) > 1:
        second = rng.choice([sentence for sentence in near if sentence != claim] or near)
        claim = f"{claim} {second}"
    cut = evidence(claim, source)
    yield Pair(_reworded(claim, rng), cut, (SUPPORTED,), "text")
    yield from _changed(claim, cut, _names(other), rng)
    rest = source.replace(found[start], "").strip()
    if _hits(rng, 0.5) and rest:
        yield Pair(_reworded(claim, rng), evidence(claim, rest), (NEITHER,), "text without")


def _changed(claim: str, source: str, names: list[str], rng: random.Random) -> Iterator[Pair]:
    """One change of a true claim, and of its source where it has the same words."""
    # A negation fits nearly everywhere: it comes after what fits seldom, more often than not.
    for name in sorted(_RULES, key=lambda name: rng.random() * _RARITY.get(name, 1)):
        rule = _RULES[name]
        change = rule(claim, source, names, rng)
        if not change or change[0] == change[1]:
            continue
        old, new = change
        false = _replaced(claim, old, new)
        state = rng.random()
        reworded = _reworded(claim, random.Random(state))
        false_reworded = _reworded(false, random.Random(state))
        if reworded == false_reworded:
            continue
        labels = _OTHER if name in {"name", "role"} else (CONTRADICTED,)
        yield Pair(false_reworded, source, labels, name)
        twin = _replaced(source, old, new)
        if twin != source:
            yield Pair(reworded, twin, labels, name)
            yield Pair(false_reworded, twin, (SUPPORTED,), name)
        return


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


Change = tuple[str, str] | None


def _number(claim: str, source: str, _names: list[str], rng: random.Random) -> Change:
    found = _NUMBER.findall(claim)
    if not found:
        return None
    old = rng.choice(found)
    others = [number for number in _NUMBER.findall(source) if len(number) == len(old) != 1]
    if others and _hits(rng, 0.4):
        return old, rng.choice(others)
    if _YEAR.fullmatch(old):
        return old, str(int(old) + rng.choice((-40, -10, -3, -2, -1, 1, 2, 3, 10, 40)))
    digits = [place for place, sign in enumerate(old) if sign.isdigit()]
    place = rng.choice(digits)
    return old, old[:place] + str((int(old[place]) + rng.randrange(1, 9)) % 9 + 1) + old[
        place + 1 :
    ]


def _name(claim: str, source: str, names: list[str], rng: random.Random) -> Change:
    found = _names(claim)
    if not found:
        return None
    old = rng.choice(found)
    own = [name for name in _names(source) if name not in claim and name not in old]
    pool = own if own and _hits(rng, 0.5) else names
    return (old, rng.choice(pool)) if pool else None


def _names(text: str) -> list[str]:
    """Names; the first word of a sentence may be none."""
    starts = {start for start, _ in sentences(text)}
    return [m.group() for m in _NAME.finditer(text) if m.start() not in starts or " " in m.group()]


def _role(claim: str, _source: str, _names_: list[str], _rng: random.Random) -> Change:
    found = _names(claim)
    one, other = found[0] if found else "", found[-1] if found else ""
    between = claim.partition(one)[2].partition(other)[0] if found else ""
    if one in other or other in one or re.fullmatch(r"\W*\w*\W*", between):
        return None
    return claim, _replaced(_replaced(_replaced(claim, one, "\0"), other, one), "\0", other)


def _contrary(claim: str, _source: str, _names: list[str], rng: random.Random) -> Change:
    return _of_group(claim, _CONTRARY, rng)


def _of_group(text: str, groups: Sequence[Sequence[str]], rng: random.Random) -> Change:
    hits = [
        (word, group)
        for group in groups
        for word in group
        if word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    ]
    if not hits:
        return None
    word, group = rng.choice(hits)
    return word, rng.choice([other for other in group if other != word])


def _negation(claim: str, _source: str, _names: list[str], rng: random.Random) -> Change:
    without = _NEGATED.sub(r"\1", claim, count=1)
    if without != claim:
        return claim, without
    places = list(_AUXILIARY.finditer(claim))
    if not places:
        return None
    end = rng.choice(places).end()
    return claim, f"{claim[:end]} not{claim[end:]}"


_RULES: dict[str, Callable[[str, str, list[str], random.Random], Change]] = {
    "number": _number,
    "name": _name,
    "role": _role,
    "contrary": _contrary,
    "negation": _negation,
}


_RARITY = {"number": 0.4, "negation": 2.5}


def _reworded(claim: str, rng: random.Random) -> str:
    """The same in other words, by rule; often as it is."""
    if _hits(rng, 0.6):
        change = _of_group(claim, _SAME, rng)
        claim = _replaced(claim, *change) if change else claim
    if _hits(rng, 0.5):
        claim = re.sub(r"\s*\([^()]*\)", "", claim)
    if _hits(rng, 0.5):
        # "In 1999, she left." is "She left in 1999."
        front = r"((?:In|On|At|By|During|After|Since) [^,.]{3,40}), ([^,]*[^,.])\.$"
        claim = re.sub(front, lambda m: f"{_capital(m[2])} {m[1][0].lower()}{m[1][1:]}.", claim)
    if _hits(rng, 0.4):
        claim = re.sub(r", (?:which|who|where) [^,.]*(?:,|(?=\.$))", "", claim)
    if _hits(rng, 0.4):
        claim = re.sub(
            r"^(?:However|Moreover|Also|In addition|Furthermore|Therefore|Thus), ", "", claim
        )
    if _hits(rng, 0.3):
        claim = re.sub(r"^(.{30,}?), (?:and|but|while) [^,.]{15,}\.$", r"\1.", claim)
    if _hits(rng, 0.3):
        claim = re.sub(r"\b(\d)00,000\b", r"0.\1 million", claim)
        claim = re.sub(r"\b(\d+),(\d)00,000\b", r"\1.\2 million", claim)
        small = "|".join(_NUMERALS)
        claim = re.sub(rf"\b({small})\b", lambda m: str(_NUMERALS.index(m[1]) + 2), claim)
    if _hits(rng, 0.15):
        claim = claim.rstrip(".")
    return _capital(claim)


def _hits(rng: random.Random, share: float) -> bool:
    return rng.random() < share


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_LINES = """
Revenue|Net sales|Operating income|Net income|Cost of sales|Gross profit|Total assets
Inventories|Rent|Heating|Water|Insurance|Repairs|Salaries|Travel|Training|Licences|Depreciation
Berlin|London|Madrid|Oslo|Paris|Rome|Vienna|Zurich|Lisbon|Dublin|Prague|Warsaw
""".strip().splitlines()
_COLUMNS = ["2019|2020|2021|2022|2023", "Q1|Q2|Q3|Q4", "January|February|March|April|May"]


def _from_table(rng: random.Random) -> Iterator[Pair]:
    """A row of a table as a sentence, and with the figure of another cell."""
    rows = rng.sample(rng.choice(_LINES).split("|"), rng.randrange(3, 6))
    columns = rng.choice(_COLUMNS).split("|")[: rng.randrange(2, 5)]
    scale = rng.choice((100, 5_000, 900_000))
    cells = [[f"{rng.randrange(scale // 20, scale):,}" for _ in columns] for _ in rows]
    bar = rng.choice((" | ", " "))
    lines = [bar.join(("", *columns))] + [
        bar.join((row, *cell)) for row, cell in zip(rows, cells, strict=True)
    ]
    row, column = rng.randrange(len(rows)), rng.randrange(len(columns))
    form = rng.choice(
        (
            "{0} in {1}: {2}.",
            "{0} was {2} in {1}.",
            "In {1}, {0} came to {2}.",
            "{0} of {2} in {1}.",
        )
    )
    true = cells[row][column]
    other = rng.choice([cell for line in cells for cell in line if cell != true] or [true + "0"])
    source = "\n".join(lines)
    yield Pair(form.format(rows[row], columns[column], true), source, (SUPPORTED,), "table")
    yield Pair(form.format(rows[row], columns[column], other), source, (CONTRADICTED,), "table")
