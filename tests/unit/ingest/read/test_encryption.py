"""Encrypted files: opened with the right password, refused with a clear reason without it."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from desktop_rag.core.domain import NEEDS_PASSWORD, OPENED_BY_PASSWORD
from desktop_rag.core.parsed import PageWish, ParsedDocument
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.foundation.encryption import decrypted
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.pdf.pdf_page_image import view_page
from tests.locked_files import PASSWORD, locked_doc, locked_docx, locked_pdf
from tests.unit.ingest.read.samples import MAX_CHARS, make_docx, paragraph
from tests.unit.ingest.read.test_detection import ole_file

WORDS = "The tenant pays in June."
FILES = {
    "aes.pdf": lambda: locked_pdf(WORDS),
    "rc4.pdf": lambda: locked_pdf(WORDS, "sesame", "RC4-128"),
    "lease.docx": lambda: locked_docx(WORDS),
    "lease.doc": lambda: locked_doc(WORDS),
}


def parse(name: str, content: bytes, *passwords: str, is_safe: bool = False) -> ParsedDocument:
    source = decrypted(SourceFile(Path(name), content, passwords))
    return read_as(detect(source), source, MAX_CHARS, is_safe=is_safe)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("is_safe", [False, True], ids=["", "safe"])
def test_the_right_password_among_others_opens_it(name: str, is_safe: bool) -> None:
    document = parse(name, FILES[name](), "wrong", PASSWORD, "sesame", is_safe=is_safe)
    assert document.text.strip() == WORDS
    assert document.warnings == (OPENED_BY_PASSWORD,)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("passwords", [(), ("wrong",)], ids=["none", "wrong"])
def test_without_it_the_file_says_what_it_needs(name: str, passwords: tuple[str, ...]) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(name, FILES[name](), *passwords)
    assert (caught.value.reason, caught.value.title) == ("encrypted", NEEDS_PASSWORD)


def test_a_password_is_no_matter_to_a_file_without_one() -> None:
    document = parse("plain.docx", make_docx(paragraph(WORDS)), PASSWORD)
    assert (document.text, document.warnings) == (WORDS, ())


@pytest.mark.slow
def test_an_attachment_is_opened_with_the_password_of_its_mail() -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Date"] = "ada@example.org", "Lease", "1 May 2026 10:00 +0"
    mail.set_content("See the lease.")
    for name in ("aes.pdf", "lease.docx"):
        mail.add_attachment(
            FILES[name](), maintype="application", subtype="octet-stream", filename=name
        )
    closed = parse("letter.eml", mail.as_bytes())
    assert [part.refusal for part in closed.parts] == [NEEDS_PASSWORD] * 2
    opened = parse("letter.eml", mail.as_bytes(), PASSWORD)
    assert [part.document and part.document.text.strip() for part in opened.parts] == [WORDS] * 2


def test_a_page_is_drawn_with_the_password() -> None:
    request = PageWish(1, 300, WORDS)
    source = SourceFile(Path("aes.pdf"), locked_pdf(WORDS), (PASSWORD,))
    view = view_page(source, request)
    assert (view.page_count, len(view.boxes)) == (1, 1)
    with pytest.raises(Unreadable, match=NEEDS_PASSWORD):
        view_page(SourceFile(Path("aes.pdf"), locked_pdf(WORDS)), request)


def test_an_unknown_encryption_is_told_apart_from_a_wrong_password() -> None:
    content = ole_file("EncryptionInfo", "EncryptedPackage")
    with pytest.raises(Unreadable, match="Encrypted in a way that cannot be opened here"):
        parse("odd.docx", content, PASSWORD)


def test_a_password_is_in_no_repr() -> None:
    assert PASSWORD not in repr(SourceFile(Path("a.pdf"), b"", (PASSWORD,)))
