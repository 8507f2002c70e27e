"""Recordings through a real server that transcribes: found at their second, left out with a reason,
waiting while the server is away, in pieces where they are long.
"""

import shutil
import wave
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, DocumentState, SourceRules
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.library_events import DocumentsChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings, TranscriptionDialect, TranscriptionSettings
from desktop_rag.features.recordings.transcripts import Spoken
from tests.asking import ask
from tests.command_line import settled
from tests.recordings.spoken_sample import MEETING, SAID
from tests.servers.transcription_server import TranscriptionServer

BuildServices = Callable[[], Services]


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with TranscriptionServer({"meeting.wav": SAID}) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "talks"
    folder.mkdir()
    shutil.copy(MEETING, folder)
    return settled(folder)


def use(home: Home, transcription: TranscriptionSettings) -> Settings:
    home.create()
    settings = Settings(transcription=transcription)
    save_settings(home.settings, settings)
    return settings


def started(build_services: BuildServices, folder: Path) -> Services:
    services = build_services()
    services.library.start(watch=False)
    services.library.sources.add(folder)
    wait(services)
    return services


def wait(services: Services) -> None:
    assert services.library.indexing.wait_until_idle(50)


def only(services: Services) -> Document:
    [document] = services.library.documents.all()
    return document


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What was repaired in March for nine hundred pounds?", SAID[1]),
        ("When may visitors climb the tower?", SAID[2]),
        ("When and where is the next meeting in the village hall?", SAID[4]),
    ],
)
@pytest.mark.parametrize("dialect", TranscriptionDialect)
def test_a_citation_has_the_second_of_its_sentence(
    home: Home, build_services: BuildServices, folder: Path, server: TranscriptionServer,
    *, question: str, said: Spoken, dialect: TranscriptionDialect,
) -> None:  # fmt: skip
    address = server.base_url if dialect is TranscriptionDialect.OPENAI else server.root
    use(home, TranscriptionSettings(address, dialect=dialect))
    services = started(build_services, folder)
    assert only(services).state.is_searchable
    answer = ask(services, question)
    cited = [source for source in answer.sources if source.quote and said.text in source.quote]
    assert cited, [source.quote for source in answer.sources]
    second = cited[0].anchor.second
    assert second is not None
    assert abs(second - said.start_s) <= 2


@pytest.mark.slow
def test_without_a_server_a_recording_is_left_out_and_the_way_is_said(
    build_services: BuildServices, folder: Path, server: TranscriptionServer
) -> None:
    services = started(build_services, folder)
    left_out = only(services)
    assert left_out.state is DocumentState.SKIPPED
    assert "Settings → Models → Transcription" in left_out.reason

    settings = Settings(transcription=TranscriptionSettings(server.base_url))
    services.library.apply(settings)
    wait(services)
    assert only(services).state.is_searchable
    assert only(services).reason == ""


@pytest.mark.slow
def test_the_preview_of_a_folder_tells_the_way_too(
    build_services: BuildServices, folder: Path
) -> None:
    library = build_services().library
    [left] = library.sources.preview(folder, SourceRules(), cancel=Event()).left_out
    assert "Choose a server" in left.reason


@pytest.mark.slow
def test_a_server_elsewhere_gets_nothing_without_consent(
    home: Home, build_services: BuildServices, folder: Path
) -> None:
    use(home, TranscriptionSettings("https://transcribe.example/v1"))
    left_out = only(started(build_services, folder))
    assert left_out.state is DocumentState.SKIPPED
    assert "transcribe.example" in left_out.reason


@pytest.mark.slow
def test_a_recording_waits_while_the_server_is_away(
    home: Home, build_services: BuildServices, folder: Path, server: TranscriptionServer
) -> None:
    server.mode, server.status = "status", 503
    settings = use(home, TranscriptionSettings(server.base_url))
    services = started(build_services, folder)
    waiting = only(services)
    assert waiting.state is DocumentState.WAITING
    assert "tried again by itself" in waiting.reason

    server.mode = "answer"
    # Any change of the settings asks at once.
    services.library.apply(
        replace(settings, transcription=replace(settings.transcription, language="en"))
    )
    wait(services)
    assert only(services).state.is_searchable


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "status", "state", "reason"),
    [
        ("nothing said", 0, DocumentState.SKIPPED, "No speech"),
        ("no times", 0, DocumentState.FAILED, "did not take the recording"),
        ("status", 413, DocumentState.FAILED, "did not take the recording"),
    ],
)
def test_what_can_not_be_transcribed_says_why_and_can_be_tried_again(
    home: Home, build_services: BuildServices, folder: Path, server: TranscriptionServer,
    *, mode: str, status: int, state: DocumentState, reason: str,
) -> None:  # fmt: skip
    server.mode, server.status = mode, status  # type: ignore[assignment]
    use(home, TranscriptionSettings(server.base_url))
    services = started(build_services, folder)
    document = only(services)
    assert document.state is state
    assert reason in document.reason

    server.mode = "answer"
    services.library.documents.read_again([document.document_id])
    wait(services)
    assert only(services).state.is_searchable


def long_meeting(folder: Path, times: int) -> Path:
    """The meeting so many times in one file."""
    path = folder / "long.wav"
    with wave.open(str(MEETING), "rb") as once, wave.open(str(path), "wb") as often:
        often.setparams(once.getparams())
        frames = once.readframes(once.getnframes())
        for _ in range(times):
            often.writeframes(frames)
    return path


@pytest.mark.slow
def test_a_long_recording_goes_in_pieces_and_none_goes_twice(
    home: Home, build_services: BuildServices, tmp_path: Path, server: TranscriptionServer
) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    long_meeting(folder, 12)
    with wave.open(str(MEETING), "rb") as once:
        length_s = once.getnframes() / once.getframerate()
    server.known["long.wav"] = [
        Spoken(s.start_s + n * length_s, s.end_s + n * length_s, f"Part {n}. {s.text}")
        for n in range(12)
        for s in SAID
    ]
    settled(folder)
    use(home, TranscriptionSettings(server.base_url, max_upload_mb=1))
    services = build_services()
    services.library.start(watch=False)
    # Away after the first piece.

    def away_after_one(event: DocumentsChanged) -> None:
        if any("part 2 of" in d.reason for d in event.documents):
            server.mode, server.status = "status", 503

    services.changes.hear(DocumentsChanged, away_after_one)
    services.library.sources.add(folder)
    wait(services)
    assert only(services).state is DocumentState.WAITING
    services.close()

    server.mode = "answer"
    again = build_services()
    again.library.start(watch=False)
    wait(again)
    assert only(again).state.is_searchable
    answered = [upload.name for upload in server.uploads]
    assert len(set(answered)) == 3
    assert answered.count(answered[0]) == 1
    stored = again.library.documents.stored_text(only(again).document_id)
    assert stored is not None
    seconds = {mark.anchor.second for mark in stored.marks}
    assert any(abs((s or 0) - (11 * length_s + SAID[4].start_s)) <= 2 for s in seconds)


@pytest.mark.everyday
def test_a_moved_or_copied_recording_is_not_sent_again(
    home: Home, build_services: BuildServices, folder: Path, server: TranscriptionServer
) -> None:
    use(home, TranscriptionSettings(server.base_url))
    services = started(build_services, folder)
    shutil.copy(MEETING, folder / "copy.wav")
    settled(folder)
    [source] = services.library.sources.all()
    services.library.sources.rescan(source.source_id)
    wait(services)
    assert [d.state.is_searchable for d in services.library.documents.all()] == [True, True]
    assert len(server.uploads) == 1


@pytest.mark.slow
def test_a_large_file_that_can_not_be_cut_is_left_out_with_the_limit(
    home: Home, build_services: BuildServices, tmp_path: Path, server: TranscriptionServer
) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "film.mp4").write_bytes(b"\0\0\0\x20ftypisom" + bytes(2_000_000))
    settled(folder)
    use(home, TranscriptionSettings(server.base_url, max_upload_mb=1))
    left_out = only(started(build_services, folder))
    assert left_out.state is DocumentState.SKIPPED
    assert "1 MB" in left_out.reason
    assert not server.uploads


@pytest.mark.slow
def test_a_transcript_goes_with_the_folder_of_its_recording(
    home: Home, build_services: BuildServices, folder: Path, server: TranscriptionServer
) -> None:
    use(home, TranscriptionSettings(server.base_url))
    services = started(build_services, folder)
    assert len(list(home.transcripts.iterdir())) == 1
    [source] = services.library.sources.all()
    services.library.sources.remove(source.source_id)
    assert list(home.transcripts.iterdir()) == []
