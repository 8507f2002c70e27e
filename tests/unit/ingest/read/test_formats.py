import io
import subprocess
import sys
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.read.formats import read_as
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from tests.unit.ingest.read.samples import (
    MAX_CHARS,
    make_docx,
    make_pdf,
    make_zip,
    paragraph,
    parse,
    relations,
)


def mail(body: str, *attachments: tuple[str, bytes]) -> bytes:
    message = EmailMessage()
    message["From"] = "a@b.example"
    message["Date"] = "Sat, 2 Jan 2016 17:42:00 -0400"
    message["Subject"] = "Minutes"
    message.set_content(body)
    for name, content in attachments:
        message.add_attachment(
            content, maintype="application", subtype="octet-stream", filename=name
        )
    return message.as_bytes()


def parts(document: ParsedDocument) -> dict[str, str]:
    """Name → the format it was read as, or why it was not."""
    return {p.name: p.document.format if p.document else p.refusal for p in document.parts}


def test_a_name_that_lies_is_mentioned() -> None:
    assert parse("a.txt", make_pdf(["words"])).warnings == (
        "The content is PDF, though the name ends in .txt.",
    )
    assert parse("a.log", b"words").warnings == ()
    assert parse("a.unknown", b"words").warnings == ()


@pytest.mark.parametrize("content", [b" \n\t\n", b"\0\0", b"%PDF-1.7\n1 0 obj"])
def test_there_is_no_document_without_text(content: bytes) -> None:
    with pytest.raises(Unreadable):
        parse("a.txt", content)


def test_a_page_of_the_web_has_its_own_reader() -> None:
    content = b"<html><body><article><h1>Title</h1><p>Main text of it.</p></article></body></html>"
    source = SourceFile(Path("a.html"), content)
    document = read_as("HTML", source, MAX_CHARS, is_web_page=True)
    assert document.format == "web page"
    assert read_as("text", source, MAX_CHARS, is_web_page=True).format == "text"


def test_the_language_is_told() -> None:
    words = "Die Satzung des Vereins regelt die Beiträge der Mitglieder und die Aufgaben."
    assert parse("a.txt", words.encode()).language == "de"
    assert parse("a.txt", b"12 34 56").language == ""


def test_what_is_attached_becomes_parts() -> None:
    document = parse(
        "a.eml",
        mail("See below.", ("fees.docx", make_docx(paragraph("ten euros"))), ("x.zip", b"PK\3\4")),
    )
    assert "See below." in document.text
    assert parts(document) == {"fees.docx": "Word", "x.zip": "The file is damaged"}
    (fees, _) = document.parts
    assert fees.document
    assert (fees.document.text, fees.document.title) == ("ten euros", "fees")


def test_parts_of_parts_stand_in_one_list_and_end_at_a_depth() -> None:
    content = mail("deepest")
    for depth in range(5):
        content = mail(f"level {depth}", (f"{depth}.eml", content))
    document = parse("a.eml", content)
    assert list(parts(document).items()) == [
        ("4.eml", "e-mail"),
        ("4.eml › 3.eml", "e-mail"),
        ("4.eml › 3.eml › 2.eml", "e-mail"),
        ("4.eml › 3.eml › 2.eml › 1.eml", "nested too deep"),
    ]
    assert all(not part.document.parts for part in document.parts if part.document)


def test_parts_of_one_name_are_told_apart() -> None:
    document = parse("a.eml", mail("body", ("a.txt", b"one"), ("a.txt", b"two"), ("a.txt", b"3")))
    assert list(parts(document)) == ["a.txt", "a (2).txt", "a (3).txt"]


@pytest.mark.slow
def test_only_so_many_parts_are_read() -> None:
    document = parse("a.eml", mail("body", *((f"{n}.txt", b"words") for n in range(203))))
    assert len(document.parts) == 200
    assert "Only 200 of the files inside it were read." in document.warnings


def test_all_parts_share_the_room_for_text() -> None:
    attached = [(f"{n}.txt", b"word " * 100) for n in range(3)]
    document = parse("a.eml", mail("body", *attached), max_chars=900)
    assert sum(len(p.document.text) for p in document.parts if p.document) < 900
    assert document.parts[-1].refusal == "the file it is in has too much text"


def test_a_letter_with_nothing_but_its_attachment_is_a_document() -> None:
    empty = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n"
    attached = b'Content-Disposition: attachment; filename="a.txt"\n\nwords\n--x--\n'
    document = parse("Minutes.eml", empty + attached)
    assert document.text.strip()
    assert parts(document) == {"a.txt": "text"}


def test_asking_for_names_loads_no_format_library() -> None:
    code = (
        "import sys\n"
        "import desktop_rag.ingest.parsing.parser_process\n"
        "from desktop_rag.ingest.read.foundation.format_names import is_worth_reading\n"
        "assert is_worth_reading('Makefile')\n"
        "heavy = {'lxml', 'pypdf', 'pypdfium2', 'markdown_it',"
        " 'python_calamine', 'py3langid', 'numpy', 'pygments.lexers.python', 'pygments.lexer'}\n"
        "print(*heavy & set(sys.modules))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "\n", "")


@pytest.mark.parametrize(
    "line",
    [
        "Date: 14 October 2025",
        "**Date:** October 14, 2025",
        "Datum: 14.10.2025",
        "Gesendet: 2025-10-14 10:22",
        "Subject: Minutes\nDate: Tue, 14 Oct 2025 23:30:00 -0400",
    ],
)
def test_the_line_that_dates_a_text_is_its_date(line: str) -> None:
    assert parse("a.txt", f"{line}\n\nThe minutes.".encode()).dated == "2025-10-14"
    assert parse("a.eml", mail("Words.")).dated == "2016-01-02"


@pytest.mark.parametrize("line", ["Date: to be agreed", "Date: 99.99.2025", "Update: 14.10.2025"])
def test_a_line_without_a_date_dates_nothing(line: str) -> None:
    assert parse("a.txt", f"{line}\n\nThe minutes.".encode()).dated == ""


def made(text: str) -> bytes:
    """A Word document whose properties tell when it was changed."""
    core = "<x><created>2024-01-02T09:00:00Z</created><modified>2025-10-14T09:00:00Z</modified></x>"
    targets = {"word/document.xml": "officeDocument", "docProps/core.xml": "core-properties"}
    with zipfile.ZipFile(io.BytesIO(make_docx(paragraph(text)))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return make_zip({**files, "_rels/.rels": relations(targets), "docProps/core.xml": core})


def test_the_properties_date_a_pdf_whose_text_does_not_and_no_word_file() -> None:
    # They may be those of its template.
    assert not parse("a.docx", made("Words.")).dated
    assert parse("a.docx", made("Date: 3 May 2023")).dated == "2023-05-03"
    pdf = make_pdf(["words"], "T").replace(b"/Title", b"/CreationDate (D:20251014120000Z) /Title")
    assert parse("a.pdf", pdf).dated == "2025-10-14"
