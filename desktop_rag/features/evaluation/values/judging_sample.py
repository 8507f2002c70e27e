"""Draws a sample of questions to judge: by chance, or evenly from groups of them. Pure."""

import random
from collections.abc import Mapping, Sequence
from enum import StrEnum

from desktop_rag.core.language.translation import tr
from desktop_rag.features.evaluation.values.answer_matrix import AnswerMatrix, MatrixRow

_LESS = 1e-9


class Spread(StrEnum):
    """What a sample is spread over."""

    CHANCE = "chance"
    TAGS = "tags"
    OUTCOME = "outcome"

    def in_words(self) -> str:
        """For a list to choose from."""
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
    """How the last of the runs compares with the first; of one run, a rough mark of its score."""
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
