"""Both dialects of servers that transcribe, and what they answer when something is wrong."""

import io
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import TranscriptionDialect, TranscriptionSettings
from desktop_rag.features.recordings.transcription_client import TranscriptionClient
from desktop_rag.features.recordings.transcripts import Spoken
from desktop_rag.models.connection_states import may_send
from tests.servers.transcription_server import TranscriptionServer

SAID = (Spoken(0.0, 2.5, "The lamp is lit at dusk."), Spoken(2.5, 5.0, "Nobody sleeps."))


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with TranscriptionServer({"talk.wav": SAID}) as running:
        yield running


@pytest.fixture
def settings(server: TranscriptionServer) -> TranscriptionSettings:
    return TranscriptionSettings(server.base_url, "whisper-1", timeout_s=5.0)


CLIENT = TranscriptionClient(lambda _: "a-key")


def test_open_ai_gets_model_key_and_the_wish_for_times(
    server: TranscriptionServer, settings: TranscriptionSettings
) -> None:
    found = CLIENT.transcribe(
        replace(settings, language="de"), "talk.wav", io.BytesIO(b"sound"), threading.Event()
    )
    assert found.spoken == SAID
    assert found.language == "en"
    [upload] = server.uploads
    assert (upload.path, upload.content, upload.key) == (
        "/v1/audio/transcriptions", b"sound", "a-key",
    )  # fmt: skip
    assert upload.fields == {
        "model": "whisper-1", "response_format": "verbose_json", "language": "de",
        "timestamp_granularities[]": "segment",
    }  # fmt: skip


def test_whisper_cpp_gets_its_own_fields(
    server: TranscriptionServer, settings: TranscriptionSettings
) -> None:
    settings = replace(settings, base_url=server.root, dialect=TranscriptionDialect.WHISPER_CPP)
    found = CLIENT.transcribe(settings, "talk.wav", io.BytesIO(b"sound"), threading.Event())
    assert found.spoken == SAID
    [upload] = server.uploads
    assert upload.path == "/inference"
    assert upload.fields == {"response_format": "verbose_json", "language": "auto"}


@pytest.mark.parametrize(
    ("mode", "status", "title"),
    [
        ("status", 401, "key"),
        ("status", 413, "too large"),
        ("status", 503, "failed"),
        ("page", 0, "could not be read"),
        ("no times", 0, "could not be read"),
    ],
)
def test_what_is_wrong_is_said(
    server: TranscriptionServer, settings: TranscriptionSettings, mode: str, status: int, title: str
) -> None:
    server.mode, server.status = mode, status  # type: ignore[assignment]
    report = CLIENT.test(settings)
    assert not report.is_ok
    assert title in report.title.lower()
    with pytest.raises(AppError):
        CLIENT.transcribe(settings, "talk.wav", io.BytesIO(b"x"), threading.Event())


def test_a_cancelled_request_ends_at_once(
    server: TranscriptionServer, settings: TranscriptionSettings
) -> None:
    server.mode, cancel = "silence", threading.Event()
    ender = threading.Thread(target=lambda: (server.has_asked.wait(10), cancel.set()))
    ender.start()
    with pytest.raises(Cancelled):
        CLIENT.transcribe(replace(settings, timeout_s=600.0), "talk.wav", io.BytesIO(b"x"), cancel)
    ender.join()


def test_the_test_sends_a_hum(server: TranscriptionServer, settings: TranscriptionSettings) -> None:
    assert CLIENT.test(settings, "typed").is_ok
    assert server.uploads[0].content.startswith(b"RIFF")
    assert server.uploads[0].key == "typed"


def test_recordings_leave_this_computer_with_consent_only() -> None:
    away = TranscriptionSettings("https://api.example.com/v1")
    assert not may_send(away)
    assert may_send(replace(away, has_consent=True))
    assert may_send(TranscriptionSettings("http://127.0.0.1:8080"))
    assert not may_send(TranscriptionSettings(has_consent=True))
