import io
import zlib
from pathlib import Path

import pypdf
import pytest
from pypdf.generic import RectangleObject

from desktop_rag.core.parsed import Box, PageView, PageWish
from desktop_rag.ingest.read.foundation.source_file import (
    MAX_VIEW_HEIGHT_PX,
    SourceFile,
    Unreadable,
)
from desktop_rag.ingest.read.pdf.pdf_page_image import view_page
from tests.unit.ingest.read.pdf_samples import changed, encrypted, make_scan, turned
from tests.unit.ingest.read.samples import make_pdf

# Its lines stand 20 points apart, the first one 42 points below the top of 842.
PAGE = make_pdf(["first line\nthe words quoted\nlast line"])


def view(content: bytes, quote: str = "", page: int = 1, width_px: int = 600) -> PageView:
    return view_page(SourceFile(Path("a.pdf"), content), PageWish(page, width_px, quote))


def only_box(content: bytes, quote: str) -> Box:
    boxes = view(content, quote).boxes
    assert len(boxes) == 1
    return boxes[0]


def rows(shown: PageView) -> list[bytes]:
    """The picture's rows of red, green and blue bytes."""
    content = shown.png[shown.png.index(b"IDAT") + 4 :]
    unpacked = zlib.decompressobj().decompress(content)
    width = 3 * shown.width_px + 1
    return [unpacked[start + 1 : start + width] for start in range(0, len(unpacked), width)]


def test_every_word_has_its_place_in_the_order_of_the_text() -> None:
    pages = make_pdf(["The lamp is\nlit at dusk."])
    shown = view_page(SourceFile(Path("a.pdf"), pages), PageWish(1, 600, with_words=True))
    assert [word.text for word in shown.words] == ["The", "lamp", "is", "lit", "at", "dusk."]
    assert [word.ends_line for word in shown.words][:4] == [False, False, True, False]
    the, lamp, _, lit, *_ = (word.box for word in shown.words)
    assert the.right < lamp.left
    assert lamp.bottom < lit.bottom
    assert not view(pages).words


def test_a_page_is_drawn_as_wide_as_wished() -> None:
    shown = view(PAGE, width_px=595)
    assert (shown.page, shown.page_count) == (1, 1)
    assert (shown.width_px, shown.height_px) == (595, 842)
    dark = [number for number, row in enumerate(rows(shown)) if min(row) < 100]
    assert len(rows(shown)) == 842
    assert 30 < dark[0] < 42 < dark[-1] < 90


def test_the_colours_are_right() -> None:
    red = view(make_scan([(1, 1, b"\xff\0\0")]), width_px=10)
    assert rows(red)[5][15:18] == b"\xff\0\0"


def test_the_box_is_around_the_quote() -> None:
    box = only_box(PAGE, "words quoted")
    assert 0.10 < box.left < 0.13
    assert 0.17 < box.right < 0.24
    assert 52 / 842 < box.top < box.bottom < 66 / 842


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_the_box_turns_with_the_page(degrees: int) -> None:
    upright = only_box(PAGE, "words quoted")
    box = only_box(turned(PAGE, degrees), "words quoted")
    left, top, right, bottom = upright.left, upright.top, upright.right, upright.bottom
    expected = {
        90: (1 - bottom, left, 1 - top, right),
        180: (1 - right, 1 - bottom, 1 - left, 1 - top),
        270: (top, 1 - right, bottom, 1 - left),
    }[degrees]
    assert (box.left, box.top, box.right, box.bottom) == pytest.approx(expected, abs=0.001)


def crop(writer: pypdf.PdfWriter) -> None:
    writer.pages[0].cropbox = RectangleObject((0, 742, 297.5, 842))


def test_the_box_is_right_on_a_cropped_page() -> None:
    whole = only_box(PAGE, "words quoted")
    box = only_box(changed(PAGE, crop), "words quoted")
    assert box.left == pytest.approx(whole.left * 2, abs=0.001)
    assert box.top == pytest.approx(whole.top * 8.42, abs=0.001)


def test_a_quote_over_two_lines_has_two_boxes() -> None:
    boxes = view(PAGE, "words quoted\nlast").boxes
    assert len(boxes) == 2
    assert boxes[0].bottom < boxes[1].top


@pytest.mark.parametrize("quote", ["", "  ", "words that nobody wrote"])
def test_a_quote_that_is_not_there_has_no_box(quote: str) -> None:
    assert view(PAGE, quote).boxes == ()


def test_a_strip_of_paper_is_kept_small() -> None:
    strip = changed(
        PAGE, lambda w: setattr(w.pages[0], "mediabox", RectangleObject((0, 0, 5, 14000)))
    )
    shown = view(strip, width_px=2000)
    assert shown.height_px <= MAX_VIEW_HEIGHT_PX
    assert shown.width_px >= 1


@pytest.mark.parametrize(
    ("content", "page", "reason"),
    [
        (PAGE, 2, "missing"),
        (PAGE, 0, "missing"),
        (PAGE, -1, "missing"),
        (encrypted(PAGE, "sesame"), 1, "encrypted"),
        (PAGE[:100], 1, "damaged"),
    ],
)
def test_what_can_not_be_shown_has_its_reason(content: bytes, page: int, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        view(content, page=page)
    assert caught.value.reason == reason


def test_a_filled_in_form_is_shown_with_what_was_typed() -> None:
    content = make_pdf(["Name:"], note="Ann Lee")
    assert only_box(content, "Ann Lee").top > 0.2
    assert len(pypdf.PdfReader(io.BytesIO(content)).pages) == 1


def test_every_hit_on_the_page_has_its_box() -> None:
    page = make_pdf(["a lamp and\nanother LAMP,\nno more", "a lamp"])
    shown = view_page(SourceFile(Path("a.pdf"), page), PageWish(1, 600, find="lamp"))
    assert [len(boxes) for boxes in shown.found] == [1, 1]
    assert shown.found[0][0].top < shown.found[1][0].top
    broken = view_page(SourceFile(Path("a.pdf"), page), PageWish(1, 600, find="and another"))
    assert [len(boxes) for boxes in broken.found] == [2]


def test_words_that_are_each_found_as_a_whole_are_on_lines_of_their_own() -> None:
    page = make_pdf(["a lamp and\nanother lamp\nof lamps"])
    shown = view_page(SourceFile(Path("a.pdf"), page), PageWish(1, 600, find="lamp\nof\n"))
    assert [len(boxes) for boxes in shown.found] == [1, 1, 1]
    assert sorted(boxes[0].top for boxes in shown.found) == [b[0].top for b in shown.found]


def test_the_sizes_of_all_pages_come_along_when_asked_for() -> None:
    pages = make_pdf(["one", "two"])
    assert view(pages).sizes == ()
    shown = view_page(SourceFile(Path("a.pdf"), pages), PageWish(2, 600, with_sizes=True))
    assert shown.sizes == ((595.0, 842.0), (595.0, 842.0))
