"""A matrix of the answers of a set, questions by runs, and samples of it to judge. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.claims import SIGNS, Verdict
from desktop_rag.core.language.translation import count_of, decimal_in_words, tr
from desktop_rag.core.markup.plain_markdown import plain_markdown
from desktop_rag.features.evaluation.values.run import Run, RunAnswer, SetQuestion
from desktop_rag.features.evaluation.values.scoring import RunScores, token_f1, without_citations

# Answers with a token F1 below this say something else, as far as words tell.
_SAME_WORDS = 0.9
_LESS = 1e-9
_SHOWN_CHARS = 400
_READ_CHARS = 4 * _SHOWN_CHARS


class AnswerFilter(StrEnum):
    """Which questions are shown."""

    ALL = "all"
    DIFFERENT = "different"
    WORSE = "worse"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    UNANSWERED = "unanswered"

    def in_words(self) -> str:
        """The entry of a list to choose from."""
        return {
            AnswerFilter.ALL: tr("All questions"),
            AnswerFilter.DIFFERENT: tr("Answered differently"),
            AnswerFilter.WORSE: tr("Worse than in the first run"),
            AnswerFilter.FAILED: tr("Failed"),
            AnswerFilter.UNSUPPORTED: tr("With unsupported sentences"),
            AnswerFilter.UNANSWERED: tr("Without sources, or not found"),
        }[self]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """An answer as shown: its text, a line of badges, sources and seconds, and its score."""

    answer: RunAnswer
    text: str
    foot: str
    score: float | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A question with its cells, None where it was not answered yet, and the filters it passes."""

    question: SetQuestion
    cells: tuple[MatrixCell | None, ...]
    filters: frozenset[AnswerFilter]


@dataclass(frozen=True, slots=True)
class AnswerMatrix:
    """The columns with their names, and the rows; questions that left the set come last."""

    runs: tuple[Run, ...]
    rows: tuple[MatrixRow, ...]
    names: tuple[str, ...] = ()

    def shown(self, chosen: AnswerFilter, tag: str = "") -> list[MatrixRow]:
        """The rows that pass a filter, and have a tag if one is given."""
        return [
            row for row in self.rows
            if chosen in row.filters and (not tag or tag in row.question.tags)
        ]  # fmt: skip


def matrix_of(questions: Sequence[SetQuestion], runs: Sequence[RunScores]) -> AnswerMatrix:
    """The matrix of these runs."""
    asked = {question.question_id: question for question in questions}
    for scores in runs:
        asked |= {q.question_id: q for q in scores.run.questions if q.question_id not in asked}
    rows = [_row(question, runs) for question in asked.values()]
    columns, names = tuple(s.run for s in runs), tuple(s.name for s in runs)
    return AnswerMatrix(columns, tuple(rows), names)


def _row(question: SetQuestion, runs: Sequence[RunScores]) -> MatrixRow:
    cells = tuple(_cell(scores, question.question_id) for scores in runs)
    given = [cell for cell in cells if cell]
    found = {AnswerFilter.ALL}
    if any(cell.answer.has_failed for cell in given):
        found.add(AnswerFilter.FAILED)
    if any(cell.answer.unsupported for cell in given):
        found.add(AnswerFilter.UNSUPPORTED)
    if any(cell.answer.is_unanswered for cell in given):
        found.add(AnswerFilter.UNANSWERED)
    texts = [cell.answer.text for cell in given if not cell.answer.has_failed]
    if any(token_f1(texts[0], text) < _SAME_WORDS for text in texts[1:]):
        found.add(AnswerFilter.DIFFERENT)
    scores = [cell.score if cell else None for cell in cells]
    first = scores[0] if scores else None
    if first is not None and any(s is not None and s < first - _LESS for s in scores[1:]):
        found.add(AnswerFilter.WORSE)
    return MatrixRow(question, cells, frozenset(found))


def _cell(scores: RunScores, question_id: str) -> MatrixCell | None:
    answer = scores.answers.get(question_id)
    if answer is None:
        return None
    text = answer.error_title if answer.has_failed else without_citations(answer.text)
    shown = " ".join(plain_markdown(text[:_READ_CHARS]).text.split())[:_SHOWN_CHARS]
    return MatrixCell(answer, shown, _foot(answer), scores.best(question_id))


def _foot(answer: RunAnswer) -> str:
    """`✓ 3 ? 1 · 2 sources · 1.4 s`."""
    if answer.has_failed:
        return tr("failed")
    counts = {v: sum(claim.verdict is v for claim in answer.claims) for v in Verdict}
    badges = " ".join(f"{SIGNS[v][0]} {n}" for v, n in counts.items() if n)
    cited = len({(s.path, s.url) for s in answer.sources if s.is_cited})
    sources = "" if answer.rows else count_of(cited, tr("source"), tr("sources"))
    return " · ".join(
        part for part in (badges, sources, f"{decimal_in_words(answer.seconds, 1)} s") if part
    )


class Spread(StrEnum):
    """How a sample of questions to judge is drawn."""

    CHANCE = "chance"
    TAGS = "tags"
    OUTCOME = "outcome"

    def in_words(self) -> str:
        """The entry of a list to choose from."""
        return {
            Spread.CHANCE: tr("Drawn by chance"),
            Spread.TAGS: tr("Evenly over the tags"),
            Spread.OUTCOME: tr("Evenly over better, worse and same so far"),
        }[self]


def groups(matrix: AnswerMatrix, run_ids: Sequence[str], spread: Spread) -> Mapping[str, str]:
    """The group of each question, by its id: its first tag, or how the runs compare so far."""
    columns = [n for n, run in enumerate(matrix.runs) if run.run_id in run_ids]
    return {row.question.question_id: _group(row, columns, spread) for row in matrix.rows}


def drawn(
    question_ids: Sequence[str], group_of: Mapping[str, str], most: int, chance: random.Random
) -> list[str]:
    """Up to `most` of the questions, as evenly from the groups as they allow; 0 draws all."""
    by_group: dict[str, list[str]] = {}
    for question_id in chance.sample(question_ids, len(question_ids)):
        by_group.setdefault(group_of.get(question_id, ""), []).append(question_id)
    found: list[str] = []
    while any(by_group.values()) and (not most or len(found) < most):
        # In another order each round: the last round may not reach all groups.
        for group in chance.sample(list(by_group), len(by_group)):
            if by_group[group] and (not most or len(found) < most):
                found.append(by_group[group].pop())
    return found


def _group(row: MatrixRow, columns: Sequence[int], spread: Spread) -> str:
    match spread:
        case Spread.CHANCE:
            return ""
        case Spread.TAGS:
            return next(iter(row.question.tags), "")
        case Spread.OUTCOME:
            return _outcome(row, columns)


def _outcome(row: MatrixRow, columns: Sequence[int]) -> str:
    """The last of the runs against the first; of one run, a rough mark of its score."""
    scores = [cell.score if (cell := row.cells[n]) else None for n in columns]
    known = [score for score in scores if score is not None]
    if len(known) < len(scores) or not known:
        return "unknown"
    if len(known) == 1:
        return f"{round(2 * known[0])}"
    difference = known[-1] - known[0]
    if abs(difference) < _LESS:
        return "same"
    return "better" if difference > 0 else "worse"
