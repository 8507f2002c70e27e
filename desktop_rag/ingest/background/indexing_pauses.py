"""Who holds indexing: the person, or the battery. Any thread; cheap."""

import threading
from collections.abc import Callable

import psutil


def is_on_battery() -> bool:
    """Whether the computer runs on its battery just now."""
    battery = psutil.sensors_battery()
    return battery is not None and battery.power_plugged is False


class IndexingPauses:
    """Indexing is held while anybody holds it."""

    def __init__(
        self, apply: Callable[[bool], None], is_on_battery: Callable[[], bool] = is_on_battery
    ) -> None:
        """`apply` holds indexing or lets it go on."""
        self._apply = apply
        self._is_on_battery = is_on_battery
        self._lock = threading.Lock()
        self._by_person = False
        self._by_battery = False
        self._is_overruled = False
        self._pauses_on_battery = False

    @property
    def is_paused(self) -> bool:
        """Whether anybody holds indexing."""
        return self._by_person or self._by_battery

    @property
    def is_for_battery(self) -> bool:
        """Whether only the battery holds it."""
        return self._by_battery and not self._by_person

    def pause(self) -> None:
        """The person holds indexing, or an error does on their behalf."""
        with self._lock:
            self._by_person = True
        self._apply(True)

    def resume(self) -> None:
        """The person lets it go on, battery or not, until the computer is plugged in next."""
        with self._lock:
            self._is_overruled = self._by_battery or self._is_overruled
            self._by_person = self._by_battery = False
        self._apply(False)

    def set_pauses_on_battery(self, is_wanted: bool) -> None:
        """Pause on battery, or don't, from the next check on."""
        self._pauses_on_battery = is_wanted

    def check_battery(self) -> bool:
        """Look at the power supply; True if that held indexing or let it go on."""
        is_drained = self._pauses_on_battery and self._is_on_battery()
        with self._lock:
            self._is_overruled = self._is_overruled and is_drained
            holds = is_drained and not self._is_overruled
            is_news = holds is not self._by_battery
            self._by_battery = holds
            is_paused = self.is_paused
        if is_news:
            self._apply(is_paused)
        return is_news
