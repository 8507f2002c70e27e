"""Recording: what goes into an event, and what never does."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome, Purpose
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.errors import AppError, Cancelled, without_quotation
from desktop_rag.core.library_events import Notice
from desktop_rag.core.settings import EndpointSettings, Settings

KEY = "sk-canary-5521aa"
ENDPOINT = EndpointSettings(f"https://ada:{KEY}@host.example:8443/v1?key={KEY}", "llama")


class Recorded:
    """A recorder and what it wrote."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.recorder = Recorder(log)

    @property
    def events(self) -> list[ActivityEvent]:
        self._log.flush()
        return list(self._log.newest_first())


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    with closing(EventLog(EventFiles(tmp_path))) as log:
        yield Recorded(log)


@pytest.mark.parametrize(
    ("raised", "outcome", "detail"),
    [
        (None, Outcome.DONE, ""),
        (Cancelled(), Outcome.STOPPED, ""),
        (GeneratorExit(), Outcome.STOPPED, ""),
        (AppError("The endpoint is busy.", "words"), Outcome.FAILED, "The endpoint is busy."),
        (KeyError("a bug"), Outcome.FAILED, ""),
    ],
)
def test_a_call_is_recorded_however_it_ends(
    recorded: Recorded, raised: BaseException | None, outcome: Outcome, detail: str
) -> None:
    def call() -> None:
        with recorded.recorder.call(Purpose.HELPER, ENDPOINT) as opened:
            opened.count(812, 41, is_estimate=True)
            if raised:
                raise raised

    if raised:
        with pytest.raises(type(raised)):
            call()
    else:
        call()
    [event] = recorded.events
    assert (event.outcome, event.detail, event.subject) == (outcome, detail, "helper")
    assert (event.tokens_in, event.tokens_out, event.is_estimate) == (812, 41, True)
    assert (event.model, event.host) == ("llama", "host.example:8443")


def test_no_key_is_recorded(recorded: Recorded, tmp_path: Path) -> None:
    recorder = recorded.recorder
    recorder.notice(Notice(f"Bearer {KEY}", f"https://ada:{KEY}@host failed, api_key={KEY}"))
    recorder.notice(Notice(f"“https://h.example/page?token={KEY}” can't be fetched."))
    recorder.refused("A page was not fetched.", "blocked", url=f"http://h.example/?token={KEY}")
    with recorder.call(Purpose.ANSWER, ENDPOINT):
        pass
    assert len(recorded.events) == 4
    assert "“https://h.example/page” can't be fetched." in str(recorded.events)
    assert KEY not in "".join(file.read_text() for file in tmp_path.iterdir())


def test_the_words_of_a_server_are_not_recorded(recorded: Recorded) -> None:
    hint = "Status 400. It says: “the lamp is ”lit” at dusk” Words were searched."
    assert without_quotation(hint) == "Status 400. Words were searched."
    recorded.recorder.notice(Notice("The endpoint failed.", hint), is_error=True)
    [event] = recorded.events
    assert (event.detail, event.outcome) == ("Status 400. Words were searched.", Outcome.FAILED)


def test_settings_are_recorded_by_their_names(recorded: Recorded) -> None:
    before = Settings()
    after = replace(
        before,
        endpoint=replace(before.endpoint, model="secret-model"),
        other_endpoints=(ENDPOINT,),
        activity=replace(before.activity, is_recorded=False),
    )
    recorded.recorder.settings_change(before, after)
    recorded.recorder.settings_change(after, after)
    [event] = recorded.events
    assert event.kind is EventKind.SETTINGS
    assert event.detail == "endpoint.model, other_endpoints, activity.is_recorded"


def test_nothing_is_recorded_while_it_is_off(recorded: Recorded) -> None:
    recorded.recorder.set_on(False)
    recorded.recorder.setting("x")
    recorded.recorder.set_on(True)
    recorded.recorder.setting("y")
    assert [event.detail for event in recorded.events] == ["y"]


def test_long_texts_are_shortened(recorded: Recorded) -> None:
    recorded.recorder.notice(Notice("word " * 1_000))
    [event] = recorded.events
    assert len(event.subject) == 400
    assert event.subject.endswith("…")


def test_without_a_log_nothing_happens() -> None:
    Recorder().setting("x")
