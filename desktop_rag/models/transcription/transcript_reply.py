"""Reads what servers answer to a recording: `verbose_json` of OpenAI and of whisper.cpp. Pure.

Both list segments with their start and end in seconds. Nothing else of an answer is trusted.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

from desktop_rag.core.recordings.transcript import Spoken, Transcript
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

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
# What the models write for sounds that are no speech.
_NO_SPEECH = {"[blank_audio]", "[silence]", "[music]", "(silence)", "[no speech]", "♪"}


def read_transcript(body: object) -> Transcript:
    """The transcript of an answer.

    Raises:
        StreamError: when it is none, has no times, or states an error.
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
    """The segments with words, none of which begins before the one before it."""
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
    """Seconds; None for what is no time."""
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
