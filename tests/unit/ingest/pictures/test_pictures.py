"""What waits, what holds it up, and what is kept of pictures."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import Stage
from desktop_rag.core.pictures import PictureHold, PictureText, waiting_in, waiting_words
from desktop_rag.core.settings import LongReading
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.parsing.parser_process import ParseFailed
from desktop_rag.ingest.pictures.pictures import KeptPictures, PictureFolder, Pictures
from tests.unit.ui.rooms import make_document


class Clock:
    """A clock that stands still until it is set forward."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def made(tmp_path: Path, clock: Clock | None = None) -> tuple[Pictures, ProgressMeter]:
    meter = ProgressMeter(has_embedder=False, clock=clock or Clock())
    return Pictures(tmp_path / "pictures", meter, are_read=True), meter


def waiting(count: int, name: str = "scan.pdf") -> Document:
    return make_document(name, DocumentState.WAITING, reason=waiting_words(count))


def measured(meter: ProgressMeter, clock: Clock, seconds: float) -> None:
    """The meter has seen two pictures that took so long each, enough to tell the pace."""
    for left in (3, 2):
        meter.set_pictures_left(left)
        clock.now += seconds
        meter.add_pictures(1, is_measured=True)


def test_the_number_that_waits_stands_in_the_reason() -> None:
    assert waiting_in(f"Pages without text: 2.; {waiting_words(17)}") == 17
    assert waiting_in("No text found.") == 0


def test_the_file_with_the_fewest_pictures_is_next(tmp_path: Path) -> None:
    pictures, _ = made(tmp_path)
    few, many = waiting(2, "few"), waiting(90, "many")
    pictures.note([many, few])
    assert pictures.next_id() == few.document_id
    pictures.note([replace(few, state=DocumentState.GONE)])
    assert pictures.next_id() == many.document_id
    pictures.note([replace(many, reason="", state=DocumentState.SEARCHABLE)])
    assert pictures.next_id() is None


def test_it_asks_before_it_takes_more_than_an_hour_once_the_pace_is_known(tmp_path: Path) -> None:
    clock = Clock()
    pictures, meter = made(tmp_path, clock)
    pictures.note([waiting(2000)])
    assert pictures.waiting.hold is PictureHold.NONE, "the first pictures show the pace"
    measured(meter, clock, 6.0)
    assert pictures.waiting.hold is PictureHold.ASKED
    assert pictures.waiting.seconds == pytest.approx(12_000)
    pictures.tell()
    assert not meter.snapshot().steps[-1:] or meter.snapshot().steps[-1].is_done


def test_what_takes_less_is_read_without_a_question(tmp_path: Path) -> None:
    clock = Clock()
    pictures, meter = made(tmp_path, clock)
    measured(meter, clock, 6.0)
    pictures.note([waiting(600)])
    assert pictures.waiting.hold is PictureHold.NONE
    pictures.note([waiting(601)])
    assert pictures.waiting.hold is PictureHold.ASKED


@pytest.mark.parametrize(
    ("choice", "hold"),
    [(LongReading.READ, PictureHold.NONE), (LongReading.WAIT, PictureHold.LATER)],
)
def test_the_answer_is_a_setting(tmp_path: Path, choice: LongReading, hold: PictureHold) -> None:
    clock = Clock()
    pictures, meter = made(tmp_path, clock)
    measured(meter, clock, 6.0)
    pictures.note([waiting(2000)])
    pictures.apply(choice)
    assert pictures.waiting.hold is hold
    pictures.allow()
    assert pictures.waiting.hold is PictureHold.NONE


def test_paused_pictures_are_no_step_of_the_run(tmp_path: Path) -> None:
    pictures, meter = made(tmp_path)
    pictures.note([waiting(5)])
    [step] = meter.snapshot().steps
    assert (step.stage, step.files_total) == (Stage.PICTURES, 5)
    pictures.set_paused(True)
    assert pictures.waiting.hold is PictureHold.PAUSED
    assert not meter.snapshot().steps
    pictures.set_paused(False)
    assert meter.snapshot().steps[0].files_total == 5


def test_what_is_known_of_pictures_is_kept_by_content(tmp_path: Path) -> None:
    folder = PictureFolder(tmp_path / "pictures")
    assert folder.get("a") == KeptPictures()
    folder.put("a", KeptPictures({"#1": PictureText("words"), "#2": PictureText("", "Error")}))
    folder.put("b", KeptPictures({}, True, ParseFailed("damaged", "The file is damaged", "So.")))
    assert folder.get("a").texts == {"#1": PictureText("words"), "#2": PictureText("", "Error")}
    failed = folder.get("b").failed
    assert failed is not None
    assert (failed.reason, failed.title, failed.hint) == ("damaged", "The file is damaged", "So.")
    folder.keep_only({"b"})
    assert not folder.get("a").texts
    folder.forget("b")
    assert not folder.get("b").is_settled


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"texts": 3}', '{"texts": {"#1": [1, 2]}, "failed": []}', '{"texts": {}}'],
)
def test_what_is_no_record_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    assert PictureFolder(tmp_path).get("a") == KeptPictures()


def test_a_file_whose_pictures_were_tried_says_what_came_of_them(tmp_path: Path) -> None:
    pictures, _ = made(tmp_path)
    left = ParseFailed("no text", "No text found", "Scanned.", pictures_left=1)
    assert pictures.settled("a", left) is left
    assert pictures.folder is not None
    pictures.folder.put("a", KeptPictures({}, True, ParseFailed("timeout", "It takes too long")))
    found = pictures.settled("a", left)
    assert isinstance(found, ParseFailed)
    assert (found.reason, found.pictures_left) == ("timeout", 0)
    pictures.forget([replace(waiting(1), content_hash="a")])
    assert pictures.settled("a", left) is left
