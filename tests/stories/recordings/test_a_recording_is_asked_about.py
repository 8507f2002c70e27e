"""A recording becomes searchable once the settings name a server; the answer cites a time."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import settled
from tests.recordings.spoken_sample import MEETING, SAID
from tests.servers.transcription_server import TranscriptionServer
from tests.stories.conftest import Person


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with TranscriptionServer({"meeting.wav": SAID}) as running:
        yield running


@pytest.mark.everyday
def test_a_recording_is_asked_about(
    person: Person, tmp_path: Path, server: TranscriptionServer
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    shutil.copy(MEETING, folder)
    person.drops(settled(folder))
    person.sees("1 not read")

    person.opens_settings("Transcription")
    person.sees("Without an address, recordings are skipped.")
    person.types("Server address", server.base_url)
    person.clicks("Test")
    person.sees("The server transcribes.")
    person.sees("Recordings don't leave it.")

    person.presses("Ctrl+2")
    person.sees("1 searchable")
    person.presses("Ctrl+1")
    person.asks("When may visitors climb the tower?")
    person.sees("Excerpts from your documents")
    person.sees("0:10")
    person.clicks_citation(1)
    person.sees("Visitors may climb the tower on Saturdays only.")
