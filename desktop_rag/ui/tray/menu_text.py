"""Foreign text as an entry of the tray's menu, without underlined letters. Pure; any thread."""

import sys

from desktop_rag.ui.foundation.wording import literal


def menu_text(text: str) -> str:
    """The text to give to a QAction, so that the menu shows `text` itself.

    Qt marks a letter by `&`. On Linux the desktop draws the menu and marks a letter by `_`; Qt
    translates the first `&` for it and leaves everything else as it is.
    """
    if sys.platform != "linux":
        return literal(text)
    return text.replace("_", "__").replace("&", "&&", 1)
