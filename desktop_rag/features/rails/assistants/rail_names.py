"""The names that assistants know rails by: of a built-in set, or the path of a folder. Pure."""

from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir


@dataclass(frozen=True, slots=True)
class RailSet:
    """A built-in set of rails: the name that assistants keep, a title, and what it does."""

    name: str
    title: str
    explanation: str


BUILT_IN = (
    RailSet(
        "documents-only",
        tr("Documents only"),
        tr(
            "Chats, poems and opinions are declined without a model. An answer that stands on no"
            " document is not shown."
        ),
    ),
    RailSet(
        "polite-refusal",
        tr("Polite refusal"),
        tr("Politics, religion, and advice on health, law and money are politely declined."),
    ),
    RailSet(
        "grounding",
        tr("Checked answers"),
        tr(
            "What an answer states is shown only after it was found in the sources. An answer with"
            " anything unproven is taken back."
        ),
    ),
    RailSet(
        "commands",
        tr("Commands with consent"),
        tr(
            "Asked for, it saves an answer as a note, adds a folder, or runs a program that you"
            " registered: each after you agreed to exactly that."
        ),
    ),
    RailSet(
        "personal-data",
        tr("Hide personal data"),
        tr("Mail addresses, telephone, card and account numbers are covered before you see them."),
    ),
)


def is_built_in(rails: str) -> bool:
    """Whether this is the name of a built-in set."""
    return any(known.name == rails for known in BUILT_IN)


def folder_of(rails: str) -> Path:
    """The folder of a set or an absolute path; AppError for anything else."""
    if is_built_in(rails):
        return resources_dir() / "rails" / rails
    folder = Path(rails).expanduser()
    if folder.is_absolute():
        return folder
    names = ", ".join(known.name for known in BUILT_IN)
    raise AppError(f"There are no rails “{rails}”.", f"There are: {names}, or a folder's path.")
