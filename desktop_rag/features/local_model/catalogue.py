"""The models that the app offers to fetch, and which of them suits a computer. Pure.

The table is `resources/local_models.toml`; a mistake in it is a bug of ours.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.local_model.model_room import Computer

# Below this a model makes things up, too often to be recommended.
_LEAST_PARAMETERS_B = 3.0
# Larger ones are slow without many cores.
_MOST_PARAMETERS_B, _MANY_CORES = 5.0, 8
# What a system reports of its memory is a little less than what was bought.
_REPORTED_SHARE = 0.9
_GB = 1e9


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A row of the table. `memory_gb` is the memory that a computer should have for it.

    `languages` are the codes of those that it knows best, `more_languages` about how many others.
    """

    name: str
    repository: str
    file: str
    size_gb: float
    parameters_b: float
    memory_gb: float
    licence: str
    languages: tuple[str, ...]
    calls_tools: bool
    more_languages: int = 0

    @property
    def size_bytes(self) -> int:
        """About its size, until the host states it."""
        return round(self.size_gb * _GB)

    @property
    def makes_things_up(self) -> bool:
        """True for a model that is too small to be recommended."""
        return self.parameters_b < _LEAST_PARAMETERS_B

    def suits(self, computer: Computer) -> bool:
        """True when the computer has enough memory for it."""
        return self.memory_gb * _GB * _REPORTED_SHARE <= computer.memory_bytes


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The model to fetch on this computer, and why this one."""

    model: OfferedModel
    reason: str


@cache
def offered_models() -> tuple[OfferedModel, ...]:
    """The rows in the order of the table."""
    text = (resources_dir() / "local_models.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["model"]
    for row in rows:
        row["languages"] = tuple(row["languages"])
    return tuple(OfferedModel(**row) for row in rows)


def find_offered(name: str) -> OfferedModel:
    """The model of this name, or the only one whose name contains it. AppError for any other."""
    wanted, known = name.strip().casefold(), offered_models()
    same = [model for model in known if model.name.casefold() == wanted]
    near = [model for model in known if wanted and wanted in model.name.casefold()]
    if len(found := same or near) == 1:
        return found[0]
    names = ", ".join(f"“{model.name}”" for model in near or known)
    raise AppError(f"There is no single model “{name}” to fetch.", f"Offered are {names}.")


def suggested(computer: Computer) -> Suggestion:
    """The model that suits this computer best: the largest that is not slow on it."""
    good = [model for model in offered_models() if not model.makes_things_up]
    fitting = [model for model in good if model.suits(computer)]
    memory = f"{computer.memory_bytes / _GB:.0f} GB"
    if computer.cores < _MANY_CORES:
        quick = [model for model in fitting if model.parameters_b <= _MOST_PARAMETERS_B]
        reason = f"It fits the {memory} of memory, and larger models are slow on this computer."
    else:
        quick = sorted(fitting, key=lambda model: -model.parameters_b)
        reason = f"It is the largest that fits the {memory} of memory."
    if quick:
        return Suggestion(quick[0], reason)
    least = min(good, key=lambda model: model.memory_gb)
    return Suggestion(least, f"It is the smallest that can be recommended; {memory} are little.")
