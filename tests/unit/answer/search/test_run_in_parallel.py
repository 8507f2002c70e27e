import threading

import pytest

from desktop_rag.answer.search.candidates import run_in_parallel

WAIT_S = 10.0


def test_both_run_at_the_same_time() -> None:
    first, second = threading.Event(), threading.Event()

    def here() -> bool:
        first.set()
        return second.wait(WAIT_S)

    def aside() -> bool:
        second.set()
        return first.wait(WAIT_S)

    assert run_in_parallel(here, aside) == (True, True)


@pytest.mark.parametrize("place", ["here", "aside"])
def test_what_one_raises_is_raised_when_both_have_ended(place: str) -> None:
    ended: list[str] = []

    def work(name: str) -> None:
        ended.append(name)
        if name == place:
            raise KeyError(name)

    with pytest.raises(KeyError, match=place):
        run_in_parallel(lambda: work("here"), lambda: work("aside"))
    assert sorted(ended) == ["aside", "here"]
