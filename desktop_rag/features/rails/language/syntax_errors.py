"""What is wrong with a file of flows, and where. Any thread."""

from collections.abc import Sequence

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.language.flow_syntax import Place


class FlowSyntaxError(AppError):
    """A file of flows can't be read at `place`; `expected` are words for what could stand there."""

    def __init__(self, place: Place, problem: str, expected: Sequence[str] = ()) -> None:
        hint = f"Expected here: {', '.join(expected)}." if expected else ""
        super().__init__(f"{place}: {problem}", hint)
        self.place = place
        self.problem = problem
        self.expected = tuple(expected)
