"""Events cross from worker threads to the loop: in order, none lost, joined where they wait."""

import asyncio
import threading
from collections.abc import Generator
from queue import SimpleQueue

import pytest

from desktop_rag.core.conversation import AnswerDone, AnswerWaits, Role, SourcesFound, TextDelta
from desktop_rag.features.server import program_answers
from desktop_rag.features.server.access.callers import message_of
from desktop_rag.features.server.program_answers import FirstWords
from desktop_rag.features.server.worker_events import Nothing, Workers


def test_events_that_wait_are_joined_and_none_is_lost() -> None:
    sent = threading.Event()

    def made(_cancel: threading.Event) -> Generator[str]:
        yield "a"
        yield from ("b", "c", "|", "d", "e")
        sent.set()

    def joined(first: str, second: str) -> str | None:
        return None if "|" in (first, second) else first + second

    async def received() -> list[str | Nothing]:
        workers = Workers()
        events = workers.events(made, silence_s=60, joined=joined)
        first = await anext(events)
        # Nothing crosses while the loop is held up: then the rest waits.
        sent.wait()
        rest = [event async for event in events]
        workers.close()
        return [first, *rest]

    found = asyncio.run(received())
    assert "".join(map(str, found)) == "abc|de"
    assert len(found) < 6
    assert "|" in found


def test_what_follows_an_answer_waits_for_the_search_of_another() -> None:
    words, order = FirstWords(), list[str]()
    message = message_of(Role.ASSISTANT, "At dusk.")
    events = iter([SourcesFound(()), TextDelta("At dusk."), AnswerDone(message)])
    begun, is_found = threading.Event(), threading.Event()

    def search() -> None:
        def slowly() -> Generator[SourcesFound | TextDelta | AnswerDone]:
            begun.set()
            is_found.wait()
            order.append("found")
            yield from events

        list(words.searching(slowly()))

    searching = threading.Thread(target=search)
    searching.start()
    begun.wait()

    def complete() -> None:
        words.wait(lambda: False)
        order.append("complete")

    completing = threading.Thread(target=complete)
    completing.start()
    is_found.set()
    searching.join()
    completing.join()
    assert order == ["found", "complete"]


def test_a_search_that_is_given_up_is_waited_for_no_longer() -> None:
    words = FirstWords()
    events = words.searching(iter([TextDelta("At"), TextDelta(" dusk.")]))
    next(events)
    events.close()
    assert list(words.searching(iter([]))) == []
    words.wait(lambda: False)


class Searches:
    """Searches that begin when it is their turn, and end when they are told to."""

    def __init__(self, words: FirstWords) -> None:
        self.begun, self.threads = SimpleQueue[int](), list[threading.Thread]()
        self.found = [threading.Event() for _ in range(3)]
        self._words = words

    def start(self, number: int) -> None:
        self.threads.append(threading.Thread(target=self._search, args=(number,)))
        self.threads[-1].start()

    def end(self) -> None:
        for event in self.found:
            event.set()
        for thread in self.threads:
            thread.join()

    def _search(self, number: int) -> None:
        def slowly() -> Generator[SourcesFound | TextDelta]:
            self.begun.put(number)
            self.found[number].wait()
            yield SourcesFound(())
            # Whoever has found goes on beside the next.
            yield TextDelta("At dusk.")

        assert len(list(self._words.searching(slowly()))) == 2


def test_searches_come_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_answers, "_TURN_S", 600)
    words = FirstWords(at_once=1)
    searches, patience = Searches(words), threading.Event()
    searches.start(0)
    assert searches.begun.get(timeout=30) == 0
    for number in (1, 2):
        searches.start(number)
        while words.waiting < number:
            patience.wait(0.01)
    assert searches.begun.empty()
    searches.found[0].set()
    assert searches.begun.get(timeout=30) == 1
    searches.found[1].set()
    assert searches.begun.get(timeout=30) == 2
    searches.end()
    assert words.waiting == 0


def test_a_slow_search_does_not_hold_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_answers, "_TURN_S", 0)
    searches = Searches(FirstWords(at_once=1))
    for number in range(3):
        searches.start(number)
    assert {searches.begun.get(timeout=30) for _ in range(3)} == {0, 1, 2}
    searches.end()


def test_a_search_that_is_given_up_waits_for_no_turn() -> None:
    words, left = FirstWords(at_once=1), threading.Event()
    first = words.searching(iter([SourcesFound(()), TextDelta("At dusk.")]))
    held = words.searching(_endless())
    next(held)
    left.set()
    assert len(list(words.searching(iter([TextDelta("At")]), left.is_set))) == 1
    held.close()
    assert len(list(first)) == 2


def _endless() -> Generator[AnswerWaits]:
    while True:
        yield AnswerWaits("The server is busy.")
