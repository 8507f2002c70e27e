"""Pages and colours of code, which are asked for beside each other."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.parsed import PageWish
from desktop_rag.ingest.parsing.page_renderer import PageRenderer
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from tests.unit.ingest.read.samples import make_pdf

_LONG = "".join(f"def lamp_{n}(hour: int) -> str:\n    return 'lit'\n" for n in range(40_000))


@pytest.fixture
def renderer() -> Iterator[PageRenderer]:
    made = PageRenderer(lambda: ParserProcess(None, Limits(base_s=60.0)))
    yield made
    made.close()


def test_a_page_does_not_wait_for_the_colours_of_a_long_file(
    renderer: PageRenderer, tmp_path: Path
) -> None:
    code, report = tmp_path / "lamps.py", tmp_path / "report.pdf"
    code.write_text(_LONG)
    report.write_bytes(make_pdf(["The lamp is lit."]))
    left = threading.Event()
    ended: list[str] = []

    def colour() -> None:
        try:
            renderer.colours(code, _LONG, cancel=left)
            ended.append("coloured")
        except Cancelled:
            ended.append("left")

    colouring = threading.Thread(target=colour)
    colouring.start()
    view = renderer.draw(report, PageWish(1, 400), cancel=threading.Event())
    assert view is not None
    assert view.page_count == 1
    assert ended == []
    left.set()
    colouring.join(20)
    assert ended == ["left"]


def test_nothing_is_drawn_after_the_end(renderer: PageRenderer, tmp_path: Path) -> None:
    report = tmp_path / "report.pdf"
    report.write_bytes(make_pdf(["The lamp is lit."]))
    renderer.close()
    assert renderer.draw(report, PageWish(1, 400), cancel=threading.Event()) is None
    assert renderer.colours(report, "", cancel=threading.Event()) == ()
