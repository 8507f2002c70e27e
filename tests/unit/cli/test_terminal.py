"""What documents, models and names say reaches the terminal as text, never as an order to it."""

import json

import pytest

from desktop_rag.cli.terminal import print_document, say

ORDERS = "\x1b]52;c;ZXZpbA==\x07 \x1b[2J \x9b2J \x08\x7f \u202ered\u202c"


def test_orders_to_a_terminal_become_boxes(capsys: pytest.CaptureFixture[str]) -> None:
    print_document(ORDERS, lambda text: ["first\r\n\tsecond", text], as_json=False)
    say(ORDERS)
    told = capsys.readouterr()
    assert told.out.startswith("first\n\tsecond\n\u25a1]52;c;ZXZpbA==\u25a1 \u25a1[2J \u25a12J")
    for text in (told.out, told.err):
        assert text.replace("\n", "").replace("\t", "").isprintable()
        assert "\u202e" not in text


def test_json_has_every_character_and_gives_no_orders_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_document({"text": f"{ORDERS} Straße 漢字"}, lambda _: [], as_json=True)
    told = capsys.readouterr().out
    assert json.loads(told) == {"text": f"{ORDERS} Straße 漢字"}
    assert not {"\x1b", "\x9b", "\x7f", "\x07", "\u202e"} & set(told)
    assert "Straße 漢字" in told
