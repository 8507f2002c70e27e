"""Sets of questions that a person asks again to compare answers. Frozen values, pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import strip_invalid_characters

LONGEST_NAME = 120
LONGEST_QUESTION = 4_000
MOST_QUESTIONS = 2_000
# What a model judges by, unless the person writes another.
RUBRIC = (
    "Better is what answers the question that was asked, correctly and completely, says no more"
    " than it can back, and says plainly what it does not know."
)


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question. Each of `expected` is a complete right answer, each of `wrong` a wrong one.

    `sources` are paths and addresses that a right answer rests on. `question_id` stays the same
    when the question is reworded, so that runs of other versions can be compared.
    """

    question_id: str
    text: str
    expected: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A named set; each change makes it the next version. Runs keep the questions as asked.

    `rubric` is what a model judges the answers by, "" for the usual one.
    """

    set_id: str
    name: str
    questions: tuple[SetQuestion, ...] = ()
    version: int = 1
    changed_at: float = 0.0
    rubric: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags of its questions, sorted."""
        return tuple(sorted({tag for question in self.questions for tag in question.tags}))


def validated_set(given: QuestionSet) -> QuestionSet:
    """The set ready for storing: texts trimmed, questions without text and repeated ones left out.

    AppError for a missing name, too many questions or one that is too long.
    """
    name = " ".join(strip_invalid_characters(given.name).split())
    if not name:
        raise AppError("The set has no name.", "Give it one to choose it by.")
    if len(name) > LONGEST_NAME:
        raise AppError("The name is too long.", f"It may have {LONGEST_NAME} letters.")
    questions = tuple(_each_once(map(_trimmed, given.questions)))
    if len(questions) > MOST_QUESTIONS:
        raise AppError("The set is too large.", f"It may have {MOST_QUESTIONS:,} questions.")
    for question in questions:
        if len(question.text) > LONGEST_QUESTION:
            hint = f"It begins with “{question.text[:60]}”, and may have {LONGEST_QUESTION:,}."
            raise AppError("A question has too many letters.", hint)
    return replace(given, name=name, questions=questions)


def _trimmed(question: SetQuestion) -> SetQuestion:
    text = strip_invalid_characters(question.text).strip()
    kept = {
        field: tuple(dict.fromkeys(t for t in map(_clean, getattr(question, field)) if t))
        for field in ("expected", "wrong", "tags", "sources")
    }
    return replace(question, text=text, **kept)


def _clean(text: str) -> str:
    return strip_invalid_characters(text).strip()


def _each_once(questions: Iterable[SetQuestion]) -> Iterable[SetQuestion]:
    """The first of those that are worded alike; ids stay unique."""
    texts: set[str] = set()
    ids: set[str] = set()
    for question in questions:
        folded = " ".join(question.text.split()).casefold()
        if folded and folded not in texts and question.question_id not in ids:
            texts.add(folded)
            ids.add(question.question_id)
            yield question
