"""The colours of source code."""

from desktop_rag.ingest.read.markup.code_colouring import colour_spans

CODE = 'def lit(hour):\n    """At dusk."""\n    return hour > 18  # late\n'


def test_the_words_of_a_language_have_their_colours() -> None:
    found = {CODE[start:end]: colour for start, end, colour in colour_spans("lamp.py", CODE)}
    assert found == {
        "def": "keyword",
        "lit": "name",
        '"""At dusk."""': "string",
        "return": "keyword",
        "18": "number",
        "# late": "comment",
    }


def test_an_unknown_language_has_none() -> None:
    assert list(colour_spans("lamp.unknown", CODE)) == []
