"""What any part of the app asks of the window, posted to the bridge. Frozen values."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from desktop_rag.core.library_events import Notice
from desktop_rag.core.question_scope import QuestionScope

# Keeps the chips and the stored question small; more are a folder or a collection.
MOST_ITEMS = 200


@dataclass(frozen=True, slots=True)
class AskAboutRequested:
    """The window lets the person ask about this scope.

    If a chat is open, it continues there; otherwise a new chat is shown.
    """

    scope: QuestionScope


class Wanted(Enum):
    """What the window is to show."""

    LIBRARY = auto()
    FIRST_FOLDER = auto()
    FOLDER = auto()
    MODELS = auto()
    WRITTEN_ANSWERS = auto()
    COMPARISON = auto()
    # One notice less: Esc was pressed where there was nothing else to end.
    DISMISSAL = auto()


@dataclass(frozen=True, slots=True)
class Done:
    """A finished action, reported for a while."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """A finished action that can be undone for a while."""

    notice: Notice
    undo: Callable[[], object]
