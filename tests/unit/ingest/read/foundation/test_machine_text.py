"""Bytes written as letters are left out of every document, and its places stay right."""

import base64
import binascii

import pytest

from desktop_rag.ingest.read.foundation.machine_text import without_data
from tests.unit.ingest.read.samples import make_docx, paragraph, parse

BYTES = bytes(n * n * 7 % 251 for n in range(985))
LETTERS = base64.b64encode(BYTES).decode()
LINES = [LETTERS[at : at + 64] for at in range(0, len(LETTERS), 64)]
assert len(LINES[-1]) < 40
WORDS = "The mill at Ostby grinds rye and oats for the whole of the valley. " * 20


def dumped(line: str) -> str:
    rows = range(0, len(BYTES), 16)
    return "\n".join(line.format(at, BYTES[at : at + 16].hex(" ")) for at in rows)


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(LINES),
        "\n    ".join(LINES),
        "\n\n".join(LINES),
        " ".join(LINES),
        dumped("{:08x}  {}  |................|"),
        dumped("{:08x}: {}  ................"),
        "begin 644 mill.png\n"
        + "".join(
            binascii.b2a_uu(BYTES[at : at + 45]).decode() for at in range(0, len(BYTES), 45)
        ).replace("\n \n", "\n`\n")
        + "end",
        base64.a85encode(BYTES, adobe=True, wrapcol=72).decode(),
        "".join(f"%{byte:02X}" for byte in BYTES),
    ],
)
def test_data_in_every_form(data: str) -> None:
    found = without_data(f"Before.\n{data}\nAfter.")
    assert found.startswith("Before.\n[data]")
    assert found.endswith("\nAfter.")
    assert len(found.split()) == 3


@pytest.mark.parametrize(
    "text",
    [
        WORDS,
        "\n".join(f"{2019 + n} 12 34 56 78 90 12 41" for n in range(9)),
        "\n".join(f"desktop_rag/ingest/read/foundation/machine_text_{n}" for n in range(9)),
        "https://ru.example.org/" + "%D0%97%D0%B5%D1%80%D0%BD%D0%BE" * 3,
    ],
)
def test_words_and_figures_stay(text: str) -> None:
    assert without_data(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "00000000  " + "00 " * 300_000,
        ("A1b" * 13 + "\n") * 10_000,
        ("A1b" * 15 + " ") * 3 * 3_000,
        "begin 644 a\n" * 30_000,
        "<~" * 300_000,
        ("%41" * 59 + " ") * 3_000,
    ],
)
def test_p11_what_is_nearly_data_ends(text: str) -> None:
    assert without_data(text)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "{0}\nkey: |\n    {1}\nnext: {0}".format(WORDS, "\n    ".join(LINES))),
        ("a.xml", "<a><p>{0}</p><p>{1}</p><p>{0}</p></a>".format(WORDS, "\n".join(LINES))),
        ("a.rtf", "{{\\rtf1 {0}\\par {1}\\par {0}}}".format(WORDS, "\\par ".join(LINES))),
    ],
)
def test_every_reader_leaves_data_out(name: str, content: str) -> None:
    text = parse(name, content.encode()).text
    assert LINES[1] not in text
    assert LINES[-1] not in text
    assert text.count("Ostby") == 40


def test_places_behind_data_stay_right() -> None:
    rye, wheat = (paragraph(title, "", '<w:outlineLvl w:val="0"/>') for title in ("Rye", "Wheat"))
    body = rye + "".join(map(paragraph, LINES)) + paragraph("Oats") + wheat + paragraph("End.")
    document = parse("a.docx", make_docx(body))
    assert "".join(document.text.split()) == "Rye[data]OatsWheatEnd."
    assert [document.text[head.offset :].split()[0] for head in document.headings] == [
        "Rye", "Wheat",
    ]  # fmt: skip
    assert [document.text[mark.offset :].split()[0] for mark in document.marks][-1] == "Wheat"
