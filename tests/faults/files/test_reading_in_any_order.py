"""P-17: the outcome of a file does not depend on the files that the parser read before it."""

import random
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from tests.unit.ingest.read.pdf_samples import encrypted
from tests.unit.ingest.read.samples import cell, make_docx, make_pdf, make_xlsx, make_zip, paragraph

_PDF = make_pdf(["words of a page"])
_DOCX = make_docx(paragraph("words of a letter"))
FILES = {
    "good.txt": b"plain words",
    "empty.txt": b"",
    "nul.txt": b"\0\1\2\3" * 500,
    "good.docx": _DOCX,
    "cut.docx": _DOCX[: len(_DOCX) // 2],
    "good.pdf": _PDF,
    "cut.pdf": _PDF[:100],
    "secret.pdf": encrypted(_PDF, "secret"),
    "pageless.pdf": _PDF.replace(b"/Kids [5 0 R] /Count 1", b"/Kids [     ] /Count 0"),
    "good.xlsx": make_xlsx({"S": f'<row r="1">{cell("A1", "words")}</row>'}),
    "lies.xlsx": make_zip({"xl/workbook.xml": "<a>" * 300}),
    "mail.eml": b"Subject: lamp\r\nContent-Type: text/plain; charset=unknown-9\r\n\r\nwords\r\n",
    "page.html": b"<html><body><p>words</p></body></html>",
    "deep.json": b"[" * 20_000,
}


def outcome(parser: ParserProcess, path: Path) -> tuple[str, str]:
    try:
        return parser.parse(path).text, ""
    except ParseFailed as failed:
        return failed.reason, failed.hint


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return [tmp_path / name for name in FILES]


def test_p17_three_orders_give_the_same_outcomes(paths: list[Path]) -> None:
    found: list[dict[str, tuple[str, str]]] = []
    for seed in range(3):
        shuffled = random.Random(seed).sample(paths, len(paths))
        parser = ParserProcess()
        try:
            read = {path.name: outcome(parser, path) for path in shuffled}
        finally:
            parser.close()
        found.append(dict(sorted(read.items())))
    assert found[0] == found[1] == found[2]
    assert "words" in found[0]["good.docx"][0]
    assert found[0]["secret.pdf"][0] == "encrypted"
    assert found[0]["pageless.pdf"][0] == "damaged"
