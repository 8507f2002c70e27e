"""The app without its window, driven over pipes: the process that tests and benchmarks kill.

    python -m tests.driving.app_process HOME

Commands come in as JSON lines and run on threads of their own; `driven_app.py` is the other side.
Everything is real: the services of `app.build_services`, the watcher, the parser process.
"""

import itertools
import json
import logging
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from desktop_rag.app import Services, build_services
from desktop_rag.core.conversation import AnswerDone, QuestionStored
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import keep_files_private
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.run import Run, RunAnswer, RunWentOn, SetQuestion, SetUp
from desktop_rag.idle_memory import share_memory
from desktop_rag.ingest.scanning.scanner import RecheckTimes
from desktop_rag.ingest.watching.watcher import WatchTimes
from tests.driving.index_invariants import broken_invariants
from tests.driving.memory_parts import memory_parts

# Shorter than those of the window, so that more happens in a minute.
_TIMES = WatchTimes(
    quiet_s=0.2, storm_s=1.0, probe_s=1.0, recheck=RecheckTimes(missing_s=0.5, settle_s=0.2)
)
_PIECE_CHARS = 200

Fields = dict[str, Any]


class AppProcess:
    """Runs the commands of one process until its input ends or `close` came."""

    def __init__(self) -> None:
        self._speaking = threading.Lock()
        self._cancels: dict[int, threading.Event] = {}

    def run(self, home: Home) -> int:
        """Open the library and obey; the exit code."""
        keep_files_private()
        share_memory()
        self._report_bugs()
        self.say(event="loaded")
        try:
            services = build_services(home, times=_TIMES)
        except AppError as error:
            self.say(event="refused", title=error.title, hint=error.hint)
            return 1
        self.say(event="open", restored=services.engine.restored)
        commands = self._commands(services)
        for line in sys.stdin:
            fields: Fields = json.loads(line)
            if fields["do"] == "close":
                self.say(event="closing")
                services.chat.stop()
                services.close()
                self.say(id=fields["id"], result=None)
                return 0
            cancel = self._cancels[fields["id"]] = threading.Event()
            arguments = (commands[fields.pop("do")], fields.pop("id"), cancel, fields)
            threading.Thread(target=self._obey, args=arguments, daemon=True).start()
        return 0

    def say(self, **fields: object) -> None:
        """Write a line."""
        with self._speaking:
            sys.stdout.write(json.dumps(fields) + "\n")
            sys.stdout.flush()

    def _obey(
        self, command: Callable[..., Any], number: int, cancel: threading.Event, fields: Fields
    ) -> None:
        try:
            if "say" in command.__code__.co_varnames:
                fields |= {"cancel": cancel, "say": lambda **said: self.say(id=number, **said)}
            self.say(id=number, result=command(**fields))
        except AppError as error:
            self.say(id=number, refused=error.title)
        except Exception:
            self.say(id=number, bug=traceback.format_exc())

    def _report_bugs(self) -> None:
        process = self

        class Reporter(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                process.say(event="bug", text=self.format(record))

        reporter = Reporter(logging.WARNING)
        logging.getLogger().addHandler(reporter)
        threading.excepthook = lambda failed: self.say(
            event="bug", text="".join(traceback.format_exception(failed.exc_value))
        )

    def _commands(self, services: Services) -> dict[str, Callable[..., Any]]:
        library = services.library

        def cancel_command(of: int) -> None:
            self._cancels[of].set()

        return {
            "start": lambda: _start(services),
            "cancel": cancel_command,
            "ask": lambda cancel, say, **asked: _ask(services, cancel, say, **asked),
            "use_endpoint": lambda base_url: _use_endpoint(services, base_url),
            "is_idle": library.indexing.wait_until_idle,
            "find": lambda words: {word: _find(services, word) for word in words},
            "documents": lambda: {
                str(d.path): [d.state.value, d.reason] for d in library.documents.all()
            },
            "broken": lambda: broken_invariants(services),
            "chats": lambda: _chats(services),
            "hide_chat": lambda chat: services.engine.conversations.set_deleted(chat, True),
            "add_source": lambda path, collection: (
                library.sources.add(
                    Path(path), library.collections.find_or_add(collection).collection_id
                ).source_id
            ),
            "remove_source": lambda path: _remove_source(services, path),
            "rename_collection": lambda old, new: (
                library.collections.rename(library.collections.find(old).collection_id, new).name
            ),
            "remove_collection": lambda name: library.collections.remove(
                library.collections.find(name).collection_id
            ),
            "sources": lambda: _sources(services),
            "begin_runs": lambda questions, set_ups: _begin_runs(services, questions, set_ups),
            "go_on_with_runs": lambda cancel, say: _go_on_with_runs(services, cancel, say),
            "run_answers": lambda: _run_answers(services),
            "rss": lambda: psutil.Process().memory_info().rss,
            "memory": lambda: memory_parts(services),
        }


def _start(services: Services) -> None:
    """As the window does it behind its first picture."""
    services.chat.history.purge_deleted()
    services.chat.assistants.purge_deleted()
    services.chat.warm_up()
    services.library.start()


def _ask(
    services: Services, cancel: threading.Event, say: Callable[..., None], *,
    question: str, conversation_id: str, goes_on: bool = False,
) -> Fields:  # fmt: skip
    """Tell of each message once the app says that it is stored, and of shown text as it grows."""
    shown = 0
    done = None
    events = services.chat.ask(question, conversation_id=conversation_id, cancel=cancel)
    for event in events:
        if isinstance(event, QuestionStored):
            chat = event.conversation.conversation_id
            say(stored=event.message.message_id, chat=chat, text=event.message.text)
        elif isinstance(event, AnswerDone):
            done = event.message
            say(stored=done.message_id, chat=done.conversation_id, text=done.text)
        else:
            shown += len(getattr(event, "text", ""))
            if shown >= _PIECE_CHARS:
                say(shown=shown)
                shown = 0
    assert done is not None
    if goes_on:
        list(services.chat.go_on(done, cancel=cancel))
    return {"state": done.state.value, "is_excerpts": done.is_excerpts, "error": done.error_title}


def _begin_runs(services: Services, questions: int, set_ups: int) -> None:
    experiments = services.wing(EvaluationServices).experiments
    asked = [SetQuestion(f"q{n}", f"Which lamp has number {n}?") for n in range(questions)]
    kept = experiments.add("Lamps", asked)
    experiments.begin(kept, [SetUp(f"up{n}", instructions=f"Set-up {n}.") for n in range(set_ups)])


def _go_on_with_runs(services: Services, cancel: threading.Event, say: Callable[..., None]) -> None:
    """Tell after each answer how many are stored by now."""
    before = sum(map(len, _run_answers(services).values()))
    more = itertools.count(before + 1)

    def tell(event: RunWentOn) -> None:
        if not event.doing:
            say(in_all=next(more))

    services.changes.hear(RunWentOn, tell)
    services.wing(EvaluationServices).start()
    cancel.wait()


def _run_answers(services: Services) -> dict[str, list[str]]:
    """The questions that are answered, by the name of the set-up."""
    store = services.wing(EvaluationServices).experiments.store
    return {
        run.set_up.name: [answer.question_id for answer in store.all(RunAnswer, run.run_id)]
        for run in store.all(Run)
    }


def _use_endpoint(services: Services, base_url: str) -> None:
    endpoint = EndpointSettings(base_url=base_url, model="test-model" if base_url else "")
    services.chat.apply(replace(services.settings, endpoint=endpoint))


def _find(services: Services, word: str) -> list[str]:
    """The files in which a word is found; a passage without it would be shown as "?PATH"."""
    found = services.chat.search(word, mode="lexical", limit=50)
    return sorted({("" if word in p.text else "?") + str(p.path) for p in found})


def _chats(services: Services) -> dict[str, list[tuple[str, str]]]:
    stored = services.engine.conversations
    return {
        c.conversation_id: [(m.message_id, m.text) for m in stored.messages(c.conversation_id)]
        for c in stored.all()
    }


def _remove_source(services: Services, path: str) -> None:
    for source in services.library.sources.all():
        if str(source.path) == path:
            services.library.sources.remove(source.source_id)


def _sources(services: Services) -> Fields:
    names = {c.collection_id: c.name for c in services.library.collections.all()}
    sources = services.library.sources.all()
    return {
        "collections": sorted(names.values()),
        "sources": sorted([str(s.path), names[s.collection_id]] for s in sources),
    }


if __name__ == "__main__":
    sys.exit(AppProcess().run(Home(Path(sys.argv[1]))))
