"""Writes blocks as a PDF with a title band, page numbers and an outline, for build_demo.py.

Streams are uncompressed: the bytes then depend on reportlab alone, and a diff is readable.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from demo_blocks import Block, Heading, Items, PageBreak, Paragraph, Table, Text, plain
from reportlab.lib.colors import HexColor, white
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, ListFlowable, PageTemplate, Spacer
from reportlab.platypus import NextPageTemplate as Template
from reportlab.platypus import PageBreak as NewPage
from reportlab.platypus import Paragraph as Lines
from reportlab.platypus import Table as Grid

INK, SEA, RED = HexColor("#22303a"), HexColor("#1f3f57"), HexColor("#9c2f24")
PALE, RULE = HexColor("#eef2f4"), HexColor("#c9d2d8")
WIDTH, HEIGHT = A4
MARGIN = 24 * mm
BOTTOM = 23 * mm
BAND_HEIGHT = 52 * mm
TITLE_WIDTH = 112 * mm
COLUMN = WIDTH - 2 * MARGIN
MOST_OF_A_COLUMN = 0.62  # the maximum share of the width for the longest column of a table

BODY = ParagraphStyle(
    "body", fontName="Times-Roman", fontSize=12, leading=16.5, spaceAfter=6, textColor=INK
)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=11, leading=13.5, spaceAfter=0)
HEAD = ParagraphStyle("head", parent=CELL, fontName="Helvetica-Bold", fontSize=9, textColor=white)
HEADINGS = {
    2: ParagraphStyle(
        "h2", fontName="Helvetica-Bold", fontSize=16, leading=20, spaceBefore=10, spaceAfter=7,
        textColor=RED, keepWithNext=1,
    ),
    3: ParagraphStyle(
        "h3", fontName="Helvetica-Bold", fontSize=12, leading=16, spaceBefore=8, spaceAfter=3,
        textColor=SEA, keepWithNext=1,
    ),
}  # fmt: skip


class _Document(BaseDocTemplate):
    """A document that adds its headings to the outline when they are placed on a page."""

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 (reportlab's name)
        """Add a heading to the outline."""
        for level, style in HEADINGS.items():
            if isinstance(flowable, Lines) and flowable.style is style:
                title = flowable.getPlainText()
                key = f"{self.page}-{title}"
                self.canv.bookmarkPage(key)
                self.canv.addOutlineEntry(title, key, level - 2, closed=level == min(HEADINGS))


def write_pdf(path: Path, blocks: list[Block], author: str) -> None:
    """Write `blocks` to `path`; the first must be the title, the second a line below it."""
    title, subtitle, *rest = blocks
    if not isinstance(title, Heading) or not isinstance(subtitle, Paragraph):
        raise ValueError(f"{path.name}: a title and a paragraph must come first")
    name = plain(title.text)
    document = _Document(
        str(path), pagesize=A4, title=name, author=author, lang="en-GB", invariant=1,
        pageCompression=0,
    )  # fmt: skip

    def cover(canvas: Canvas, _document: BaseDocTemplate) -> None:
        _draw_band(canvas, name, plain(subtitle.text))

    def foot(canvas: Canvas, _document: BaseDocTemplate) -> None:
        _draw_foot(canvas, author if canvas.getPageNumber() == 1 else f"{author} · {name}")

    frames = [
        Frame(MARGIN, BOTTOM, COLUMN, HEIGHT - top - BOTTOM, 0, 0, 0, 0)
        for top in (BAND_HEIGHT + 8 * mm, BOTTOM)
    ]
    # The footer is drawn after the text, so that it also comes last in extracted text.
    document.addPageTemplates([
        PageTemplate("cover", frames[0], onPage=cover, onPageEnd=foot),
        PageTemplate("later", frames[1], onPageEnd=foot),
    ])  # fmt: skip
    document.build([Template("later"), *(part for block in rest for part in _flow(block))])


def _flow(block: Block) -> Iterator[Flowable]:
    match block:
        case Heading(level, text):
            yield Lines(_markup(text), HEADINGS[level])
        case Paragraph(text):
            yield Lines(_markup(text), BODY)
        case Items(is_numbered, items):
            yield ListFlowable(
                [Lines(_markup(item), BODY) for item in items],
                bulletType="1" if is_numbered else "bullet",
                start=None if is_numbered else "•",
                bulletFormat="%s." if is_numbered else None,
                bulletFontName="Times-Roman",
                bulletFontSize=12,
                bulletColor=RED,
                leftIndent=16,
            )
        case Table(rows):
            yield _grid(rows)
            yield Spacer(1, 8)
        case PageBreak():
            yield NewPage()


def _grid(rows: tuple[tuple[Text, ...], ...]) -> Grid:
    cells = [
        [Lines(_markup(text), HEAD if row == 0 else CELL) for text in texts]
        for row, texts in enumerate(rows)
    ]
    longest = [max(len(plain(row[column])) for row in rows) for column in range(len(rows[0]))]
    shares = [min(max(length + 2, 11), MOST_OF_A_COLUMN * sum(longest)) for length in longest]
    return Grid(
        cells,
        colWidths=[COLUMN * share / sum(shares) for share in shares],
        repeatRows=1,
        hAlign="LEFT",
        style=[
            ("BACKGROUND", (0, 0), (-1, 0), SEA),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [white, PALE]),
            ("LINEBELOW", (0, 0), (-1, -1), 0.5, RULE),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 3),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
        ],
    )


def _markup(text: Text) -> str:
    return "".join(
        f"<b>{escape(run.text)}</b>" if run.is_bold else escape(run.text) for run in text
    )


def _draw_band(canvas: Canvas, title: str, subtitle: str) -> None:
    canvas.saveState()
    bottom = HEIGHT - BAND_HEIGHT
    canvas.setFillColor(SEA)
    canvas.rect(0, bottom, WIDTH, BAND_HEIGHT, stroke=0, fill=1)
    _draw_lighthouse(canvas, WIDTH - MARGIN - 14 * mm, bottom)
    canvas.setFillColor(white)
    size = min(24.0, 24.0 * TITLE_WIDTH / stringWidth(title, "Helvetica-Bold", 24))
    canvas.setFont("Helvetica-Bold", size)
    canvas.drawString(MARGIN, bottom + 30 * mm, title)
    line = Lines(escape(subtitle), ParagraphStyle("sub", parent=CELL, textColor=white))
    _, height = line.wrap(TITLE_WIDTH, BAND_HEIGHT)
    line.drawOn(canvas, MARGIN, bottom + 25 * mm - height)
    canvas.restoreState()


def _draw_lighthouse(canvas: Canvas, x: float, bottom: float) -> None:
    """A white tower with one red band and a lit lamp, on the lower edge of the title band."""

    def polygon(points: list[tuple[float, float]]) -> None:
        path = canvas.beginPath()
        path.moveTo(x + points[0][0] * mm, bottom + points[0][1] * mm)
        for across, up in points[1:]:
            path.lineTo(x + across * mm, bottom + up * mm)
        path.close()
        canvas.drawPath(path, stroke=0, fill=1)

    canvas.setFillColor(HexColor("#33566f"))
    polygon([(0, 37.5), (-34, 45), (-34, 33)])
    canvas.setFillColor(white)
    polygon([(-5, 0), (-3.2, 34), (3.2, 34), (5, 0)])
    canvas.setFillColor(RED)
    polygon([(-4.4, 12), (-4, 19), (4, 19), (4.4, 12)])
    polygon([(-3.2, 41), (0, 45), (3.2, 41)])
    canvas.setFillColor(HexColor("#f4cf6b"))
    polygon([(-2.4, 35), (-2.4, 41), (2.4, 41), (2.4, 35)])
    canvas.setFillColor(RULE)
    polygon([(-4.6, 34), (-4.6, 35), (4.6, 35), (4.6, 34)])


def _draw_foot(canvas: Canvas, line: str) -> None:
    canvas.saveState()
    canvas.setStrokeColor(RULE)
    canvas.line(MARGIN, 18 * mm, WIDTH - MARGIN, 18 * mm)
    canvas.setFont("Helvetica", 8.5)
    canvas.setFillColor(SEA)
    canvas.drawString(MARGIN, 13 * mm, line)
    canvas.drawRightString(WIDTH - MARGIN, 13 * mm, f"Page {canvas.getPageNumber()}")
    canvas.restoreState()
