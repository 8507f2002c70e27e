"""An app used at random, and what its library must hold: files, chats, collections and sources.

One thread. For `benchmarks/soak.py`.
"""

import random
import threading
import time
from collections import Counter, deque
from pathlib import Path

from desktop_rag.core.paths import Home
from tests.driving.changing_files import ChangingFiles
from tests.driving.chat_record import ChatRecord
from tests.driving.driven_app import AppFailedError, DrivenApp
from tests.driving.versioned_text import versioned_text

_ROOTS = ("first", "second", "third")
_MOST_CHATS = 12
_LATEST = 40
_QUIET_S = 150.0
_LONGEST_PAUSE_S = 0.4
_LONGEST_CANCEL_S = 0.5


class SoakedApp:
    """One home. `differences` are the promises it broke, `latest` its last operations."""

    def __init__(
        self, folder: Path, chance: random.Random, base_url: str, *, is_restarted: bool
    ) -> None:
        """Opens the app over three folders; `is_restarted` lets it be killed and closed, too."""
        self.differences: list[str] = []
        self.latest: deque[str] = deque(maxlen=_LATEST)
        self.operations: Counter[str] = Counter()
        self.app = DrivenApp(Home(folder / "home"))
        self.files = ChangingFiles([folder / name for name in _ROOTS], chance)
        self.record = ChatRecord()
        self.collections = {root: f"of {root.name}" for root in self.files.roots}
        self._names = set(self.collections.values())
        self._chance = chance
        self._base_url = base_url
        self._asked: dict[int, str] = {}
        self._is_restarted = is_restarted
        self._open()
        for root, name in self.collections.items():
            self.app.call("add_source", path=str(root), collection=name)

    def act(self) -> None:
        """One operation at random."""
        acts = {
            self._change: 10, self._ask: 4, self._cancel: 2, self._remove_chat: 1,
            self._switch_endpoint: 1, self._switch_source: 0.6, self._rename: 0.4, self._pause: 4,
        }  # fmt: skip
        if self._is_restarted:
            acts |= {self._kill: 1, self._close: 0.7}
        [act] = self._chance.choices(list(acts), list(acts.values()))
        name = act.__name__.strip("_")
        self.operations[name] += 1
        try:
            self._log(name, act() or "")
        except AppFailedError as error:
            self._differ(f"{name}: {error}")
            self._begin_again()

    def check(self) -> None:
        """Once everything is quiet, compare the library with what it must hold."""
        self.operations["check"] += 1
        self._log("check")
        try:
            self._finish_questions()
            self._compare_files()
            self._differ(*self.app.call("broken"))
            self._compare_rest()
        except AppFailedError as error:
            self._differ(f"check: {error}")
            self._begin_again()
        bugs, self.app.bugs = self.app.bugs, []
        self._differ(*bugs)

    def rss_bytes(self) -> int:
        """The memory of its process."""
        return int(self.app.call("rss"))

    def memory(self) -> dict[str, int]:
        """Where the memory of its process is."""
        return self.app.call("memory")

    def close(self) -> None:
        """Finish what it does, and close it for good."""
        self._finish_questions()
        self.app.close()

    def end(self) -> None:
        """Leave no process behind, whatever happened."""
        self.app.kill()

    # --- operations --------------------------------------------------------------------------

    def _change(self) -> str:
        return self.files.change()

    def _ask(self) -> str:
        number, chat = self._asking()
        return f"{number} in {chat or 'a new chat'}"

    def _cancel(self) -> str:
        number, chat = self._asking()
        threading.Event().wait(self._chance.uniform(0, _LONGEST_CANCEL_S))
        self.app.call("cancel", of=number)
        return f"{number} in {chat or 'a new chat'}"

    def _asking(self) -> tuple[int, str]:
        """A question to a chat that none is under way to; a new one while there are few."""
        busy = set(self._asked.values())
        free = [chat for chat in self.record.chats if chat not in busy]
        is_new = not free or (len(self.record.chats) < _MOST_CHATS and self._chance.random() < 0.3)
        chat = "" if is_new else self._chance.choice(free)
        words = self._chance.choice(sorted(self.files.markers.values()))
        question = versioned_text(self._chance, words, 1).strip()
        number = self.app.send("ask", question=question, conversation_id=chat, goes_on=True)
        self._asked[number] = chat
        return number, chat

    def _remove_chat(self) -> str:
        self._finish_questions()
        if len(self.record.chats) < 2:
            return "none"
        chat = self._chance.choice(list(self.record.chats))
        self.app.call("hide_chat", chat=chat)
        self.record.remove(chat)
        return chat

    def _switch_endpoint(self) -> str:
        chosen = self._chance.choice(["", self._base_url])
        self.app.call("use_endpoint", base_url=chosen)
        return chosen or "none"

    def _switch_source(self) -> str:
        root = self.files.roots[-1]
        if root in self.collections:
            self.app.call("remove_source", path=str(root))
            del self.collections[root]
            return f"remove {root}"
        name = self._chance.choice(sorted(self._names))
        self.app.call("add_source", path=str(root), collection=name)
        self.collections[root] = name
        return f"add {root} to {name}"

    def _rename(self) -> str:
        old = self._chance.choice(sorted(self._names))
        new = f"renamed {self.operations['rename']}"
        self.app.call("rename_collection", old=old, new=new)
        self._names = {new if name == old else name for name in self._names}
        self.collections = {
            root: new if name == old else name for root, name in self.collections.items()
        }
        return f"{old} to {new}"

    def _pause(self) -> None:
        threading.Event().wait(self._chance.uniform(0, _LONGEST_PAUSE_S))

    def _kill(self) -> None:
        self.app.kill()
        self._note_questions()
        self._reopen()

    def _close(self) -> None:
        self._finish_questions()
        self.app.close()
        self._reopen()

    # --- steps -------------------------------------------------------------------------------

    def _reopen(self) -> None:
        """Open it, sometimes after changes that nobody watched."""
        for _ in range(self._chance.choice([0, 0, 3])):
            self._log("change while closed", self.files.change())
        self.app.open()
        # Before anything runs in the background.
        self._differ(*self.app.call("broken"))
        self._compare_rest()
        self.app.call("start")

    def _begin_again(self) -> None:
        """After a failure that was told of, so that the rest can be looked at."""
        self.app.kill()
        self._note_questions()
        self._open()

    def _open(self) -> None:
        self.app.open()
        self.app.call("start")

    def _finish_questions(self) -> None:
        for number in self._asked:
            self.app.result(number)
        self._note_questions()

    def _note_questions(self) -> None:
        for number, chat in self._asked.items():
            self.record.note(self.app.said_of(number), chat)
            self.app.forget(number)
        self._asked.clear()

    def _compare_files(self) -> None:
        """Wait until each word is found where it belongs and nowhere else; or tell what is not."""
        deadline = time.monotonic() + _QUIET_S
        while lines := self._wrong_files():
            if time.monotonic() > deadline:
                self._differ(*lines)
                return
            self.app.call("is_idle", timeout_s=1.0)
            threading.Event().wait(0.2)
        if self.app.call("is_idle", timeout_s=_QUIET_S):
            self._differ(*self._wrong_files())
        else:
            self._differ("it does not come to rest")

    def _wrong_files(self) -> list[str]:
        expected = {
            marker: [str(path)]
            for root in self.collections
            for path, marker in self.files.below(root).items()
        }
        absent = set(self.files.outdated) | set(self.files.markers.values()) - expected.keys()
        found = self.app.call("find", words=[*expected, *sorted(absent)])
        wrong = [
            f"{word} is found in {paths}, not in {expected.get(word, [])}"
            for word, paths in found.items()
            if paths != expected.get(word, [])
        ]
        wanted = {path for [path] in expected.values()}
        states = self.app.call("documents")
        wrong += [f"{path} is not listed" for path in wanted - states.keys()]
        for path, (state, reason) in states.items():
            if state != ("searchable" if path in wanted else "gone"):
                wrong.append(f"{path} is {state} {reason}")
        return wrong

    def _compare_rest(self) -> None:
        self._differ(*self.record.differences(self.app.call("chats")))
        sources = {
            "collections": sorted(self._names),
            "sources": sorted([str(root), name] for root, name in self.collections.items()),
        }
        if (found := self.app.call("sources")) != sources:
            self._differ(f"sources are {found}, not {sources}")

    def _differ(self, *lines: str) -> None:
        self.differences += lines

    def _log(self, *words: str) -> None:
        self.latest.append(" ".join(words))
