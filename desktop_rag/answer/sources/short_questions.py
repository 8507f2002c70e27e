"""Completes a question that names only what differs from the one before: "And of Nike?".

What it names takes the place of the same kind of thing: a year of a year, a name of a name, what
follows "for" of what follows "for". Where nothing is surely of its kind, it is added. Pure; any
thread.
"""

from collections.abc import Sequence

from desktop_rag.answer.sources.question_things import (
    QuestionLanguage,
    Thing,
    question_languages,
    question_words,
    things,
)
from desktop_rag.core.language.function_words import most_likely

_LONGEST = 8
_END = "?!.… "
_ENDINGS = ("ing", "s")
# Points of what two things have in common, and as many as make them the same kind.
_SAME_WORD = _SAME_PREPOSITION = 4
_SAME_ARTICLE = _BOTH_NAMES = _SAME_ENDING = _SURE = 3


def completed(question: str, before: str) -> str:
    """The question with what it leaves out, from the one before; "" for any other question."""
    language, rest, is_case_kept = _short(question, before)
    if language is None or not before.strip():
        return ""
    said = [word.plain for word in question_words(rest)]
    if len(said) > _LONGEST or language.asks.intersection(said):
        return ""
    text = before.strip().rstrip(_END)
    named = list(things(rest, language, is_sentence=False))
    for thing in named:
        text = (
            _with_number(thing, text)
            or _with_preposition(thing, rest, text, language)
            or _in_place(thing, rest, text, language, is_case_kept=is_case_kept)
        )
    return f"{text}?" if named else ""


def _short(question: str, before: str) -> tuple[QuestionLanguage | None, str, bool]:
    """What a short question names, and in which language; none for a whole question.

    Last, whether it is in the case that it has in the question: not after "What about".
    """
    text = question.strip().rstrip(_END)
    first = next(iter(question_words(text)), None)
    if first is None:
        return None, "", False
    for language in question_languages().values():
        if opening := language.about.match(text):
            return language, _without_end(text[opening.end() :], language), False
    for language in question_languages().values():
        if first.plain in language.begins:
            return language, _without_end(text[first.end :], language), True
    said = [word.text for word in question_words(f"{before} {question}")]
    language = question_languages().get(most_likely(said))
    is_asked = question.rstrip().endswith("?")
    if language and is_asked and (first.plain in language.prepositions or first.is_year):
        return language, text, True
    return None, "", False


def _without_end(text: str, language: QuestionLanguage) -> str:
    found = question_words(text)
    while len(found) > 1 and found[-1].plain in language.ends:
        found.pop()
    return text[found[0].start : found[-1].end] if found else ""


def _with_number(thing: Thing, text: str) -> str:
    """The text with another number of the same form, as E3 of E2; "" when there is none."""
    found = question_words(text)
    numbers = [word for word in thing.own if any(c.isdigit() for c in word)]
    known = {word.plain for word in found}
    if thing.is_year or len(numbers) != 1 or not known.issuperset({*thing.own} - {*numbers}):
        return ""
    same = [word for word in found if _form(word.plain) == _form(numbers[0])]
    if len(same) != 1:
        return ""
    [word] = same
    new = numbers[0].upper() if word.text.isupper() else numbers[0]
    return text[: word.start] + new + text[word.end :]


def _form(word: str) -> str:
    return "".join("9" if c.isdigit() else "a" if c.isalpha() else c for c in word)


def _with_preposition(thing: Thing, rest: str, text: str, language: QuestionLanguage) -> str:
    """The text with "after probation" for "during probation"; "" where it names something else."""
    for other in things(text, language, is_sentence=True):
        if other.own == thing.own:
            if thing.preposition in ("", other.preposition):
                return text
            return text[: other.whole] + rest[thing.whole : thing.end] + text[other.end :]
    return ""


def _in_place(
    thing: Thing, rest: str, text: str, language: QuestionLanguage, *, is_case_kept: bool
) -> str:
    """The text with a thing in the place of the one that is most like it, or added at its end."""
    others = list(things(text, language, is_sentence=True))
    points = [_likeness(thing, other, language, is_case_kept=is_case_kept) for other in others]
    best = max(points, default=0)
    if best < _SURE or points.count(best) > 1:
        joint = " " if thing.preposition or thing.is_year else ", "
        return f"{text}{joint}{rest[thing.whole : thing.end]}"
    other = others[points.index(best)]
    new = rest[thing.first if other.is_owned else thing.start : thing.end]
    after = text[other.end :]
    if new.endswith("s") and after.startswith(("'s", "’s")):
        after = after.replace("s", "", 1)
    return text[: other.start] + new + after


def _likeness(thing: Thing, other: Thing, language: QuestionLanguage, *, is_case_kept: bool) -> int:
    """Points for what two things have in common; `_SURE` of them make the same kind."""
    if thing.is_year or other.is_year:
        return _SURE * (thing.is_year and other.is_year)
    is_same_place = thing.preposition == other.preposition
    are_names = thing.is_name and other.is_name
    if thing.preposition and not is_same_place and not are_names:
        return 0
    points = _SAME_PREPOSITION * (is_same_place and bool(thing.preposition))
    points += _SAME_WORD * (not {*thing.own}.isdisjoint(other.own))
    points += _BOTH_NAMES * are_names
    points += _SAME_ARTICLE * (thing.article == other.article != "")
    if not (thing.article or other.article or thing.is_name or other.is_name):
        are_nouns = language.has_capital_nouns and len(thing.own) == len(other.own)
        points += _SAME_ENDING * (are_nouns or _end_alike(thing.own, other.own))
    if points and is_case_kept:
        points += is_same_place + (len(thing.own) == len(other.own))
    return points


def _end_alike(own: Sequence[str], other: Sequence[str]) -> bool:
    return any(own[-1].endswith(end) and other[-1].endswith(end) for end in _ENDINGS)
