import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import make_ole, parse

TEXT_OFFSET = 0x800
PARTS = ("main", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")
IN_TABLE, ROW_END = b"\x16\x24\x01", b"\x16\x24\x01\x17\x24\x01"
LIST_ITEM = b"\x0a\x26\x01\x0b\x46\x01\x00"
HEADING_1, TITLE, OWN, NUMBERED, MADE_FROM_NUMBERED = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Para:
    """A paragraph of the main text with its mark, the number of its style, and properties."""

    text: str
    style: int = 0
    properties: bytes = b""


def make_doc(
    paragraphs: Sequence[Para],
    parts: Mapping[str, str] | None = None,
    tables: Mapping[int, bytes] | None = None,
    looks: bytes = b"",
    flags: int = 0,
    table_start: int = 8,
) -> bytes:
    """A Word 97 file of one piece of UTF-16; `tables` are further ones by their number."""
    text = "".join(paragraph.text for paragraph in paragraphs) + "".join((parts or {}).values())
    encoded = text.encode("utf-16-le")
    stream = bytearray(TEXT_OFFSET) + encoded
    stream += bytes(-len(stream) % 512)
    pages = [paragraph_page(paragraphs)]
    if looks:
        pages.append(looks)
    first_page = len(stream) // 512
    stream += b"".join(pages)
    bins = [struct.pack("<3I", 0, 1 << 20, first_page + n) for n in range(len(pages))]
    found = {1: style_sheet(), 13: bins[0], 33: piece_table(len(encoded) // 2), **(tables or {})}
    if len(pages) > 1:
        found[12] = bins[1]
    table = bytearray(table_start)
    struct.pack_into("<6H", stream, 0, 0xA5EC, 0xC1, 0, 0x409, 0, 0x0200 | flags)
    for number, content in found.items():
        # What no pair of the header names stands behind the content before it.
        if number > 0:
            struct.pack_into("<II", stream, 0x9A + 8 * number, len(table), len(content))
        table += content
    main = sum(len(paragraph.text.encode("utf-16-le")) // 2 for paragraph in paragraphs)
    counts = {"main": main, **{name: len(part) for name, part in (parts or {}).items()}}
    struct.pack_into("<8i", stream, 0x4C, *(counts.get(name, 0) for name in PARTS))
    return make_ole({"WordDocument": bytes(stream), "1Table": bytes(table)})


def piece_table(length: int) -> bytes:
    """One piece that is the whole text, behind properties that are skipped."""
    pieces = struct.pack("<IIHIH", 0, length, 0, TEXT_OFFSET, 0)
    return b"\1\2\0xx" + b"\2" + struct.pack("<I", len(pieces)) + pieces


def paragraph_page(paragraphs: Sequence[Para]) -> bytes:
    """The page that says how the paragraphs look."""
    page, free = bytearray(512), 510
    offsets = [TEXT_OFFSET]
    for paragraph in paragraphs:
        offsets.append(offsets[-1] + len(paragraph.text.encode("utf-16-le")))
    struct.pack_into(f"<{len(offsets)}I", page, 0, *offsets)
    for n, paragraph in enumerate(paragraphs):
        content = struct.pack("<H", paragraph.style) + paragraph.properties
        if len(content) % 2:
            content = bytes([(len(content) + 1) // 2]) + content
        else:
            content = bytes([0, len(content) // 2]) + content
        free -= (len(content) + 1) // 2 * 2
        page[free : free + len(content)] = content
        page[4 * len(offsets) + 13 * n] = free // 2
    page[511] = len(paragraphs)
    return bytes(page)


def character_page(start: int, end: int) -> bytes:
    """The page that says which characters of the text were deleted."""
    page = bytearray(512)
    struct.pack_into("<2I", page, 0, TEXT_OFFSET + 2 * start, TEXT_OFFSET + 2 * end)
    page[8], page[400:404], page[511] = 200, b"\3\x00\x08\1", 1
    return bytes(page)


def style_sheet() -> bytes:
    """Normal, heading 1, Title, one of our own that is based on heading 1, a numbered one with
    letters that are crossed out, one made from that, and two of letters: raised, hidden.
    """
    of_paragraphs = [(0, 0xFFF, b"", b""), (1, 0, b"", b""), (62, 0, b"", b"")]
    of_paragraphs += [(0xFFE, HEADING_1, b"", b""), (0xFFE, 0, b"\x0b\x46\2\0", b"\x37\x08\1")]
    of_paragraphs += [(0xFFE, NUMBERED, b"\x0a\x26\1", b"")]
    styles = [(*style[:2], 1, (b"\0\0" + style[2], style[3])) for style in of_paragraphs]
    styles += [(0xFFE, 0xFFF, 2, (look,)) for look in (b"\x48\x2a\1", b"\x3c\x08\1")]
    entries: list[bytes] = []
    for built_in, base, kind, parts in styles:
        entry = struct.pack("<HHH4xH2xH", built_in, base << 4 | kind, len(parts), 1, 0)
        for part in parts:
            entry += struct.pack("<H", len(part)) + part + bytes(len(part) % 2)
        entries.append(struct.pack("<H", len(entry)) + entry)
    return struct.pack("<HHH", 4, len(styles), 10) + b"".join(entries)


def lists(*levels: tuple[int, int, str]) -> dict[int, bytes]:
    """Two numberings of one list with these levels: the number it starts with, kind and text."""
    entry = struct.pack("<i22xBx", 7, 0)
    made = [
        struct.pack("<iB23xH", start, kind, len(text)) + text.encode("utf-16-le")
        for start, kind, text in [*levels, *[(1, 23, "·")] * (9 - len(levels))]
    ]
    uses = struct.pack("<I", 2) + struct.pack("<i12x", 7) * 2 + bytes(8)
    return {73: struct.pack("<H", 1) + entry, -73: b"".join(made), 74: uses}


def test_items_and_headings_have_the_numbers_of_their_lists() -> None:
    numbered = b"\x0b\x46\1\0"
    paragraphs = [
        Para("Scope\r", HEADING_1, numbered),
        Para("goods\r", 0, numbered + b"\x0a\x26\1"),
        Para("works\r", MADE_FROM_NUMBERED, b""),
        Para("Terms\r", HEADING_1, numbered),
        Para("price\r", 0, numbered + b"\x0a\x26\1"),
        Para("loose\r", 0, numbered + b"\x0a\x26\2"),
        Para("kind\7", 0, numbered + IN_TABLE),
        Para("cost\7", 0, IN_TABLE),
        Para("\7", 0, ROW_END),
    ]
    tables = lists((3, 0, "\0."), (1, 4, "\0.\1)"))
    plain = looks_page((0, len("Scope\rgoods\rworks\r"), b""))
    text = parse("a.doc", make_doc(paragraphs, tables=tables, looks=plain)).text
    assert text == (
        "3. Scope\n\n  3.a) goods\n  3.b) ~~works~~\n\n4. Terms\n\n  4.a) price\n    - loose\n\n"
        "5. kind | cost"
    )


def test_letters_look_as_the_styles_of_paragraphs_and_letters_say() -> None:
    paragraphs = [Para("was 900\r", NUMBERED), Para("Area 95 m2 internal\r")]
    text = "".join(each.text for each in paragraphs)
    places = [("900\r", b"\x37\x08\x81"), ("2", b"\x30\x4a\6\0"), ("internal", b"\x30\x4a\7\0")]
    spans = [(text.index(word), text.index(word) + len(word), p) for word, p in places]
    looks = looks_page((0, len("was "), b""), *spans)
    document = parse("a.doc", make_doc(paragraphs, looks=looks, tables=lists((1, 0, "\0."))))
    assert document.text == "1. ~~was~~ 900\n\nArea 95 m²"


def read(*paragraphs: Para) -> ParsedDocument:
    return parse("a.doc", make_doc(paragraphs))


def test_headings_come_from_built_in_styles_and_those_based_on_them() -> None:
    document = read(
        Para("Plan\r", TITLE),
        Para("Fees\r", HEADING_1),
        Para("Members\r", OWN, b"\x40\x26\x01"),
        Para("Mine\r", OWN),
        Para("text\r", HEADING_1, b"\x40\x26\x09"),
    )
    assert document.title == "Plan"
    levels = [(h.level, h.title) for h in document.headings]
    assert levels == [(1, "Plan"), (2, "Fees"), (3, "Members"), (2, "Mine")]
    assert document.text == "Plan\n\nFees\n\nMembers\n\nMine\n\ntext"
    assert document.marks[2].anchor.heading == "Plan › Fees › Members"


def test_rows_end_where_the_file_says_so() -> None:
    cells = [Para("Ann\r", 0, IN_TABLE), Para("Lee\7", 0, IN_TABLE), Para("\7", 0, IN_TABLE)]
    last = [Para("10\7", 0, IN_TABLE), Para("\7", 0, ROW_END)]
    assert read(Para("a\r"), *cells, *last, *last, Para("b\r")).text == (
        "a\n\nAnn Lee |  | 10\n\n10\n\nb"
    )


def test_list_items_have_a_dash_and_their_depth() -> None:
    assert read(Para("one\r", 0, LIST_ITEM), Para("two\r")).text == "  - one\n\ntwo"


def test_results_of_fields_are_kept_and_codes_dropped() -> None:
    field = "\x13 HYPERLINK \x13 x \x14 y \x15 \x14the page\x15"
    assert read(Para(f"see {field} here\r"), Para("a\x13 XE b\x15c\r")).text == (
        "see the page here\n\nac"
    )
    assert read(Para("a\x13 never ends\r"), Para("b\r")).text == "a\n\nb"


def test_special_characters_and_pairs() -> None:
    assert read(Para("a\x0bb\x1ec\x1fd\x01e 😀\x0cnew\r")).text == "a\nb-cde 😀\n\nnew"


def test_notes_and_comments_follow_the_paragraph_that_refers_to_them() -> None:
    main = (Para("text\2 goes on\5\r"), Para("next\r"))
    parts = {"footnotes": "\2 a note\r\r", "comments": "\5why?\r\r"}
    tables = {
        2: struct.pack("<2IH", 4, 99, 1),
        3: struct.pack("<3I", 0, 9, 10),
        4: struct.pack("<2I30x", 13, 99),
        5: struct.pack("<3I", 0, 6, 7),
    }
    assert parse("a.doc", make_doc(main, parts, tables)).text == (
        "text[1] goes on\n\n[1] a note\n[Comment: why?]\n\nnext"
    )


def test_notes_without_their_places_come_after_the_text() -> None:
    parts = {"footnotes": "\2 a note\r", "boxes": "in a box\r"}
    assert parse("a.doc", make_doc([Para("text\r")], parts)).text == "text\n\nin a box\n\na note"


def test_headers_come_last_once_and_under_no_heading() -> None:
    content = make_doc([Para("A\r", HEADING_1), Para("b\r")], {"headers": "Top\r\3\rTop\r7\r"})
    document = parse("a.doc", content)
    assert document.text == "A\n\nb\n\nTop"
    assert document.marks[-1].anchor == Anchor()


def test_deleted_text_is_left_out() -> None:
    content = make_doc([Para("seen GONE seen\r")], looks=character_page(5, 10))
    assert parse("a.doc", content).text == "seen seen"


def test_encrypted_files_are_named_so() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.doc", make_doc([Para("x\r")], flags=0x0100))
    assert (caught.value.reason, caught.value.title) == (
        "encrypted",
        "Encrypted: a password is needed",
    )


def test_word_6_is_read_in_the_code_page_of_its_language() -> None:
    text = "Жизнь\rдни\7щи\7\7лили\r".encode("cp1251")
    stream = bytearray(TEXT_OFFSET) + text
    struct.pack_into("<6H", stream, 0, 0xA5DC, 0x65, 0, 0x419, 0, 0)
    struct.pack_into("<II", stream, 0x18, TEXT_OFFSET, len(stream))
    struct.pack_into("<i", stream, 0x34, len(text))
    content = make_ole({"WordDocument": bytes(stream)})
    assert parse("a.doc", content).text == "Жизнь\n\nдни | щи\n\nлили"


@pytest.mark.slow
def test_a_file_cut_or_altered_anywhere_is_read_or_refused() -> None:
    whole = make_doc(
        [Para("Fees\r", HEADING_1), Para("a\7", 0, IN_TABLE), Para("\7", 0, ROW_END)],
        {"footnotes": "\2 note\r"},
        {2: struct.pack("<2IH", 1, 9, 1), 3: struct.pack("<3I", 0, 7, 8)},
        looks=character_page(0, 1),
    )
    for place in range(8, len(whole), 37):
        altered = whole[:place] + b"\xff\xff\xff\x7f" + whole[place + 4 :]
        for content in (whole[:place], altered):
            # Anything else that is raised fails the test.
            with suppress(Unreadable):
                assert len(parse("a.doc", content).text) < len(whole)


def test_text_before_word_6_is_too_old_not_damaged() -> None:
    stream = struct.pack("<6H", 0xA5DB, 45, 0, 0x409, 0, 0) + bytes(600)
    with pytest.raises(Unreadable) as caught:
        parse("a.doc", make_ole({"WordDocument": stream}))
    assert (caught.value.reason, caught.value.title) == (
        "unsupported",
        "Too old: Word before version 6",
    )


def looks_page(*looks: tuple[int, int, bytes]) -> bytes:
    """The page that says how stretches of characters look."""
    page, free = bytearray(512), 500
    offsets = [
        TEXT_OFFSET + 2 * place for place in sorted({p for a, b, _ in looks for p in (a, b)})
    ]
    struct.pack_into(f"<{len(offsets)}I", page, 0, *offsets)
    for start, _, properties in looks:
        free -= (len(properties) + 2) // 2 * 2
        page[free : free + len(properties) + 1] = bytes([len(properties)]) + properties
        page[4 * len(offsets) + offsets.index(TEXT_OFFSET + 2 * start)] = free // 2
    page[511] = len(offsets) - 1
    return bytes(page)


def test_letters_that_are_raised_crossed_out_or_hidden() -> None:
    text = "Turnover 482x1 million, 90 80 for secret members.\r"
    places = [("1", b"\x48\x2a\x01"), ("90", b"\x37\x08\x01"), ("secret ", b"\x3c\x08\x01")]
    spans = [(text.index(word), text.index(word) + len(word), p) for word, p in places]
    content = make_doc([Para(text), Para("Next year.\r")], looks=looks_page(*spans))
    shown = "Turnover 482x¹ million, ~~90~~ 80 for members.\n\nNext year."
    assert parse("a.doc", content).text == shown
