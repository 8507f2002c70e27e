"""A library whose app is killed at random moments, and what must hold at each next start.

For the tests of R-01 and for `benchmarks/kills.py`. Of one seed the same texts, moments and orders
follow; where the process is at such a moment still depends on the computer.
"""

import random
import threading
from dataclasses import dataclass, field
from pathlib import Path

from desktop_rag.core.paths import Home
from tests.driving.chat_record import ChatRecord
from tests.driving.driven_app import AppFailedError, DrivenApp
from tests.driving.versioned_text import new_marker, versioned_text
from tests.servers.chat_server import ChatServer

_FILES = 8
_SENTENCES = (3, 40)
_ANSWER = " ".join(f"Sentence {n} is about the lamp of the harbour [1]." for n in range(60))
_IDLE_S = 100.0
# The longest time until the kill, in seconds; about as long as the phase takes.
_INGEST_S, _CHAT_S, _CLOSE_S, _CREATE_S = 4.0, 2.0, 0.8, 1.2


@dataclass
class Tally:
    """What happened; each string in `faults` is one broken promise."""

    kills: dict[str, int] = field(default_factory=dict)
    starts: int = 0
    failed_starts: int = 0
    acknowledged: int = 0
    restored: int = 0
    faults: list[str] = field(default_factory=list)


class Killing:
    """One home with its documents and chats, used again and again."""

    def __init__(self, scratch: Path, seed: int, server: ChatServer) -> None:
        """`server` answers the questions to a model; between its pieces there must be a pause."""
        self.tally = Tally()
        self._scratch = scratch
        self._chance = random.Random(seed)
        self._server = server
        server.answer = _ANSWER
        self._documents = scratch / "documents"
        self._documents.mkdir()
        self._markers: dict[str, str] = {}
        self._outdated: list[str] = []
        self._record = ChatRecord()
        self._app = DrivenApp(Home(scratch / "home"))
        self._phases = [
            self.kill_while_indexing,
            self.kill_while_chatting,
            self.kill_while_closing,
            self.kill_while_creating,
        ]
        self._open()
        self._app.call("add_source", path=str(self._documents), collection="Papers")

    def kill(self, number: int) -> None:
        """The kill of this number, of one phase after the other."""
        self._phases[number % len(self._phases)]()

    def kill_while_indexing(self) -> None:
        """In the middle of scanning, reading, storing or embedding."""
        self._ensure_open()
        for _ in range(self._chance.randint(1, 4)):
            self._edit()
        self._app.call("start")
        self._kill_within(_INGEST_S, "indexing")

    def kill_while_chatting(self) -> None:
        """While questions are stored and answered, two at a time, by excerpts or a model."""
        self._ensure_open()
        self._app.call("use_endpoint", base_url=self._chance.choice(["", self._server.base_url]))
        chats = self._chance.sample(["", *self._record.chats], min(2, len(self._record.chats) + 1))
        ending = threading.Timer(self._chance.uniform(0, _CHAT_S), self._app.kill)
        asked: list[tuple[int, str]] = []
        ending.start()
        try:
            while ending.is_alive():
                batch = [(self._ask(chat), chat) for chat in chats]
                asked += batch
                for number, _ in batch:
                    self._app.result(number)
        except AppFailedError:
            ending.join()  # killed meanwhile
        for number, chat in asked:
            self._note(number, chat)
        self._count("chatting")

    def kill_while_closing(self) -> None:
        """After it was told to close, with work left to do."""
        self._ensure_open()
        self._edit()
        self._app.call("start")
        number = self._ask("")
        self._app.result(number)
        self._note(number, "")
        self._app.send("close")
        self._app.wait_for(lambda said: said.get("event") == "closing")
        self._kill_within(_CLOSE_S, "closing")

    def kill_while_creating(self) -> None:
        """During the first start of a new home, which must then start and keep a chat."""
        home = self._scratch / f"new {self._chance.getrandbits(64):x}"
        app, record = DrivenApp(Home(home)), ChatRecord()
        app.begin()
        app.wait_for(lambda said: said.get("event") == "loaded")
        threading.Event().wait(self._chance.uniform(0, _CREATE_S))
        app.kill()
        self._count("creating")
        for _ in range(2):
            if not self._has_opened(app):
                return
            self._fault(*record.differences(app.call("chats")))
            number = app.send("ask", question="Where is the lamp?", conversation_id="")
            app.result(number)
            record.note(app.said_of(number), "")
            app.kill()
        self.tally.acknowledged += record.count
        self._fault(*app.bugs)

    def finish(self) -> None:
        """After the last kill: everything is indexed in its last version, and nothing else."""
        self._ensure_open()
        self._app.call("start")
        if not self._app.call("is_idle", timeout_s=_IDLE_S):
            self._fault("it does not come to rest")
        self._check()
        found = self._app.call("find", words=[*self._markers.values(), *self._outdated])
        paths = {marker: str(self._documents / name) for name, marker in self._markers.items()}
        for marker, files in found.items():
            wanted = [paths[marker]] if marker in paths else []
            self._fault(*([f"{marker}: found in {files}, not {wanted}"] if files != wanted else []))
        self._app.close()
        self._fault(*self._app.bugs)
        self.tally.acknowledged += self._record.count

    def end(self) -> None:
        """Leave no process behind, whatever happened."""
        self._app.kill()

    # --- steps -------------------------------------------------------------------------------

    def _ensure_open(self) -> None:
        if not self._app.is_running:
            self._open()

    def _open(self) -> None:
        if not self._has_opened(self._app):
            raise AppFailedError(self.tally.faults[-1])
        self._check()

    def _has_opened(self, app: DrivenApp) -> bool:
        self.tally.starts += 1
        try:
            self.tally.restored += app.open()["restored"]
        except AppFailedError as error:
            self.tally.failed_starts += 1
            self._fault(str(error))
            return False
        return True

    def _check(self) -> None:
        """Before anything runs in the background, or when nothing is left to do."""
        self._fault(*self._app.call("broken"))
        self._fault(*self._record.differences(self._app.call("chats")))

    def _edit(self) -> None:
        name = f"{self._chance.randrange(_FILES)}.md"
        if name in self._markers:
            self._outdated.append(self._markers[name])
        marker = self._markers[name] = new_marker(self._chance)
        text = versioned_text(self._chance, marker, self._chance.randint(*_SENTENCES))
        (self._documents / name).write_text(text)

    def _ask(self, chat: str) -> int:
        return self._app.send("ask", question="The lamp of the harbour?", conversation_id=chat)

    def _note(self, number: int, chat: str) -> None:
        self._record.note(self._app.said_of(number), chat)

    def _kill_within(self, longest_s: float, phase: str) -> None:
        threading.Event().wait(self._chance.uniform(0, longest_s))
        self._app.kill()
        self._count(phase)

    def _count(self, phase: str) -> None:
        self.tally.kills[phase] = self.tally.kills.get(phase, 0) + 1

    def _fault(self, *lines: str) -> None:
        kills = sum(self.tally.kills.values())
        self.tally.faults += [f"after kill {kills}: {line}" for line in lines]
