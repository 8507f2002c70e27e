"""Which counts of tokens are believed."""

from typing import Any

import pytest

from desktop_rag.models.endpoints.client.chat_stream import Usage
from desktop_rag.models.endpoints.client.endpoint_requests import believable

PAGE = "The lamp of the lighthouse is lit at dusk by the keeper. " * 100


def messages(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.mark.parametrize(
    ("asked", "is_believed"), [(1, False), (255, False), (256, True), (1300, True), (90_000, False)]
)
def test_a_count_is_that_of_the_messages_or_none(asked: int, is_believed: bool) -> None:
    usage = Usage(asked, 5)
    assert believable(usage, messages(PAGE)) == (usage if is_believed else None)


def test_a_short_question_may_be_all_that_was_read() -> None:
    assert believable(Usage(6, 1), messages(PAGE, "Reply with the word yes."))
    assert not believable(Usage(1, 1), messages(PAGE, "Reply with the word yes."))


def test_images_count_as_much_as_the_server_says() -> None:
    content = [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": ""}}]
    assert believable(Usage(90_000, 1), [{"role": "user", "content": content}])
    assert believable(None, messages("x")) is None
