"""What an assistant keeps of its rails: the name of a set of the app, or the path of a folder.

Any thread. Imports nothing of the rails themselves, which the start of the app does without.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.actions.action_calls import Action, ActionResult
from desktop_rag.features.rails.actions.rails_world import RailsWorld
from desktop_rag.features.rails.actions.stage_actions import GENERAL_RESPONSE, generate_bot_message
from desktop_rag.features.rails.configuration.rails_folder import read_rails
from desktop_rag.features.rails.rail_engine import Rails
from desktop_rag.features.rails.rail_events import BotIntent
from desktop_rag.features.rails.runtime.rail_loop import Limits


@dataclass(frozen=True, slots=True)
class RailSet:
    """A set of rails by the name that assistants keep, and what it does in a line."""

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
    """Whether this is the name of a set that comes with the app."""
    return any(known.name == rails for known in BUILT_IN)


def folder_of(rails: str) -> Path:
    """The folder of what an assistant keeps; AppError for what is no name and no whole path."""
    if is_built_in(rails):
        return resources_dir() / "rails" / rails
    folder = Path(rails).expanduser()
    if folder.is_absolute():
        return folder
    names = ", ".join(known.name for known in BUILT_IN)
    raise AppError(f"There are no rails “{rails}”.", f"There are: {names}, or a folder's path.")


# Rails of assistants, opened and kept open.
#
# Any thread. Nothing that a folder brings is run.

# An answer from every file takes as long as there are files.
_LONGEST_S = 3600.0
_MOST_OPEN = 16


class RailSets:
    """Opens rails, and keeps those open that were used last: their examples are embedded once."""

    def __init__(self, world: RailsWorld) -> None:
        """`world` has what all of them may use."""
        self._world = world
        self._open: OrderedDict[Path, tuple[object, Rails]] = OrderedDict()
        self._lock = Lock()

    def rails(self, name: str) -> Rails:
        """The rails as they are on the disk now; AppError, with the place, if they are broken."""
        folder = folder_of(name)
        state = _state(folder)
        with self._lock:
            known, opened = self._open.get(folder, (None, None))
            if opened is None or known != state:
                opened = Rails(
                    read_rails(folder), self._world, OUR_ACTIONS, Limits(time_s=_LONGEST_S)
                )
            self._open[folder] = (state, opened)
            self._open.move_to_end(folder)
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return opened


def _state(folder: Path) -> object:
    """What changes when a file of the folder does."""
    try:
        return tuple(sorted(_files(folder)))
    except OSError as exc:
        raise AppError(f"The rails in {folder} can't be read.", f"{exc.strerror}.") from exc


def _files(folder: Path) -> Iterable[tuple[str, int, int]]:
    for pattern in ("*.co", "*.yml", "*.yaml"):
        for path in folder.rglob(pattern):
            told = path.stat()
            yield str(path), told.st_mtime_ns, told.st_size


def _respond() -> ActionResult:
    """What no flow knows is a question to the documents, never to a model alone."""
    return ActionResult(GENERAL_RESPONSE, events=(BotIntent(GENERAL_RESPONSE),))


OUR_ACTIONS = (
    Action("generate_next_step", _respond, is_our_own=True),
    Action("generate_bot_message", generate_bot_message, _LONGEST_S, is_our_own=True),
)
