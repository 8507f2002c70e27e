"""Sends recordings to a transcription server and reads its answers. On the calling worker thread.

Two dialects: `/audio/transcriptions` below the address, as OpenAI has it, and `/inference` of
whisper.cpp's server. openai and its HTTP layer are imported with the first request.
"""

import io
import logging
import math
import struct
import wave
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from desktop_rag.activity.activity_event import Purpose
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import TranscriptionDialect, TranscriptionSettings
from desktop_rag.features.recordings.transcripts import Spoken, Transcript
from desktop_rag.models.endpoint_address import host_of
from desktop_rag.models.endpoints.client.chat_stream import load_json
from desktop_rag.models.endpoints.client.endpoint_errors import mapping_endpoint_errors
from desktop_rag.models.endpoints.client.endpoint_faults import (
    EndpointFaultError,
    Fault,
    StreamError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

_MOST_SEGMENTS = 200_000
_LONGEST_S = 7 * 24 * 3600.0
# Servers give the English name of a language, or its code.
_LANGUAGES = {
    "afrikaans": "af", "arabic": "ar", "bulgarian": "bg", "catalan": "ca", "chinese": "zh",
    "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en",
    "estonian": "et", "finnish": "fi", "french": "fr", "galician": "gl", "german": "de",
    "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is",
    "indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "latvian": "lv",
    "lithuanian": "lt", "macedonian": "mk", "malay": "ms", "norwegian": "no", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr",
    "slovak": "sk", "slovenian": "sl", "spanish": "es", "swahili": "sw", "swedish": "sv",
    "tagalog": "tl", "tamil": "ta", "thai": "th", "turkish": "tr", "ukrainian": "uk",
    "urdu": "ur", "vietnamese": "vi", "welsh": "cy",
}  # fmt: skip
# What models write for sounds other than speech.
_NO_SPEECH = {"[blank_audio]", "[silence]", "[music]", "(silence)", "[no speech]", "♪"}


def read_transcript(body: object) -> Transcript:
    """The transcript in an answer: segments with times in seconds; nothing else is trusted.

    StreamError when it is none, has no times, or reports an error.
    """
    if not isinstance(body, dict):
        raise StreamError(Fault.UNREADABLE, "It is no JSON object.")
    fields = cast("dict[str, Any]", body)
    if error := fields.get("error"):
        said = cast("dict[str, Any]", error).get("message") if isinstance(error, dict) else error
        raise StreamError(Fault.REJECTED, str(said))
    segments = fields.get("segments")
    if not isinstance(segments, list):
        if isinstance(fields.get("text"), str) and not str(fields["text"]).strip():
            return Transcript(seconds=_time(fields.get("duration", 0)) or 0.0)
        raise StreamError(Fault.UNREADABLE, "It has no times.")
    spoken = tuple(_in_order(cast("list[object]", segments)[:_MOST_SEGMENTS]))
    ends = [words.end_s for words in spoken]
    seconds = _time(fields.get("duration", 0)) or 0.0
    return Transcript(spoken, _code_of(fields.get("language")), max([seconds, *ends]))


def _in_order(segments: list[object]) -> Iterator[Spoken]:
    """The segments with words, with ascending start times."""
    latest = 0.0
    for segment in segments:
        if not isinstance(segment, dict):
            raise StreamError(Fault.UNREADABLE, "A segment is no object.")
        fields = cast("Mapping[str, Any]", segment)
        start, end, text = _time(fields.get("start")), _time(fields.get("end")), fields.get("text")
        if start is None or not isinstance(text, str):
            raise StreamError(Fault.UNREADABLE, "A segment has no time or no text.")
        words = " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode().split())
        if not words or words.lower() in _NO_SPEECH:
            continue
        latest = max(latest, start)
        yield Spoken(latest, max(latest, end or latest), words)


def _time(value: object) -> float | None:
    """Seconds; None for an invalid time."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return min(max(float(value), 0.0), _LONGEST_S)


def _code_of(language: object) -> str:
    if not isinstance(language, str):
        return ""
    name = language.strip().lower()
    is_code = len(name) == 2 and name.isascii() and name.isalpha()  # noqa: PLR2004  ISO 639-1
    return name if is_code else _LANGUAGES.get(name, "")


_PATHS = {
    TranscriptionDialect.OPENAI: "/audio/transcriptions",
    TranscriptionDialect.WHISPER_CPP: "/inference",
}
_TEST_LIMIT_S = 60.0
_TEST_RATE = 16_000


class TranscriptionClient:
    """For any thread; keeps no connection between requests."""

    def __init__(self, key_of: "Callable[[str], str]", recorder: Recorder | None = None) -> None:
        """`key_of` returns the key for an address; it is called before each request."""
        self._key_of = key_of
        self._recorder = recorder or Recorder()

    def transcribe(
        self, settings: TranscriptionSettings, name: str, content: BinaryIO, cancel: Event
    ) -> Transcript:
        """What is said in a recording, whose file is called `name`.

        AppError for any fault of the server or the network. Cancelled soon after `cancel` is set.
        """
        key = self._key_of(settings.base_url)
        return self._send(settings, key, name, content, cancel, Purpose.TRANSCRIPTION)

    def test(self, settings: TranscriptionSettings, key: str = "") -> EndpointReport:
        """Send a second of a hum, with this key or the stored one, and report the result."""
        settings = replace(settings, timeout_s=min(settings.timeout_s, _TEST_LIMIT_S))
        try:
            key = key or self._key_of(settings.base_url)
            self._send(settings, key, "test.wav", io.BytesIO(_hum()), Event(), Purpose.TEST)
        except EndpointFaultError as error:
            return EndpointReport(error.title, _hint_of(error, settings), is_ok=False)
        except AppError as error:
            return EndpointReport(error.title, error.hint, is_ok=False)
        return EndpointReport(
            "The server transcribes.", "A second of sound came back with its times.", is_ok=True
        )

    def _send(
        self, settings: TranscriptionSettings, key: str, name: str, content: BinaryIO,
        cancel: Event, purpose: Purpose,
    ) -> Transcript:  # fmt: skip
        endpoint = settings.endpoint
        with (
            self._recorder.call(purpose, endpoint),
            mapping_endpoint_errors(endpoint, key),
            ExitStack() as stack,
        ):
            from desktop_rag.models.endpoints.client.connection import open_client, patience
            from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

            interruption = Interruption()
            client = open_client(endpoint, key, interruption)
            stack.callback(client.close)
            log.info("Transcribing at %s", host_of(settings.base_url))
            with interruption.within(settings.timeout_s, cancel):
                # A generic content type: the server looks at the name and bytes.
                body = client.post(
                    _PATHS[settings.dialect],
                    cast_to=bytes,
                    body=_fields(settings),
                    files=[("file", (name, content, "application/octet-stream"))],
                    options={
                        "headers": {"Content-Type": "multipart/form-data"},
                        "timeout": patience(settings.timeout_s),
                    },
                )
            return read_transcript(load_json(body))


def _fields(settings: TranscriptionSettings) -> dict[str, Any]:
    fields: dict[str, Any] = {"response_format": "verbose_json"}
    if settings.language:
        fields["language"] = settings.language
    elif settings.dialect is TranscriptionDialect.WHISPER_CPP:
        # Its default is English.
        fields["language"] = "auto"
    if settings.dialect is TranscriptionDialect.OPENAI:
        return {"model": settings.model, "timestamp_granularities": ["segment"], **fields}
    return fields


def _hint_of(error: EndpointFaultError, settings: TranscriptionSettings) -> str:
    is_open_ai = settings.dialect is TranscriptionDialect.OPENAI
    if error.fault in {Fault.NOTHING_THERE, Fault.WEB_PAGE, Fault.UNKNOWN_MODEL} and is_open_ai:
        return f"{error.hint} If this is whisper.cpp's server, choose that kind of server."
    if error.fault in {Fault.REJECTED, Fault.UNREADABLE} and is_open_ai:
        return f"{error.hint} The model has to give times: whisper-1 does, for example."
    return error.hint


def _hum() -> bytes:
    """A second of a quiet tone as WAV."""
    samples = (round(2000 * math.sin(n * math.tau * 220 / _TEST_RATE)) for n in range(_TEST_RATE))
    kept = io.BytesIO()
    with wave.open(kept, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(_TEST_RATE)
        sound.writeframes(struct.pack(f"<{_TEST_RATE}h", *samples))
    return kept.getvalue()
