"""The hooks of recordings: a server turns speech in files into text, which is searched."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop_rag.activity.recorder import Recorder
    from desktop_rag.ingest.indexing.late_texts import LateTexts
    from desktop_rag.window_app import WindowApp


def late_texts(folder: "Path", key_of: "Callable[[str], str]", recorder: "Recorder") -> "LateTexts":
    """Recordings and their transcripts; no server is asked before the first recording."""
    from desktop_rag.features.recordings.recordings import Recordings

    return Recordings(folder, key_of, recorder)


def join_window(app: "WindowApp") -> None:
    """The server that transcribes, in the settings of models."""
    from desktop_rag.features.recordings.transcription_client import TranscriptionClient
    from desktop_rag.features.recordings.ui.transcription_form import transcription_part

    services, window = app.services, app.window
    client = TranscriptionClient(services.keys.get, services.recorder)
    part = transcription_part(app.bridge, services.chat, window.settings, client.test)
    window.pages.add_settings_part(part)
