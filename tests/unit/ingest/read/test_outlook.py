import pytest

from desktop_rag.ingest.read.source import Unreadable
from desktop_rag.ingest.worker import ParserProcess
from tests.conftest import SHARED
from tests.unit.ingest.read.samples import parse

MESSAGES = SHARED / "files" / "tika" / "files"


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
