from pathlib import Path

import pytest

from desktop_rag.ingest.read.formats import detect
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from tests.unit.ingest.read.samples import cell, make_docx, make_pdf, make_xlsx, make_zip, paragraph

PAGE = b"<!DOCTYPE html><html><body>words</body></html>"
XLSX = make_xlsx({"S": f'<row r="1">{cell("A1", "words")}</row>'})
DOCX = make_docx(paragraph("words"))
PPTX = make_zip({"[Content_Types].xml": "", "ppt/presentation.xml": ""})
MAIL = b"Received: from a by b\r\n\twith smtp\r\nFrom: a@b.example\r\nSubject: x\r\n\r\nbody"
MAILBOX = b"From a@b.example Sat Jan  2 17:42:00 2016\n" + MAIL
TIFF = b"II*\0\x08\0\0\0"


def kind(name: str, content: bytes) -> str:
    return detect(SourceFile(Path(name), content))


def open_document(mimetype: str) -> bytes:
    return make_zip({"mimetype": f"application/vnd.oasis.opendocument.{mimetype}"})


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("a.txt", b"words", "text"),
        ("a.unknown", b"words", "text"),
        ("README", b"words", "text"),
        ("Makefile", b"all:\n", "text"),
        ("a.py", b"words = 1", "text"),
        ("a.md", b"# words", "Markdown"),
        ("a.HTML", b"<p>words", "HTML"),
        ("a.csv", b"words,more", "CSV"),
        ("a.xml", b"<?xml version='1.0'?><html>words</html>", "XML"),
        ("a.json", b"{}", "JSON"),
        ("a.rst", b"words", "reStructuredText"),
        ("a.eml", b"words", "e-mail"),
        ("a.mbox", MAILBOX, "mailbox"),
        ("a.ipynb", b"{}", "notebook"),
        ("a.rtf", b"{\\rtf1 words}", "Rich Text"),
        ("a.pdf", make_pdf(["words"]), "PDF"),
        ("a.docx", DOCX, "Word"),
        ("a.xlsx", XLSX, "spreadsheet"),
        ("a.pptx", PPTX, "slides"),
        ("a.odt", open_document("text"), "OpenDocument text"),
        ("a.ott", open_document("text-template"), "OpenDocument text"),
        ("a.odp", open_document("presentation"), "OpenDocument slides"),
        ("a.ods", open_document("spreadsheet"), "spreadsheet"),
        ("a.epub", make_zip({"mimetype": "application/epub+zip"}), "EPUB"),
        ("a.epub", make_zip({"META-INF/container.xml": ""}), "EPUB"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "picture"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "picture"),
        ("a.tif", TIFF, "picture"),
        ("a.dat", b'x\x9f>"\0\1', "winmail.dat"),
        ("a.mht", MAIL, "web archive"),
        ("a.txt", b"BEGIN:VCALENDAR\r\n", "calendar"),
        ("a", b"BEGIN:VCARD\r\n", "contacts"),
        ("captions", b"WEBVTT\n", "subtitles"),
    ],
)
def test_each_format_is_known(name: str, content: bytes, format_name: str) -> None:
    assert kind(name, content) == format_name


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("a.txt", make_pdf(["words"]), "PDF"),
        ("a.txt", PAGE, "HTML"),
        ("a.xls", PAGE, "HTML"),
        ("a.pdf", PAGE.decode().encode("utf-16"), "HTML"),
        ("a.md", PAGE, "Markdown"),
        ("a.doc", DOCX, "Word"),
        ("a.doc", b"{\\rtf1 words}", "Rich Text"),
        ("a.docx", XLSX, "spreadsheet"),
        ("a.xls", b"words\tmore", "text"),
        ("a.txt", b"BM is short for benchmark", "text"),
        ("mail.md", b"The header %PDF-1.7 starts every file", "Markdown"),
        ("message", MAIL, "e-mail"),
        ("a.txt", b"\xef\xbb\xbf" + MAIL, "e-mail"),
        ("a.msg", MAIL, "e-mail"),
        ("a.mbox.txt", MAILBOX, "mailbox"),
        ("a.txt", b"<?xml version='1.0'?><a>b</a>", "XML"),
        ("a.txt", b"\n<!DOCTYPE article PUBLIC 'x' 'y'><article/>", "XML"),
        ("letter.2019", MAIL, "e-mail"),
        ("a.html", MAIL, "e-mail"),
        ("a.csv", MAIL, "e-mail"),
        ("a.log", MAILBOX, "mailbox"),
        ("Customers", b"From 18443@xxx\nMIME-Version: 1.0\n\nwords", "mailbox"),
        ("a.eml", MAILBOX, "e-mail"),
        ("budget.2019", make_xlsx({"S": ""}), "spreadsheet"),
        ("budget", make_xlsx({"S": ""}), "spreadsheet"),
        ("a.zip", make_xlsx({"S": ""}), "spreadsheet"),
        ("a.jpg", b"Only words, and no picture.", "text"),
        ("a.php", b"<html><?php echo 1 ?></html>", "text"),
        ("a.pdf", b"1 0 obj << /Type /Catalog >> endobj", "PDF"),
        ("a.md", b"An object is written `1 0 obj << >> endobj`.", "Markdown"),
    ],
)
def test_content_goes_before_the_name(name: str, content: bytes, format_name: str) -> None:
    assert kind(name, content) == format_name


@pytest.mark.parametrize(
    "content",
    [
        b"From: the desk of the chair\n\nDear members",
        b"Subject: notes\nDate: Monday\nTo: everybody\n\nno sender, no mail",
        b"From: a\nTo: b\nDate: c\nand then prose\n\nmore",
        b"From here on 2016 was a good year\nfor all of us",
        b"to: x\nfrom: y",
    ],
)
def test_a_letter_is_no_mail(content: bytes) -> None:
    assert kind("a.txt", content) == "text"


@pytest.mark.parametrize(
    ("name", "content", "reason", "title"),
    [
        ("a.pdf", b"", "empty", "Empty file"),
        ("a.txt", b"MZ\x90\0\3\0\0\0" * 99, "unsupported", "Not supported: program"),
        ("a.txt", bytes(range(256)), "unsupported", "Not a text file"),
        ("a.docx", bytes(range(256)), "damaged", "The file is damaged"),
        ("a.xyz", b"\0\1", "unsupported", "Not a text file"),
        ("core", b"words \1 and more words " * 9, "unsupported", "Not a text file"),
        ("a.zip", make_zip({"x": "y"}), "unsupported", "Not supported: archive"),
        ("a.xls", b"\x09\x04\x06\x00\x00\x00\x10\x00\xd3\x10", "unsupported", "Too old: Excel 4"),
        ("a.doc", b"\xdb\xa5\x2d\x00" * 99, "unsupported", "Too old: Word before version 6"),
        ("a.doc", b"\xfe\x37\x00\x23" * 99, "unsupported", "Too old: Word before version 6"),
        ("a.doc", b"\x31\xbe\0\0\0\xab\0" * 99, "unsupported", "Too old: Word before version 6"),
        ("a.wri", b"\x31\xbe\0\0\0\0\0" * 99, "unsupported", "Too old: Windows Write"),
        (
            "a.ppt",
            b"\xed\xde\xad\x0b\0\0" * 99,
            "unsupported",
            "Too old: PowerPoint before version 4",
        ),
        ("a.wpd", b"\xffWPC\x10\0\0\0" * 99, "unsupported", "Not supported: WordPerfect"),
        (
            "server",
            b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n",
            "unsupported",
            "Not supported: private key",
        ),
        ("a.docx", b"PK\3\4 cut off", "damaged", "The file is damaged"),
        ("a.odg", open_document("graphics"), "unsupported", "Not supported: drawing"),
        ("a.svg", b"<svg/>", "unsupported", "Not supported: drawing"),
        (
            "a.pages",
            make_zip({"Index/Document.iwa": ""}),
            "unsupported",
            "Not supported: Apple iWork",
        ),
        (
            "a.pages",
            make_zip({"buildVersionHistory.plist": "", "index.xml": ""}),
            "unsupported",
            "Not supported: Apple iWork",
        ),
    ],
)
def test_what_is_not_read_is_named(name: str, content: bytes, reason: str, title: str) -> None:
    with pytest.raises(Unreadable) as caught:
        kind(name, content)
    assert (caught.value.reason, caught.value.title) == (reason, title)


def ole_file(*names: str) -> bytes:
    """An old Office container with these streams at its top, all empty."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30:32] = (9).to_bytes(2, "little")
    header[48:52] = (1).to_bytes(4, "little")
    header[76:80] = (0).to_bytes(4, "little")
    fat = b"\xfd\xff\xff\xff" + b"\xfe\xff\xff\xff" + b"\xff\xff\xff\xff" * 126
    entries = b""
    for index, name in enumerate(["Root Entry", *names]):
        encoded = name.encode("utf-16-le")
        right = index + 1 if 0 < index < len(names) else 0xFFFFFFFF
        child = 1 if index == 0 else 0xFFFFFFFF
        links = b"".join(n.to_bytes(4, "little") for n in (0xFFFFFFFF, right, child))
        fields = encoded.ljust(64, b"\0") + (len(encoded) + 2).to_bytes(2, "little") + b"\2\1"
        entries += (fields + links).ljust(128, b"\0")
    return bytes(header) + fat + entries.ljust(512, b"\0")


@pytest.mark.parametrize(
    ("streams", "format_name"),
    [
        (["WordDocument", "1Table"], "Word 97-2003"),
        (["x", "PowerPoint Document"], "PowerPoint 97-2003"),
        (["Workbook"], "spreadsheet"),
        (["Book"], "spreadsheet"),
        (["__properties_version1.0", "WordDocument"], "Outlook message"),
    ],
)
def test_old_office_files_are_told_apart(streams: list[str], format_name: str) -> None:
    assert kind("a.docx", ole_file(*streams)) == format_name


@pytest.mark.parametrize(
    ("streams", "reason", "title"),
    [
        (["EncryptionInfo", "EncryptedPackage"], "encrypted", "Encrypted: a password is needed"),
        (["whatever"], "unsupported", "Not supported: old Office file"),
        (["VisioDocument"], "unsupported", "Not supported: Visio"),
        (["PP40"], "unsupported", "Too old: PowerPoint 4 or 95"),
    ],
)
def test_other_old_containers_are_named(streams: list[str], reason: str, title: str) -> None:
    with pytest.raises(Unreadable) as caught:
        kind("a.docx", ole_file(*streams))
    assert (caught.value.reason, caught.value.title) == (reason, title)


def test_bytes_that_no_recording_has_are_none() -> None:
    content = b"\xff\xff\xff\xff\x01\0mn%PDF-2/\0\1\2\3" * 9
    assert kind("a.fuzz", content) == "PDF"
