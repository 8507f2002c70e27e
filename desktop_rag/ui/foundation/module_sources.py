"""Keeps PySide from reading the source of every module that is imported after it. Any thread.

To support `from __feature__ import snake_case`, PySide searches each imported module's source for
its own name: a fifth of the start time, and the sources stay in memory. The app uses no such
feature. Seen in napari's issue 8584; there is no switch.
"""

import sys
from types import ModuleType

import PySide6.QtCore

_HOOK, _SEARCH = "shibokensupport.feature", "_mod_uses_pyside"


def leave_sources_unread() -> None:
    """Make PySide assume that no module asks for a feature. Call it before other imports."""
    assert PySide6.QtCore.__name__ in sys.modules, "it loads the hook"
    hook = sys.modules.get(_HOOK)
    # It is not documented: another version may lack it, and then the start is slower.
    if hook is not None and hasattr(hook, _SEARCH):
        setattr(hook, _SEARCH, _asks_for_none)


def _asks_for_none(_module: ModuleType) -> bool:
    return False
