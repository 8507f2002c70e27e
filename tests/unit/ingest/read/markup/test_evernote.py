import base64

import pytest

from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import parse

HEAD = '<?xml version="1.0"?><!DOCTYPE en-export SYSTEM "http://x.example/e.dtd"><en-export>'


def note(title: str, page: str, more: str = "") -> str:
    content = f'<?xml version="1.0"?><!DOCTYPE en-note SYSTEM "e.dtd"><en-note>{page}</en-note>'
    return f"<note><title>{title}</title><content><![CDATA[{content}]]></content>{more}</note>"


def test_notes_are_sections_with_their_pages_tags_and_files() -> None:
    data = base64.encodebytes(b"the plan").decode()
    file = f"<resource><data encoding='base64'>{data}</data><mime>text/plain</mime>"
    file += "<resource-attributes><file-name>plan.txt</file-name></resource-attributes></resource>"
    picture = "<resource><data>iVBORw0KGgo=</data><mime>image/png</mime></resource>"
    more = f"<created>20250114T083000Z</created><tag>sea</tag><tag>pier</tag>{file}{picture}"
    todo = '<div><en-todo checked="true"/>Paint</div><div><en-todo/>Drain &ouml;l</div>'
    both = HEAD + note("Works", todo, more) + note("Second", "<h1>Head</h1>words") + "</en-export>"
    document = parse("a.enex", both.encode())
    assert document.text == (
        "Works\nWritten: 2025-01-14\nTags: sea, pier\n\n☒ Paint\n☐ Drain öl\n\n"
        "Second\n\n# Head\n\nwords"
    )
    assert [h.title for h in document.headings] == ["Works", "Second", "Head"]
    assert document.marks[-1].anchor.heading == "Second › Head"
    [part] = document.parts
    assert part.document
    assert (part.name, part.document.text) == ("plan.txt", "the plan")


def test_the_title_of_a_single_note_is_that_of_the_file() -> None:
    one = HEAD + note("Works", "<p>words</p>") + "</en-export>"
    assert parse("a.enex", one.encode()).title == "Works"


@pytest.mark.parametrize(
    "content",
    [
        "<en-export/>",
        '<!DOCTYPE x [<!ENTITY a "b">]><en-export><note><title>&a;</title></note></en-export>',
    ],
)
def test_what_holds_no_notes_or_makes_its_own_entities_is_refused(content: str) -> None:
    with pytest.raises(Unreadable, match="damaged"):
        parse("a.enex", content.encode())
