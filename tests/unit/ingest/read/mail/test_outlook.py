import struct

import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.conftest import SHARED
from tests.unit.ingest.read.outlook_samples import item, make_message
from tests.unit.ingest.read.samples import parse

MESSAGES = SHARED / "files" / "tika" / "files"
SUBJECT, BODY, PAGE, RICH_TEXT, DATA, NAME = "0037", "1000", "1013", "1009", "3701", "3707"
SENDER, ADDRESS, MIME_TYPE, CONTENT_ID = "0C1A", "0C1F", "370E", "3712"


def test_header_lines_and_the_plain_body_are_read_and_the_subject_is_the_title() -> None:
    fields = {SUBJECT: "Gezeiten für Köln", SENDER: "Ann Lee", ADDRESS: "ann@light.example"}
    keeper = {"3001": "The keeper", "39FE": "keeper@light.example"}
    data = make_message(
        {**fields, BODY: "High at noon.\r\nLow at six.", PAGE: b"<p>High at noon.</p>"},
        **{"__recip_version1.0_#00000000": item(keeper, numbers={0x0C15: 1})},
    )
    found = parse("a.msg", data)
    assert (found.format, found.title) == ("Outlook message", "Gezeiten für Köln")
    assert found.text == (
        "From: Ann Lee <ann@light.example>\nTo: The keeper <keeper@light.example>\n"
        "Subject: Gezeiten für Köln\n\nHigh at noon.\nLow at six."
    )
    assert found.marks[0].anchor == Anchor(heading="Gezeiten für Köln")


def test_without_a_plain_body_the_page_is_read() -> None:
    found = parse("a.msg", make_message({SUBJECT: "Tide", PAGE: b"<h1>High</h1><p>At noon."}))
    assert found.text == "Subject: Tide\n\n# High\n\nAt noon."


def test_without_another_body_the_packed_rich_text_is_read() -> None:
    rich = rb"{\rtf1\ansi High at noon.\par}"
    packed = struct.pack("<IIII", len(rich) + 12, len(rich), 0x414C454D, 0) + rich
    found = parse("a.msg", make_message({SUBJECT: "Tide", RICH_TEXT: packed}))
    assert "High at noon." in found.text


def test_attachments_and_enclosed_messages_become_documents() -> None:
    inner = item({SUBJECT: "Inner", BODY: "The light is on."}, offset=24)
    note = item({NAME: "note.txt", DATA: b"The keeper sleeps."})
    enclosed = {**inner, "__attach_version1.0_#00000000": note}
    storages = {
        "__attach_version1.0_#00000000": note,
        "__attach_version1.0_#00000001": {**item({}), "__substg1.0_3701000D": enclosed},
    }
    parts = parse("a.msg", make_message({SUBJECT: "Outer", BODY: "See below."}, **storages)).parts
    assert [part.name for part in parts] == ["note.txt", "Inner.eml", "Inner.eml › note.txt"]
    texts = [part.document.text if part.document else "" for part in parts]
    assert "The keeper sleeps." in texts[0]
    assert "Subject: Inner\n\nThe light is on." in texts[1]
    assert "The keeper sleeps." in texts[2]


def test_a_picture_that_the_page_shows_is_no_attachment() -> None:
    fields = {NAME: "logo.png", DATA: b"PNG", MIME_TYPE: "image/png", CONTENT_ID: "logo@light"}
    page = b"<p>High at noon.<img src='cid:logo@light'></p>"
    storages = {"__attach_version1.0_#00000000": item(fields)}
    assert not parse("a.msg", make_message({PAGE: page}, **storages)).parts


def test_a_damaged_container_is_told_as_such() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(Unreadable):
        parse("a.msg", data)


@pytest.mark.skipif(not MESSAGES.is_dir(), reason="the shared sets are not beside the project")
def test_header_body_and_attachments_are_read() -> None:
    [path] = MESSAGES.rglob("testMSG_att_doc.msg")
    parser = ParserProcess()
    try:
        found = parser.parse(path)
    finally:
        parser.close()
    assert found.title == "test pièce jointe 1"
    assert found.text.startswith("From: ")
    assert [part.name for part in found.parts] == ["test-unicode.doc", "pj1.txt"]
