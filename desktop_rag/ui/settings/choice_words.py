"""What the choices of the settings are called, in their forms and when one was changed. Pure."""

from collections.abc import Mapping

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import (
    AnswerLength,
    ColourScheme,
    LaterSources,
    LongReading,
    TranscriptionDialect,
    WhenClosed,
)

SAME_AS_SYSTEM = tr("Same as system")
SAME_AS_QUESTION = tr("Same as the question")
DEFAULT_TONE = tr("Default")
BUILT_IN_MODEL = tr("Built-in model")
SCHEMES = {
    ColourScheme.SYSTEM.value: SAME_AS_SYSTEM,
    ColourScheme.LIGHT.value: tr("Light"),
    ColourScheme.DARK.value: tr("Dark"),
}
WHEN_CLOSED = {
    WhenClosed.ASK.value: tr("Ask"),
    WhenClosed.STAY.value: tr("Keep running"),
    WhenClosed.QUIT.value: tr("Quit"),
}
LONG_READING = {
    LongReading.ASK.value: tr("Ask"),
    LongReading.READ.value: tr("Read them"),
    LongReading.WAIT.value: tr("Let them wait"),
}
LATER_SOURCES = {
    LaterSources.FRESH.value: tr("Search again"),
    LaterSources.SAME.value: tr("Keep the sources"),
    LaterSources.BOTH.value: tr("Both"),
}
LENGTHS = {
    AnswerLength.BRIEF.value: tr("Brief"),
    AnswerLength.NORMAL.value: tr("Normal"),
    AnswerLength.DETAILED.value: tr("Detailed"),
}
DIALECTS = {
    TranscriptionDialect.OPENAI.value: tr("OpenAI-compatible"),
    TranscriptionDialect.WHISPER_CPP.value: "whisper.cpp",
}
# By the settings that they are the choices of.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "appearance.scheme": SCHEMES,
    "background.when_closed": WHEN_CLOSED,
    "index.long_pictures": LONG_READING,
    "preferences.length": LENGTHS,
    "retrieval.later_sources": LATER_SOURCES,
    "transcription.dialect": DIALECTS,
}
# What a setting without a value stands for.
EMPTY = {
    "appearance.language": SAME_AS_SYSTEM,
    "index.model_folder": BUILT_IN_MODEL,
    "preferences.language": SAME_AS_QUESTION,
    "preferences.tone": DEFAULT_TONE,
}
