import struct
from collections.abc import Sequence
from contextlib import suppress

import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from desktop_rag.ingest.read.old_office.old_slides import is_of_version_95
from tests.unit.ingest.read.samples import make_ole, parse, text_at

TITLE, BODY, NOTES, OTHER, TITLE_SLIDE = 0, 1, 2, 4, 6


def record(kind: int, content: bytes, instance: int = 0, *, is_container: bool = False) -> bytes:
    return (
        struct.pack("<HHI", instance << 4 | (0xF if is_container else 0), kind, len(content))
        + content
    )


def holding(kind: int, *records: bytes, instance: int = 0) -> bytes:
    return record(kind, b"".join(records), instance, is_container=True)


def text(kind: int, content: str) -> bytes:
    """A text and what it is for, in the shorter of the two forms if that can hold it."""
    header = record(0x0F9F, struct.pack("<I", kind))
    if max(map(ord, content), default=0) < 256:
        return header + record(0x0FA8, content.encode("latin-1"))
    return header + record(0x0FA0, content.encode("utf-16-le"))


def shape(content: bytes, left: int = 0, top: int = 0) -> bytes:
    anchor = record(0xF00F, struct.pack("<4i", left, top, left + 9, top + 9))
    return holding(0xF004, anchor, holding(0xF00D, content))


def slide(*shapes: bytes, kind: int = 0x03EE, notes: int = 0, more: bytes = b"") -> bytes:
    atom = record(0x03EF, struct.pack("<12xIII", 0, notes, 0))
    drawing = holding(0x040C, holding(0xF002, holding(0xF003, *shapes)))
    return holding(kind, atom, drawing, more)


def listed(number: int, slide_id: int, texts: bytes = b"") -> bytes:
    return record(0x03F3, struct.pack("<5I", number, 0, 0, slide_id, 0)) + texts


def make_ppt(
    slides: Sequence[bytes], lists: Sequence[bytes], token: int = 0xE391C05F, before: bytes = b""
) -> bytes:
    """A presentation; the objects are the document, number 1, and the slides, from 2 on."""
    stream = before
    places: list[int] = []
    for item in (holding(0x03E8, *lists), *slides):
        places.append(len(stream))
        stream += item
    directory = struct.pack(f"<I{len(places)}I", len(places) << 20 | 1, *places)
    directory_place = len(stream)
    stream += record(0x1772, directory)
    edit_place = len(stream)
    stream += record(0x0FF5, struct.pack("<IIIIIII", 0, 0, 0, directory_place, 1, 9, 0))
    current = record(0x0FF6, struct.pack("<IIIHH", 20, token, edit_place, 0, 0))
    return make_ole({"Current User": current, "PowerPoint Document": stream})


def test_slides_come_in_the_order_of_the_list_with_the_texts_of_both_places() -> None:
    first = slide(shape(record(0x0F9E, struct.pack("<I", 1))), shape(text(OTHER, "a box")))
    outline = text(TITLE, "Fees") + text(BODY, "one\rtwo\x0bthree")
    old = slide(shape(text(OTHER, "an older version")))
    content = make_ppt(
        [slide(shape(text(TITLE, "日本"))), first, slide()],
        [holding(0x0FF0, listed(3, 256, outline), listed(4, 257), listed(2, 258))],
        before=old,
    )
    document = parse("a.ppt", content)
    assert document.text == "Fees\n\none\ntwo\nthree\n\na box\n\n日本"
    assert [mark.anchor for mark in document.marks] == [Anchor(slide=1), Anchor(slide=3)]
    assert [h.title for h in document.headings] == ["Fees", "日本"]
    assert text_at(document, 1) == "日本"


def test_notes_and_comments_stand_below_their_slide() -> None:
    comment = holding(
        0x2EE0,
        record(0x0FBA, "Ann".encode("utf-16-le"), 0),
        record(0x0FBA, "why?".encode("utf-16-le"), 1),
    )
    page = slide(shape(text(OTHER, "*")), shape(text(NOTES, "say this")), kind=0x03F0)
    content = make_ppt(
        [slide(shape(text(TITLE_SLIDE, "Plan")), notes=300, more=holding(0x1388, comment)), page],
        [holding(0x0FF0, listed(2, 256)), holding(0x0FF0, listed(3, 300), instance=2)],
    )
    document = parse("a.ppt", content)
    assert document.text == "Plan\n\nNotes:\nsay this\n\nComment by Ann: why?"
    assert document.title == "Plan"


def test_a_table_is_put_together_from_its_cells() -> None:
    properties = record(0xF122, struct.pack("<HI", 0x039F, 1), instance=1)
    cells = [
        shape(text(OTHER, word), left, top)
        for word, left, top in (("Fee", 20, 0), ("10", 20, 10), ("Name", 0, 0), ("Ann", 0, 10))
    ]
    table = holding(0xF003, holding(0xF004, properties), *cells)
    content = make_ppt([slide(table)], [holding(0x0FF0, listed(2, 256))])
    assert parse("a.ppt", content).text == "Name | Fee\nAnn | 10"


def test_a_file_whose_list_is_lost_is_read_as_it_is_stored() -> None:
    assert parse("a.ppt", make_ppt([slide(shape(text(OTHER, "found")))], [])).text == "found"


def test_encrypted_files_are_named_so() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.ppt", make_ppt([slide()], [], token=0xF3D1C4DF))
    assert (caught.value.reason, caught.value.title) == (
        "encrypted",
        "Encrypted: a password is needed",
    )


def test_groups_without_end_are_not_followed() -> None:
    nested = text(OTHER, "deep")
    for _ in range(3000):
        nested = holding(0xF003, nested)
    content = make_ppt([slide(shape(text(OTHER, "text")), nested)], [])
    assert parse("a.ppt", content).text == "text"


@pytest.mark.slow
def test_a_file_cut_or_altered_anywhere_is_read_or_refused() -> None:
    whole = make_ppt(
        [slide(shape(text(TITLE, "Fees")), notes=300), slide(shape(text(NOTES, "n")), kind=0x03F0)],
        [holding(0x0FF0, listed(2, 256)), holding(0x0FF0, listed(3, 300), instance=2)],
    )
    for place in range(8, len(whole), 23):
        altered = whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :]
        for content in (whole[:place], altered):
            # Anything else that is raised fails the test.
            with suppress(Unreadable):
                assert len(parse("a.ppt", content).text) < len(whole)


def test_slides_of_1995_are_told_by_who_had_them_open() -> None:
    assert is_of_version_95(struct.pack("<I", 8) + b"somebody")
    later = struct.pack("<HHI", 0, 0x0FF6, 20) + bytes(20)
    assert not is_of_version_95(later)
    assert not is_of_version_95(b"")


def test_paragraphs_are_numbered_and_letters_raised_as_the_slide_shows_them() -> None:
    words = "Fees\ras of 2019\rpay 𐌲2\rask"
    plain, numbered = struct.pack("<I", 0), struct.pack("<IHH", 0x0F, 1, 0)[:6]
    paragraphs = struct.pack("<IH", 5, 0) + plain + struct.pack("<IH", 99, 1) + numbered
    letters = struct.pack("<II", 22, 0)
    letters += struct.pack("<IIH", 1, 0x80000, 30) + struct.pack("<II", 99, 0)
    looks = record(0x0FA1, paragraphs + letters)
    scheme = plain * 3 + struct.pack("<IHHH", 0x3000000, 1, 2, 1) + plain * 2
    tag = holding(0xF011, record(0x138B, record(0x0FAC, scheme)))
    shown = holding(0xF004, tag, holding(0xF00D, text(OTHER, words), looks))
    content = make_ppt([slide(shown)], [holding(0x0FF0, listed(2, 256))])
    assert parse("a.ppt", content).text == "Fees\n  1) as of 2019\n  2) pay 𐌲²\n  3) ask"


def test_merged_cells_of_a_table_stand_wherever_they_reach() -> None:
    properties = record(0xF122, struct.pack("<HI", 0x039F, 1), instance=1)
    wide = shape(text(OTHER, "Output"), 10, 0).replace(
        struct.pack("<4i", 10, 0, 19, 9), struct.pack("<4i", 10, 0, 30, 10)
    )
    places = (("Plant", 0, 0), ("2021", 10, 10), ("2022", 20, 10), ("Kolm", 0, 10))
    cells = [shape(text(OTHER, word), left, top) for word, left, top in places]
    table = holding(0xF003, holding(0xF004, properties), wide, *cells)
    content = make_ppt([slide(table)], [holding(0x0FF0, listed(2, 256))])
    assert parse("a.ppt", content).text == "Plant | Output | Output\nKolm | 2021 | 2022"
