"""The hub of events: by type, in order, until the end of hearing, whatever others do."""

import sys
import threading
from dataclasses import dataclass

import pytest

from desktop_rag.core.changes import Changes


@dataclass(frozen=True)
class Changed:
    number: int = 0


@dataclass(frozen=True)
class Grown(Changed):
    """A change that those who hear of all changes hear too."""


@dataclass(frozen=True)
class Other:
    pass


def test_an_event_is_heard_by_its_type_and_the_types_above() -> None:
    changes, heard, grown, both = Changes(), list[Changed](), list[Grown](), list[object]()
    changes.hear(Changed, heard.append)
    changes.hear(Grown, grown.append)
    changes.hear((Grown, Other), both.append)
    for event in (Changed(1), Grown(2), Other(), "nobody's"):
        changes.publish(event)
    assert heard == [Changed(1), Grown(2)]
    assert grown == [Grown(2)]
    assert both == [Grown(2), Other()]


def test_the_first_to_hear_is_called_first_on_the_thread_that_publishes() -> None:
    changes, heard = Changes(), list[tuple[str, str]]()
    for name in "ab":
        changes.hear(
            Other, lambda _, name=name: heard.append((name, threading.current_thread().name))
        )
    thread = threading.Thread(target=changes.publish, args=(Other(),), name="publisher")
    thread.start()
    thread.join()
    assert heard == [("a", "publisher"), ("b", "publisher")]


def test_whoever_stopped_hears_nothing_more_not_even_of_the_event_under_way() -> None:
    changes, heard = Changes(), list[Changed]()
    changes.hear(Changed, lambda _: stop_hearing())
    stop_hearing = changes.hear(Changed, heard.append)
    changes.publish(Changed())
    changes.publish(Changed())
    stop_hearing()
    assert heard == []


def test_a_bug_reaches_the_excepthook_and_the_others_hear(monkeypatch: pytest.MonkeyPatch) -> None:
    changes, heard, bugs = Changes(), list[Changed](), list[BaseException]()
    monkeypatch.setattr(sys, "excepthook", lambda _kind, bug, _trace: bugs.append(bug))
    changes.hear(Changed, lambda event: 1 // event.number)
    changes.hear(Changed, heard.append)
    changes.publish(Changed(0))
    assert [type(bug) for bug in bugs] == [ZeroDivisionError]
    assert heard == [Changed(0)]
