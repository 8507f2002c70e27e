"""Opens the rails of assistants, with the actions that they may use. Any thread."""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.actions.action_calls import Action, ActionResult
from desktop_rag.features.rails.actions.rails_world import RailsWorld
from desktop_rag.features.rails.actions.stage_actions import GENERAL_RESPONSE, generate_bot_message
from desktop_rag.features.rails.assistants.rail_names import folder_of
from desktop_rag.features.rails.configuration.rails_configuration import read_rails
from desktop_rag.features.rails.rail_engine import Rails
from desktop_rag.features.rails.rail_events import BotIntent
from desktop_rag.features.rails.runtime.rail_loop import Limits

# An answer from every file takes as long as there are files.
_LONGEST_S = 3600.0
_MOST_OPEN = 16


class RailSets:
    """Opens rails without running their code; keeps the last ones used, with embedded examples."""

    def __init__(self, world: RailsWorld) -> None:
        """`world` has what all of them may use."""
        self._world = world
        self._open: OrderedDict[Path, tuple[object, Rails]] = OrderedDict()
        self._lock = Lock()

    def rails(self, name: str) -> Rails:
        """The rails as they are on the disk; AppError, with the place, if they are broken."""
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
    """Sends what no flow knows to the documents, never to a model alone."""
    return ActionResult(GENERAL_RESPONSE, events=(BotIntent(GENERAL_RESPONSE),))


OUR_ACTIONS = (
    Action("generate_next_step", _respond, is_our_own=True),
    Action("generate_bot_message", generate_bot_message, _LONGEST_S, is_our_own=True),
)
