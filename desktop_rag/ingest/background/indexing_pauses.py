"""Pauses of indexing, by the person or for the battery. Any thread; cheap."""

import threading
from collections.abc import Callable

import psutil


def is_on_battery() -> bool:
    """True while the computer runs on its battery."""
    battery = psutil.sensors_battery()
    return battery is not None and battery.power_plugged is False


class IndexingPauses:
    """Indexing is paused while the person or the battery pauses it."""

    def __init__(
        self, apply: Callable[[bool], None], is_on_battery: Callable[[], bool] = is_on_battery
    ) -> None:
        """`apply(is_paused)` pauses or resumes indexing."""
        self._apply = apply
        self._is_on_battery = is_on_battery
        self._lock = threading.Lock()
        self._by_person = False
        self._by_battery = False
        self._is_overruled = False
        self._pauses_on_battery = False

    @property
    def is_paused(self) -> bool:
        """True while indexing is paused."""
        return self._by_person or self._by_battery

    @property
    def is_for_battery(self) -> bool:
        """True while only the battery pauses it."""
        return self._by_battery and not self._by_person

    def pause(self) -> None:
        """Pause, as the person chose or because of an error."""
        with self._lock:
            self._by_person = True
        self._apply(True)

    def resume(self) -> None:
        """Resume, also on battery, until the computer is plugged in and unplugged again."""
        with self._lock:
            self._is_overruled = self._by_battery or self._is_overruled
            self._by_person = self._by_battery = False
        self._apply(False)

    def set_pauses_on_battery(self, is_wanted: bool) -> None:
        """Pause on battery, or don't, from the next check on."""
        self._pauses_on_battery = is_wanted

    def check_battery(self) -> bool:
        """Check the power supply; True if that paused or resumed indexing."""
        is_draining = self._pauses_on_battery and self._is_on_battery()
        with self._lock:
            self._is_overruled = self._is_overruled and is_draining
            is_paused_now = is_draining and not self._is_overruled
            is_changed = is_paused_now is not self._by_battery
            self._by_battery = is_paused_now
            is_paused = self.is_paused
        if is_changed:
            self._apply(is_paused)
        return is_changed
