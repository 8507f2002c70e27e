from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.requests import (
    PassageRequested,
    QuickAskRequested,
    QuitRequested,
    WindowRequested,
    request_of_url,
    request_of_verb,
)


def test_a_link_asks_unsent() -> None:
    asked = request_of_url("desktop-rag://ask?q=When%20is%20the%20lamp%20lit%3F")
    assert asked == QuickAskRequested("When is the lamp lit?")


def test_a_link_opens_a_place_in_the_library() -> None:
    url = "desktop-rag://open?document=d-1&start=20&end=40"
    assert request_of_url(url) == PassageRequested("d-1", 20, 40)
    assert request_of_url("desktop-rag://open?document=d-1") == PassageRequested("d-1")


@pytest.mark.parametrize(
    "url",
    ["", "https://example.com", "desktop-rag://open", "desktop-rag://open?path=/etc/passwd",
     "desktop-rag://open?document=d&start=x", "desktop-rag://run?q=rm", "desktop-rag:ask?q=a",
     "file:///etc/passwd", "desktop-rag://ask?" + "&".join(f"q{n}=x" for n in range(20)),
     "desktop-rag://[ask", "desktop-rag://quick-ask?about=/etc/passwd"],
)  # fmt: skip
def test_any_other_link_is_refused(url: str) -> None:
    with pytest.raises(AppError, match="not one of desktop-rag"):
        request_of_url(url)


def test_a_link_takes_no_control_characters_and_no_book() -> None:
    asked = request_of_url("desktop-rag://ask?q=a%00%1b%5B31mb%E2%80%AEc" + "x" * 10_000)
    assert isinstance(asked, QuickAskRequested)
    assert asked.question.startswith("a[31mbcx")
    assert len(asked.question) <= 4_000


def test_a_place_never_lies_backwards() -> None:
    url = "desktop-rag://open?document=d&start=-5&end=-9"
    assert request_of_url(url) == PassageRequested("d", 0, 0)


def test_verbs_of_other_processes() -> None:
    assert request_of_verb("quick-ask", {"selection": True}) == QuickAskRequested("", True)
    about: dict[str, object] = {"about": ["/a b/-x.txt", "relative", 7, "/nul\0"]}
    assert request_of_verb("quick-ask", about) == QuickAskRequested(about=(Path("/a b/-x.txt"),))
    assert request_of_verb("quick-ask", {"about": "/etc"}) == QuickAskRequested()
    assert request_of_verb("popup", {"question": "Why?"}) == WindowRequested("Why?")
    assert request_of_verb("quit", {}) == QuitRequested()
    assert request_of_verb("raise", {}) == WindowRequested()
