"""Claims made from passages by careful edits, supported and unsupported.

A claim is a paraphrase of one or two sentences. It is supported while the passage contains the
sentence; it is unsupported if the sentence was removed, or if the claim differs in one place:
another number, name or degree, a negation, an added condition. Wider edits make changes that word
statistics hardly reveal: they drop a condition or a caveat, or exchange the two sides of a
relation.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from desktop_rag.core.text import sentences

_SHORTEST, _LONGEST = 50, 350
_LEAST_SENTENCES = 4
_OF_EACH_LABEL = 2
_TAKEN_OUT_SHARE = 0.4
_TWO_SENTENCES_SHARE = 0.25
_TRIES = 8
_NUMBER = re.compile(r"\b\d(?:[\d,.]*\d)?\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_WORD = re.compile(r"[A-Za-z]+")
_LONG_WORD = re.compile(r"\b[a-z]{5,}\b")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|has|have|had|may|should)\b(?P<not> not\b)?"
)
_PARENTHESIS = re.compile(r"\s*\([^)]*\)")
_ARTICLES = frozenset(re.findall(r"\w+", "a an the of in on at to for by with as is are was were"))
_OPENINGS = (
    "According to the document, ", "In summary, ", "The text notes that ", "Overall, ",
    "It is stated that ", "Additionally, ", "The article reports that ", "In fact, ",
)  # fmt: skip
_ADDED = (
    " except in rare cases", " only under certain conditions", ", despite strong opposition",
    " without any delay",
)  # fmt: skip
_CONDITION = re.compile(
    r"(?:^|, | )(?:if|unless|except|provided that|as long as|only if|only when|when|until|in case"
    r"|although|despite|without)\b[^,.;]{8,80}(?:, |(?=[.;]|$))"
)
_RELATION = re.compile(
    r"^(?P<one>(?:The |A |An )?[A-Za-z ]{3,40}?) (?P<verb>is|are|was|were|has|have|can|will|may"
    r"|causes?|leads? to|increases?|reduces?|produces?|contains?|uses?|requires?|supports?|followed"
    r"|preceded|defeated|influenced) (?P<other>(?:the |a |an )?[A-Za-z]+(?: [A-Za-z]+)?)\b"
)
# Cautious phrases and their plain forms.
_CAUTIONS = """
may will | might will | could does | possibly certainly | probably certainly | sometimes always
often always | usually always | generally always | suggest prove | suggests proves
suggested proved | some all | many all | most all | partly entirely | nearly exactly
almost exactly | about exactly | approximately exactly | potential proven
associated caused | correlated caused | primarily only | mainly only | mostly only
"""
_SYNONYMS = """
big large major | show demonstrate illustrate | use utilize employ | begin start commence
help assist aid | get obtain receive | build construct | buy purchase | end finish conclude
important significant crucial | many numerous | often frequently | also additionally | because since
about approximately around | however though | make create produce | say state note
people individuals | keep retain maintain | need require | try attempt | different distinct
usually typically generally | main primary chief | whole entire | kind type sort | allow permit let
give provide offer | explain describe | move relocate | choose select pick | area region
change alter modify | part portion | common widespread | believe think consider | called named known
found discovered | study research | contain include | first initial | used employed utilized
several various | famous renowned | quickly rapidly | difficult challenging hard
method approach technique | result outcome | company firm | city town | conflict war
country nation | job role position | near close | within inside | became turned
"""
_CHANGED_DEGREES = """
all some | most few | many few | more less | always never | often rarely | first last | only also
increase decrease | increased decreased | increases decreases | higher lower | before after
large small | largest smallest | early late | can cannot | north south | east west
northern southern | eastern western | include exclude | including excluding | with without
oldest youngest | high low
major minor | common rare | over under | above below | best worst | same different | both neither
every no | success failure | won lost | began ended | rise fall | against for | left right
male female | new old | public private | strong weak | positive negative
"""


@dataclass(frozen=True, slots=True)
class MadeClaim:
    """A claim, its source, and its label; `passage` is the number of its text."""

    passage: int
    source: str
    claim: str
    is_supported: bool


def make_claims(
    passages: Sequence[str], count: int, seed: int, *, is_wider: bool = False
) -> list[MadeClaim]:
    """About `count` claims on the passages in random order; deterministic for a seed."""
    maker = _Maker(random.Random(seed), is_wider=is_wider)
    shuffled = list(passages)
    maker.random.shuffle(shuffled)
    made: list[MadeClaim] = []
    for number, (passage, other) in enumerate(pairwise(shuffled)):
        if len(made) >= count:
            break
        made += maker.claims(number, passage, other)
    return made


class _Maker:
    def __init__(self, chance: random.Random, *, is_wider: bool) -> None:
        self.random = chance
        self._synonyms = _groups(_SYNONYMS)
        self._degrees = _groups(_CHANGED_DEGREES)
        self._edits: tuple[Callable[[str, str, str], str | None], ...] = (
            self._number, self._name, self._degree, self._negation, self._addition, self._word,
            self._swap, self._crossing,
        )  # fmt: skip
        if is_wider:
            pairs = [line.split() for line in _CAUTIONS.replace("|", "\n").strip().splitlines()]
            self._cautions = {pair[0]: pair[1] for pair in pairs}
            self._edits += (self._caution, self._condition, self._relation)

    def claims(self, number: int, passage: str, other: str) -> list[MadeClaim]:
        """Some claims of each label; `other` is a passage to take unrelated words from."""
        found = [passage[start:end] for start, end in sentences(passage)]
        usable = [text for text in found if _SHORTEST < len(text) < _LONGEST]
        if len(usable) < _LEAST_SENTENCES:
            return []
        made = [
            MadeClaim(number, passage, self._reworded(self._chosen(usable)), is_supported=True)
            for _ in range(_OF_EACH_LABEL)
        ]
        for _ in range(_OF_EACH_LABEL):
            sentence = self.random.choice(usable)
            claim = self._reworded(sentence)
            if self.random.random() < _TAKEN_OUT_SHARE:
                rest = passage.replace(sentence, " ")
                made.append(MadeClaim(number, rest, claim, is_supported=False))
            elif edited := self._edited(claim, passage, other):
                made.append(MadeClaim(number, passage, edited, is_supported=False))
        return made

    def _chosen(self, usable: Sequence[str]) -> str:
        sentence = self.random.choice(usable)
        second = self.random.choice(usable)
        if second == sentence or self.random.random() > _TWO_SENTENCES_SHARE:
            return sentence
        return f"{sentence.rstrip('.')}, and {_lower_first(second)}"

    # --- paraphrases -----------------------------------------------------------------------------

    def _reworded(self, sentence: str) -> str:
        strength = self.random.choice((0.1, 0.4, 0.8))
        claim = _PARENTHESIS.sub("", sentence) if self._happens(0.5) else sentence
        if self._happens(strength):
            claim = self._without_a_part(claim)
        claim = _WORD.sub(lambda match: self._synonym(match[0], strength + 0.2), claim)
        if self._happens(strength / 2):
            claim = self._without_small_words(claim)
        if self._happens(0.5 * strength):
            claim = self.random.choice(_OPENINGS) + _lower_first(claim)
        return claim.rstrip(".;: ") + "."

    def _happens(self, chance: float) -> bool:
        return self.random.random() < chance

    def _without_a_part(self, sentence: str) -> str:
        parts = sentence.split(", ")
        if len(parts) > 2:  # noqa: PLR2004 what stands between the first and the last one
            del parts[self.random.randrange(1, len(parts) - 1)]
        shorter = ", ".join(parts)
        return shorter if len(shorter) >= _SHORTEST else sentence

    def _synonym(self, word: str, chance: float) -> str:
        others = self._synonyms.get(word, ())
        return self.random.choice(others) if others and self._happens(chance) else word

    def _without_small_words(self, sentence: str) -> str:
        words = sentence.split()
        small = [place for place, word in enumerate(words) if place and word in _ARTICLES]
        dropped = set(self.random.sample(small, min(len(small), 2)))
        return " ".join(word for place, word in enumerate(words) if place not in dropped)

    # --- changed facts ---------------------------------------------------------------------------

    def _edited(self, claim: str, passage: str, other: str) -> str | None:
        for _ in range(_TRIES):
            edited = self.random.choice(self._edits)(claim, passage, other)
            if edited and edited != claim:
                return edited
        return None

    def _number(self, claim: str, passage: str, other: str) -> str | None:
        del other
        numbers = _NUMBER.findall(claim)
        if not numbers:
            return None
        old = self.random.choice(numbers)
        known = [n for n in _NUMBER.findall(passage) if n != old and len(n) == len(old)]
        if known and self._happens(0.5):
            return claim.replace(old, self.random.choice(known), 1)
        digits = [
            str(self.random.randrange(1, 10)) if sign.isdigit() and place >= len(old) - 2 else sign
            for place, sign in enumerate(old)
        ]
        return claim.replace(old, "".join(digits), 1)

    def _name(self, claim: str, passage: str, other: str) -> str | None:
        names = _NAME.findall(claim)
        if not names:
            return None
        old = self.random.choice(names)
        strange = _NAME.findall(passage if self._happens(0.5) else other)
        fitting = [name for name in strange if name not in claim and old not in name]
        return claim.replace(old, self.random.choice(fitting), 1) if fitting else None

    def _degree(self, claim: str, passage: str, other: str) -> str | None:
        del passage, other
        words = [word for word in _WORD.findall(claim) if word in self._degrees]
        if not words:
            return None
        old = self.random.choice(words)
        return re.sub(rf"\b{old}\b", self.random.choice(self._degrees[old]), claim, count=1)

    def _negation(self, claim: str, passage: str, other: str) -> str | None:
        del passage, other
        found = _AUXILIARY.search(claim)
        if not found:
            return None
        at = found.start("not") if found["not"] else found.end()
        return claim[:at] + ("" if found["not"] else " not") + claim[found.end() :]

    def _addition(self, claim: str, passage: str, other: str) -> str | None:
        del passage
        names, numbers = _NAME.findall(other), _NUMBER.findall(other)
        added: list[str] = [*_ADDED]
        if names:
            added += [f", but not {self.random.choice(names)}", f" in {self.random.choice(names)}"]
        if numbers:
            added.append(f" for {self.random.choice(numbers)} years")
        return f"{claim.rstrip('.')}{self.random.choice(added)}."

    def _word(self, claim: str, passage: str, other: str) -> str | None:
        old, new = _LONG_WORD.findall(claim), _LONG_WORD.findall(other)
        new = [word for word in new if word not in passage]
        if not old or not new:
            return None
        return claim.replace(self.random.choice(old), self.random.choice(new), 1)

    def _swap(self, claim: str, passage: str, other: str) -> str | None:
        del passage, other
        names = sorted(set(_NAME.findall(claim)))
        if len(names) < 2:  # noqa: PLR2004
            return None
        one, two = self.random.sample(names, 2)
        if one in two or two in one:
            return None
        either = re.compile(f"{re.escape(one)}|{re.escape(two)}")
        return either.sub(lambda match: two if match[0] == one else one, claim)

    def _crossing(self, claim: str, passage: str, other: str) -> str | None:
        """The subject of a sentence with the statement of another sentence of the passage."""
        del other
        found = _AUXILIARY.search(claim)
        texts = [passage[start:end] for start, end in sentences(passage)]
        rests = [text[match.end() :] for text in texts if (match := _AUXILIARY.search(text))]
        known = set(_WORD.findall(claim))
        # Not the text that follows the claim anyway.
        rests = [rest for rest in rests if not _is_mostly(_WORD.findall(rest), known)]
        if not found or not rests:
            return None
        return claim[: found.end()] + self.random.choice(rests)

    def _caution(self, claim: str, passage: str, other: str) -> str | None:
        del passage, other
        words = [word for word in _WORD.findall(claim) if word in self._cautions]
        if not words:
            return None
        old = self.random.choice(words)
        return re.sub(rf"\b{old}\b", self._cautions[old], claim, count=1)

    def _condition(self, claim: str, passage: str, other: str) -> str | None:
        """Drops the condition."""
        del passage, other
        found = _CONDITION.search(claim)
        if not found or len(claim) - len(found[0]) < _SHORTEST:
            return None
        rest = f"{claim[: found.start()]} {claim[found.end() :]}".strip()
        return rest[0].upper() + rest[1:]

    def _relation(self, claim: str, passage: str, other: str) -> str | None:
        """Exchanges the two."""
        del passage, other
        found = _RELATION.search(claim)
        if not found:
            return None
        one, exchanged = found["one"], found["other"]
        start = f"{exchanged[0].upper()}{exchanged[1:]} {found['verb']} {one[0].lower()}{one[1:]}"
        return start + claim[found.end() :]


def _groups(text: str) -> dict[str, tuple[str, ...]]:
    groups = [group.split() for group in text.replace("\n", "|").split("|")]
    return {word: tuple(w for w in group if w != word) for group in groups for word in group}


def _is_mostly(words: Sequence[str], known: set[str]) -> bool:
    return 2 * sum(word in known for word in words) >= len(words)


def _lower_first(sentence: str) -> str:
    first = sentence.split(" ", 1)[0].casefold()
    return sentence[0].lower() + sentence[1:] if first in _ARTICLES else sentence
