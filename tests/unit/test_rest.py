"""Memory is freed once nothing was used for a while, and is ready again before it is needed."""

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.idle_memory import Rest


class App:
    """What a rest looks at, and what it calls."""

    def __init__(self) -> None:
        self.now = 0.0
        self.uses = 0
        self.is_busy = False
        self.let_go = 0
        self.prepared = 0
        self.rest = Rest(
            [self._on_let_go],
            self._on_prepare,
            is_busy=lambda: self.is_busy,
            uses=lambda: self.uses,
            clock=lambda: self.now,
        )

    def after(self, minutes: float) -> int:
        """How often it was let go of everything, so long after the last look."""
        self.now += 60 * minutes
        self.rest.check()
        return self.let_go

    def _on_let_go(self) -> None:
        self.let_go += 1

    def _on_prepare(self) -> None:
        self.prepared += 1


@pytest.fixture
def app() -> App:
    return App()


def test_it_lets_go_once_after_a_while(app: App) -> None:
    assert app.after(1) == 0
    assert app.after(5) == 1
    assert app.after(60) == 1


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


def test_it_lets_go_again_after_the_next_use(app: App) -> None:
    app.after(6)
    app.uses += 1
    assert app.after(1) == 1
    assert app.after(6) == 2


def test_what_a_search_needs_is_prepared_once(app: App) -> None:
    app.rest.prepare()
    app.rest.prepare()
    assert app.prepared == 1
    app.after(6)
    app.rest.prepare()
    assert app.prepared == 2


def test_somebody_who_is_about_to_ask_is_not_let_go_from(app: App) -> None:
    app.now = 299.0
    app.rest.prepare()
    assert app.after(1) == 0


def test_what_cannot_be_prepared_is_left_to_the_search(app: App) -> None:
    def fail() -> None:
        raise AppError("The model is gone.")

    rest = Rest([], fail, is_busy=lambda: False, uses=lambda: 0)
    rest.prepare()
