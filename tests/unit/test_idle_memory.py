"""Memory is freed once nothing was used for a while, and is ready again before it is needed."""

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.idle_memory import IdleMemory


class App:
    """What the idle memory looks at, and what it calls."""

    def __init__(self) -> None:
        self.now = 0.0
        self.uses = 0
        self.is_busy = False
        self.releases = 0
        self.prepared = 0
        self.idle_memory = IdleMemory(
            [self._on_release],
            self._on_prepare,
            is_busy=lambda: self.is_busy,
            uses=lambda: self.uses,
            clock=lambda: self.now,
        )

    def after(self, minutes: float) -> int:
        """How often memory was released, so long after the last look."""
        self.now += 60 * minutes
        self.idle_memory.check()
        return self.releases

    def _on_release(self) -> None:
        self.releases += 1

    def _on_prepare(self) -> None:
        self.prepared += 1


@pytest.fixture
def app() -> App:
    return App()


@pytest.mark.slow
def test_it_releases_once_after_a_while(app: App) -> None:
    assert app.after(1) == 0
    assert app.after(5) == 1
    assert app.after(60) == 1


@pytest.mark.slow
def test_a_search_or_indexing_begins_the_time_anew(app: App) -> None:
    app.after(4)
    app.uses += 1
    assert app.after(1) == 0
    assert app.after(4) == 0
    app.is_busy = True
    assert app.after(60) == 0
    app.is_busy = False
    assert app.after(4) == 0
    assert app.after(2) == 1


@pytest.mark.slow
def test_it_releases_again_after_the_next_use(app: App) -> None:
    app.after(6)
    app.uses += 1
    assert app.after(1) == 1
    assert app.after(6) == 2


@pytest.mark.slow
def test_what_a_search_needs_is_prepared_once(app: App) -> None:
    app.idle_memory.prepare()
    app.idle_memory.prepare()
    assert app.prepared == 1
    app.after(6)
    app.idle_memory.prepare()
    assert app.prepared == 2


def test_nothing_is_released_while_somebody_is_about_to_ask(app: App) -> None:
    app.now = 299.0
    app.idle_memory.prepare()
    assert app.after(1) == 0


def test_what_cannot_be_prepared_is_left_to_the_search(app: App) -> None:
    def fail() -> None:
        raise AppError("The model is gone.")

    idle_memory = IdleMemory([], fail, is_busy=lambda: False, uses=lambda: 0)
    idle_memory.prepare()
