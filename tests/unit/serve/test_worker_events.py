"""Events cross from worker threads to the loop: in order, none lost, joined where they wait."""

import asyncio
import threading
from collections.abc import Generator

from desktop_rag.core.conversation import AnswerDone, Role, SourcesFound, TextDelta
from desktop_rag.serve.asked import message_of
from desktop_rag.serve.first_words import FirstWords
from desktop_rag.serve.worker_events import Nothing, Workers


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
