"""Garbage is collected a little at a time, since nothing else runs meanwhile.

Python collects by itself whenever enough objects were made, and now and then looks at all that
there are: with a library open that is a million, a third of a second in which the window stands
still and answers stop. Here what lived through one look is left out of the next ones, and
everything is looked at rarely, or when nobody uses the app.
"""

import gc

EVERY_S = 10.0
# Objects made before the youngest are looked at, and such looks before those of the second age.
# The third age, everything else, is never looked at by itself.
_YOUNG, _SECOND, _NEVER = 2_000, 10, 1_000_000
_LOOKS_BEFORE_ALL = 60


class SmallCollections:
    """Collects from `start` to `close`, if `look` is called every `EVERY_S` seconds. Any thread.

    A window calls it in the Qt thread, where its own parts are best taken down.
    """

    def __init__(self) -> None:
        self._usual = gc.get_threshold()
        self._is_on = False
        self._looks = 0

    def start(self) -> None:
        """Begin."""
        self._is_on = True
        gc.set_threshold(_YOUNG, _SECOND, _NEVER)
        self.keep()

    def keep(self) -> None:
        """Say that what was made so far lives until the end: it is not looked at."""
        gc.freeze()

    def look(self) -> None:
        """Collect what became garbage lately, if anything was made since the last look."""
        if not (self._is_on and gc.get_count()[-1]):
            return
        self._looks = (self._looks + 1) % _LOOKS_BEFORE_ALL
        if self._looks == 0:
            gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Leave it to Python again."""
        self._is_on = False
        gc.set_threshold(*self._usual)
        gc.unfreeze()


def collect_all() -> None:
    """Collect everything, also what the small collections leave out."""
    gc.unfreeze()
    gc.collect()
