"""Pictures are read last: files with text are searchable before the first one is begun."""

import importlib.util
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop_rag.app import Services, build_services
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.library_events import DocumentsChanged, ProgressChanged, Stage
from desktop_rag.core.paths import Home
from desktop_rag.core.pictures import PictureHold
from desktop_rag.core.settings import IndexSettings, LongReading, Settings
from desktop_rag.waiting import Waiting
from tests.asking import ask
from tests.unit.ingest.read.pdf_samples import changed, make_scan, rendered
from tests.unit.ingest.read.samples import make_pdf

_WAIT_S = 120.0
_KEYS = "The treasurer keeps the keys of the shed"
_BOATS = ("The fisher paints a boat", "The carpenter carves an oar")
_MIXED = "a-half-scanned.pdf"
_SCAN = "b-scan.pdf"
_PICTURE = "c-picture.png"
_TEXTS = ("x.md", "y.txt", "z.pdf")

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("rapidocr") is None, reason="the extra `ocr` is not installed"
    ),
    pytest.mark.timeout(180),  # a picture takes seconds of processor time
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures whose names come first, and texts."""
    folder = tmp_path / "papers"
    folder.mkdir()
    scan = make_scan([rendered(_KEYS)])
    mixed = changed(make_pdf(["The harbour has a lamp"]), lambda w: w.append(io.BytesIO(scan)))
    (folder / _MIXED).write_bytes(mixed)
    (folder / _SCAN).write_bytes(make_scan(list(map(rendered, _BOATS))))
    (folder / _PICTURE).write_bytes(_png("The miller sells flour"))
    (folder / "x.md").write_text("# Bread\n\nThe baker bakes bread.", encoding="utf-8")
    (folder / "y.txt").write_text("The smith shoes the horse.", encoding="utf-8")
    (folder / "z.pdf").write_bytes(make_pdf(["The tailor mends the coat"]))
    return folder


@contextmanager
def running(home: Home) -> Iterator[Services]:
    services = build_services(home)
    try:
        yield services
    finally:
        services.close()


def rows(services: Services) -> dict[str, Document]:
    return {d.path.name: d for d in services.library.documents.all()}


def text_of(services: Services, name: str) -> str:
    return services.library.documents.text(rows(services)[name].document_id)


def rest(services: Services) -> None:
    assert services.library.indexing.wait_until_idle(_WAIT_S)


def start(services: Services, folder: Path | None = None) -> None:
    if folder:
        services.library.sources.add(folder)
    services.library.start(watch=False)


def test_every_text_is_searchable_before_the_first_picture_is_read(
    home: Home, folder: Path
) -> None:
    heard: list[object] = []
    with running(home) as services:
        services.changes.hear(object, heard.append)
        start(services, folder)
        rest(services)
        stored = [
            d for event in heard if isinstance(event, DocumentsChanged) for d in event.documents
        ]
        found = [d for d in stored if d.state.is_searchable]
        first = [d.path.name for d in found if not d.pictures_waiting]
        last_text = max(first.index(name) for name in _TEXTS)
        assert last_text < min(first.index(name) for name in (_MIXED, _SCAN, _PICTURE))
        # Its typed page did not wait for the scanned one.
        half = next(d for d in found if d.path.name == _MIXED)
        assert half.pictures_waiting == 1
        assert "treasurer keeps the keys" in text_of(services, _MIXED)
        assert "lamp" in text_of(services, _MIXED)
        assert text_of(services, _SCAN).split() == " ".join(_BOATS).split()
        assert "miller" in text_of(services, _PICTURE)
        assert all(d.pictures_waiting == 0 for d in rows(services).values())


def test_pictures_can_be_paused_alone_and_wait_over_a_restart(home: Home, folder: Path) -> None:
    with running(home) as services:
        indexing = services.library.indexing
        indexing.pause_pictures()
        start(services, folder)
        rest(services)
        known = rows(services)
        assert all(known[name].state is DocumentState.SEARCHABLE for name in (*_TEXTS, _MIXED))
        assert known[_SCAN].state is DocumentState.WAITING
        assert known[_SCAN].pictures_waiting == 2
        assert "wait to be read: 1" in known[_PICTURE].reason
        waiting = indexing.progress().pictures
        assert (waiting.count, waiting.hold) == (4, PictureHold.PAUSED)
        assert services.chat.search("lamp harbour")[0].path.endswith(_MIXED)
        answer = ask(services, f"What is in {_PICTURE}?")
        assert "wait to be read: 1" in answer.text
    with running(home) as services:
        start(services)
        rest(services)
        assert text_of(services, _SCAN).split() == " ".join(_BOATS).split()
        assert services.library.indexing.progress().pictures.count == 0


def test_a_file_goes_on_with_the_picture_at_which_it_was_stopped(home: Home, folder: Path) -> None:
    pages = [rendered(f"This is the {number} page") for number in ("first", "second", "third")]
    for path in folder.iterdir():
        path.unlink()
    (folder / _SCAN).write_bytes(make_scan(pages))
    with running(home) as services:
        indexing = services.library.indexing

        def stop(event: ProgressChanged) -> None:
            if event.progress.stage is Stage.PICTURES:
                step = event.progress.step
                if step and step.files_done == 1:
                    indexing.pause_pictures()

        stop_hearing = services.changes.hear(ProgressChanged, stop)
        start(services, folder)
        rest(services)
        stop_hearing()
        [kept] = home.pictures.iterdir()
        known = kept.read_text(encoding="utf-8")
        assert "first" in known
        assert "third" not in known
        kept.write_text(known.replace("first", "kept"), encoding="utf-8")
    with running(home) as services:
        start(services)
        rest(services)
        # The page that was known is not read again.
        numbers = [line.split()[3] for line in text_of(services, _SCAN).splitlines() if line]
        assert numbers == ["kept", "second", "third"]


@pytest.mark.parametrize(
    ("change", "is_left"),
    [(Path.unlink, False), (lambda path: path.write_bytes(make_pdf(["typed now"])), True)],
)
def test_a_file_that_goes_or_changes_waits_no_more(
    home: Home, folder: Path, change: Callable[[Path], object], is_left: bool
) -> None:
    with running(home) as services:
        indexing = services.library.indexing
        indexing.pause_pictures()
        start(services, folder)
        rest(services)
        change(folder / _SCAN)
        services.library.sources.rescan()
        rest(services)
        assert indexing.progress().pictures.count == 2
        assert (_SCAN in rows(services)) is is_left
        indexing.resume_pictures()
        rest(services)
        if is_left:
            assert text_of(services, _SCAN).strip() == "typed now"


def test_a_picture_that_turns_out_damaged_says_so_and_can_be_tried_again(
    home: Home, folder: Path
) -> None:
    damaged = folder / _PICTURE
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 3])
    with running(home) as services:
        start(services, folder)
        rest(services)
        row = rows(services)[_PICTURE]
        assert row.state is DocumentState.FAILED
        assert row.reason.startswith("The file is damaged")
        assert services.library.documents.read_again([row.document_id]) == 1
        rest(services)
        assert rows(services)[_PICTURE].reason == row.reason
        damaged.write_bytes(whole)
        services.library.sources.rescan()
        rest(services)
        assert "miller" in text_of(services, _PICTURE)


def test_pictures_go_with_their_folder(home: Home, folder: Path) -> None:
    for path in folder.iterdir():
        if path.name not in {_PICTURE, _SCAN}:
            path.unlink()
    with running(home) as services:
        library = services.library
        start(services, folder)
        rest(services)
        assert len(list(home.pictures.iterdir())) == 2
        library.indexing.pause_pictures()
        (folder / "d.png").write_bytes(_png("The weaver weaves cloth"))
        library.sources.rescan()
        rest(services)
        assert library.indexing.progress().pictures.count == 1
        [source] = library.sources.all()
        library.sources.remove(source.source_id)
        assert library.indexing.progress().pictures.count == 0
        assert list(home.pictures.iterdir()) == []


def test_switching_pictures_off_and_on_has_their_files_read_again(home: Home, folder: Path) -> None:
    home.create()
    with running(home) as services:
        services.library.indexing.pause_pictures()
        start(services, folder)
        rest(services)
    save_settings(home.settings, Settings(index=IndexSettings(reads_pictures=False)))
    with running(home) as services:
        start(services)
        rest(services)
        assert "switch on" in rows(services)[_MIXED].reason
        assert rows(services)[_SCAN].state is DocumentState.SKIPPED
        assert services.library.indexing.progress().pictures.count == 0
    save_settings(home.settings, Settings())
    with running(home) as services:
        start(services)
        rest(services)
        assert "treasurer" in text_of(services, _MIXED)
        assert "boat" in text_of(services, _SCAN)


def test_what_takes_long_waits_for_leave_and_holds_nothing_up(home: Home, folder: Path) -> None:
    black = (40, 40, bytes(3 * 40 * 40))
    for number in range(3):
        (folder / f"long-{number}.pdf").write_bytes(make_scan([black] * 450))
    home.create()
    save_settings(home.settings, Settings(index=IndexSettings(long_pictures=LongReading.WAIT)))
    with running(home) as services:
        indexing = services.library.indexing
        start(services, folder)
        said: list[str] = []
        with Waiting(services.library, said.append) as waiting:
            waiting.until_idle()
        assert said[-1].startswith("1,354 pictures not read yet, about 1 h")
        assert indexing.progress().pictures.hold is PictureHold.LATER
        assert all(rows(services)[name].state is DocumentState.SEARCHABLE for name in _TEXTS)
        assert text_of(services, _PICTURE) == ""
        read = threading.Event()

        def see(event: ProgressChanged) -> None:
            if event.progress.pictures.count < 1354:
                read.set()

        services.changes.hear(ProgressChanged, see)
        indexing.read_pictures()
        assert read.wait(_WAIT_S)


def _png(text: str) -> bytes:
    from PIL import Image

    width, height, rgb = rendered(text)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (width, height), rgb).crop((0, 0, width, 400)).save(buffer, "PNG")
    return buffer.getvalue()
