"""Sets of questions, their runs with every answer, and judgements. A protocol; any thread."""

from typing import Protocol

from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.run import Judgement, QuestionSet, Run, RunAnswer


class ExperimentStore(Protocol):
    """What can't be made again without asking anew. Each method is one transaction."""

    def sets(self) -> list[QuestionSet]:
        """All sets, by name in lower case, then by id."""
        ...

    def put_set(self, question_set: QuestionSet) -> None:
        """Store the set in place of one with the same id; its runs stay."""
        ...

    def remove_set(self, set_id: str) -> None:
        """Remove a set with its runs, answers and judgements; nothing happens without one."""
        ...

    def runs(self, set_id: str = "") -> list[Run]:
        """The runs of a set, or all with "", in the order in which they were first stored."""
        ...

    def put_run(self, run: Run) -> bool:
        """Store the run in place of one with the same id; False when its set is gone."""
        ...

    def remove_run(self, run_id: str) -> None:
        """Remove a run with its answers and the judgements of them."""
        ...

    def answers(self, run_id: str) -> list[RunAnswer]:
        """The answers of a run, in the order in which they were first stored."""
        ...

    def put_answer(self, answer: RunAnswer) -> bool:
        """Store the answer in place of one with the same id; False when its run is gone."""
        ...

    def judgements(self, set_id: str) -> list[Judgement]:
        """All judgements about a set, in the order in which they were first stored."""
        ...

    def put_judgement(self, judgement: Judgement) -> bool:
        """Store the judgement in place of one with the same id; False when its set is gone."""
        ...

    def comparisons(self) -> list[ChunkComparison]:
        """All comparisons of chunk settings, in the order in which they were first stored."""
        ...

    def put_comparison(self, comparison: ChunkComparison) -> None:
        """Store the comparison in place of one with the same id."""
        ...

    def remove_comparison(self, comparison_id: str) -> None:
        """Remove a comparison; nothing happens without one."""
        ...
