import json

import pytest

from tests.unit.ingest.read.samples import parse, text_at


def test_what_has_lines_stays_as_it_is() -> None:
    content = json.dumps({f"key {n}": "value" for n in range(500)}, indent=2)
    document = parse("a.json", content.encode())
    assert (document.format, document.text, document.warnings) == ("JSON", content, ())


def test_a_short_line_stays_as_it_is() -> None:
    assert parse("a.json", b'{"a":[1,2.50,3]}').text == '{"a":[1,2.50,3]}'


def test_a_long_line_is_broken_so_that_a_line_says_something() -> None:
    rows = [{"name": f"row, {n}", "value": 1.50, "list": list(range(9))} for n in range(200)]
    document = parse("a.json", json.dumps(rows, separators=(",", ":")).encode())
    assert json.loads(document.text) == rows
    assert '\n  "name":"row, 7",\n  "value":1.5,\n  "list":[0,1,2,3,4,5,6,7,8]},\n' in document.text
    assert document.warnings
    line = document.marks[1].anchor.line
    assert line
    assert text_at(document, 1).startswith(document.text.split("\n")[line - 1])


def test_escaped_letters_are_shown_as_letters() -> None:
    content = json.dumps({"a": 'Größe \ud83d \x01 " \\u0041' + "x" * 3000})
    text = parse("a.json", content.encode()).text
    assert 'Größe \\ud83d \\u0001 \\" ' in text
    assert "\\\\u0041" in text


@pytest.mark.slow
def test_p11_depth_and_broken_json_are_no_danger() -> None:
    assert parse("a.json", b"[" * 150_000).text.strip("[ \n") == ""
    assert parse("a.json", b'{"a":' * 10_000 + b"1").text
    assert parse("a.json", b'"' + b"\\" * 1_000_001).text
    assert parse("a.json", b'["' + b'\\"' * 400_000).text.count('"') == 400_001
    assert len(parse("a.json", b"[" + b"1," * 400_000 + b"1]").text) > 800_000
