"""Uses a built desktop-rag as a person would, from the first start to the end, and reports.

    python packaging/smoke.py PATH_TO_PROGRAM

It runs under a home of its own, on Linux on a screen of its own (Xvfb), elsewhere without one, and
needs nothing but Python. Checked: the app starts; it reads a folder of several formats in its
confined parser process; the command line gets a cited answer; the quick ask comes up, about a file
too; the entries of the desktop name the program; the app ends when told to, and leaves no process
and no warning behind; without a window it answers other programs. Exit code 1 with the reason when
one of these fails.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

DEMO = Path(__file__).parents[1] / "resources" / "demo" / "documents"
QUESTION = "Why are the curtains drawn around the lens by day?"
CITED = "[1]"
PAGE = "<html><body><article><h1>Fog bell</h1><p>{}</p></article></body></html>"
# The second of the models reads German.
GERMAN_QUESTION = "Wie oft wird das Messing geputzt?"
GERMAN = "Das Messing der Lampe wird an jedem Montag geputzt, und zwar mit Kreide und einem Tuch. "
SENTENCE = "The fog bell is rung every thirty seconds while the fog lasts, by the keeper on watch. "
_READY_S, _STEP_S, _END_S = 120.0, 300.0, 30.0
_POLL_S = 0.3
# Lines of programs beside the app that say nothing about it.
_NO_COMPLAINT = ("Qt: Session management error", "QDBusTrayIcon", "dbus")


class SmokeError(Exception):
    """A check that failed; the message says which, and what was seen."""


class Smoke:
    """One program under one home."""

    def __init__(self, program: Path, home: Path, environment: dict[str, str]) -> None:
        self._program = program
        self._home = home
        self._environment = environment
        self._stderr = home / "stderr"
        self._app: subprocess.Popen[bytes] | None = None

    def run(self, *arguments: str) -> str:
        """The output of a verb; SmokeError unless it ends well."""
        done = subprocess.run(
            [str(self._program), *arguments], env=self._environment, capture_output=True,
            encoding="utf-8", timeout=_STEP_S, check=False, cwd=self._home,
        )  # fmt: skip
        if done.returncode:
            raise SmokeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def document(self, *arguments: str) -> dict[str, Any]:
        """The JSON document that a verb prints."""
        return json.loads(self.run(*arguments, "--json"))

    def start(self) -> None:
        """Start the window and wait until it answers the command line."""
        with self._stderr.open("wb") as stderr:
            self._app = subprocess.Popen(
                [str(self._program)], env=self._environment, stderr=stderr, cwd=self._home
            )
        token = "app.token"
        self.wait_until(lambda: any(self._home.rglob(token)), "no window came up", _READY_S)

    def wait_until(self, is_true: Callable[[], bool], otherwise: str, limit_s: float) -> None:
        """Wait; SmokeError after the limit, or when the app has ended."""
        ends_at = time.monotonic() + limit_s
        while not is_true():
            if self._app and self._app.poll() is not None:
                raise SmokeError(f"the app ended with {self._app.returncode}: {self.complaints()}")
            if time.monotonic() > ends_at:
                raise SmokeError(f"{otherwise} within {limit_s:.0f} s: {self.complaints()}")
            time.sleep(_POLL_S)

    def end(self) -> None:
        """Quit as a person would, and look for what is left."""
        assert self._app, "it was started"
        self.run("quit")
        if code := self._app.wait(_END_S):
            raise SmokeError(f"the app ended with {code}: {self.complaints()}")
        self._expect_nothing_running()
        if complaints := self.complaints():
            raise SmokeError("it warned:\n" + "\n".join(complaints))

    @contextlib.contextmanager
    def serving(self) -> Generator[str]:
        """The address of the program as a server without a window, which is ended after that."""
        said = self._home / "serving"
        with said.open("wb") as stderr:
            self._app = subprocess.Popen(
                [str(self._program), "serve", "--port", "0"], env=self._environment,
                stderr=stderr, cwd=self._home,
            )  # fmt: skip

        def address() -> str:
            found = re.search(r"https?://[\w.:]+\d", said.read_text("utf-8", "replace"))
            return found[0] if found else ""

        self.wait_until(lambda: bool(address()), "no server came up", _READY_S)
        yield address()
        self.run("quit")
        if code := self._app.wait(_END_S):
            raise SmokeError(f"the server ended with {code}: {said.read_text('utf-8', 'replace')}")
        self._expect_nothing_running()

    def _expect_nothing_running(self) -> None:
        if left := processes_of(self._program):
            raise SmokeError(f"still running: {left}")

    def kill(self) -> None:
        """End it whatever its state."""
        if self._app and self._app.poll() is None:
            self._app.kill()
            self._app.wait(_END_S)

    def complaints(self) -> list[str]:
        """What the app wrote to stderr, and the warnings of its log."""
        lines = self._stderr.read_text("utf-8", "replace").splitlines()
        for path in self._home.rglob("logs/*"):
            logged = path.read_text("utf-8", "replace").splitlines()
            lines += [line for line in logged if any(f" {word}" in line for word in _LEVELS)]
        return [line for line in lines if line and not any(w in line for w in _NO_COMPLAINT)]


_LEVELS = ("WARNING", "ERROR", "CRITICAL")


def processes_of(program: Path) -> list[str]:
    """The command lines of processes that run this program; Linux only, [] elsewhere."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "exe").readlink() == program:
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def make_papers(folder: Path) -> None:
    """The demo documents, one page for the reader of web pages, and one in German."""
    shutil.copytree(DEMO, folder)
    (folder / "messing.html").write_text(PAGE.format(GERMAN * 20), "utf-8")
    (folder / "fog bell.html").write_text(PAGE.format(SENTENCE * 20), "utf-8")


def check_reading(smoke: Smoke, papers: Path) -> str:
    """A folder through the running app, every format of it."""
    report = smoke.document("index", str(papers))
    if report["failed"] or report["skipped"] or report["searchable"] != report["files"]:
        raise SmokeError(f"not every file was read: {report}")
    kinds = {path.suffix for path in papers.rglob("*") if path.is_file()}
    return f"{report['files']} files ({', '.join(sorted(kinds))}), {report['seconds']} s"


def check_answer(smoke: Smoke) -> str:
    """A question on the command line and its cited answer, in both languages."""
    answers = [smoke.document("ask", question) for question in (QUESTION, GERMAN_QUESTION)]
    for answer in answers:
        if CITED not in answer["answer"] or not answer["citations"]:
            raise SmokeError(f"the answer cites nothing: {answer}")
    names = [Path(answer["citations"][0]["path"]).name for answer in answers]
    return f"{answers[0]['answer'][:90]!r} from {' and '.join(names)}"


def check_doctor(smoke: Smoke) -> str:
    """The app's own checks: the model, the parser and its confinement, the library."""
    rows: list[dict[str, Any]] = json.loads(smoke.run("doctor", "--json"))
    bad = [row for row in rows if row["state"] == "problem"]
    if bad:
        raise SmokeError(f"the doctor found: {bad}")
    return f"{len(rows)} findings, no problem"


def check_quick_ask(smoke: Smoke, papers: Path, display: str) -> str:
    """The popup, on the screen where there is one."""
    smoke.run("quick-ask", QUESTION)
    smoke.run("quick-ask", "--about", str(papers / "fog bell.html"))
    smoke.run("open-url", "desktop-rag://ask?q=When")
    tool = shutil.which("xdotool")
    if not display or not tool:
        return "the app took it; no screen to look at"

    def is_shown() -> bool:
        command = [tool, "search", "--onlyvisible", "--name", "^Quick ask"]
        shown = subprocess.run(
            command, env={"DISPLAY": display}, capture_output=True, check=False, timeout=_END_S
        )
        return shown.returncode == 0

    smoke.wait_until(is_shown, "no popup appeared", _END_S)
    return "a window of that name is on the screen"


def check_entries(smoke: Smoke, program: Path) -> str:
    """The entries for menus and file managers, written and removed again."""
    if sys.platform != "linux":
        return "not tried here"
    written = [Path(path) for path in smoke.document("desktop-entries", "install")["install"]]
    entry = next(path for path in written if path.suffix == ".desktop")
    if f'"{program}"' not in entry.read_text("utf-8"):
        raise SmokeError(f"{entry} does not start {program}")
    removed = smoke.document("desktop-entries", "remove")["remove"]
    if any(path.exists() for path in written):
        raise SmokeError(f"not all of {written} was removed, but {removed}")
    return f"{len(written)} files written and removed"


def check_server(smoke: Smoke) -> str:
    """The program without a window, asked over HTTP as another program would."""
    secret = smoke.document("token", "add", "smoke")["token"]
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    with smoke.serving() as address:

        def asked(path: str, body: object = None) -> dict[str, Any]:
            content = json.dumps(body).encode() if body else None
            request = urllib.request.Request(f"{address}{path}", content, headers)
            with urllib.request.urlopen(request, timeout=_STEP_S) as answer:
                return json.load(answer)

        model = asked("/v1/models")["data"][0]["id"]
        body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
        said: str = asked("/v1/chat/completions", body)["choices"][0]["message"]["content"]
    if CITED not in said:
        raise SmokeError(f"the answer cites nothing: {said}")
    return f"{model} at {address} said {said[:40]!r}"


@contextlib.contextmanager
def screen() -> Generator[str]:
    """A screen of its own, "" where there is no Xvfb."""
    server = shutil.which("Xvfb")
    if not server:
        yield ""
        return
    reading, writing = os.pipe()
    command = [
        server,
        "-displayfd",
        str(writing),
        "-screen",
        "0",
        "1280x800x24",
        "-nolisten",
        "tcp",
    ]
    running = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        running.terminate()
        running.wait(_END_S)


def environment_of(home: Path, display: str) -> dict[str, str]:
    """What a desktop would give a program of a person whose home this is, and nothing of ours."""
    kept = ("PATH", "LANG", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP")
    found = {name: value for name, value in os.environ.items() if name.upper() in kept}
    found |= {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "APPDATA": str(home),
        "LC_ALL": "C.UTF-8",
    }
    found["LOCALAPPDATA"] = str(home)
    if display:
        return found | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    return found | {"QT_QPA_PLATFORM": "offscreen"}


def use(program: Path, home: Path, display: str) -> None:
    """Go through all steps, and print what each saw."""
    smoke = Smoke(program, home, environment_of(home, display))
    make_papers(papers := home / "papers")
    steps: dict[str, Callable[[], object]] = {
        "starts": smoke.start,
        "reads": lambda: check_reading(smoke, papers),
        "answers": lambda: check_answer(smoke),
        "pops up": lambda: check_quick_ask(smoke, papers, display),
        "is well": lambda: check_doctor(smoke),
        "enters the desktop": lambda: check_entries(smoke, program),
        "ends": smoke.end,
        "serves": lambda: check_server(smoke),
    }
    try:
        for name, step in steps.items():
            began_at = time.monotonic()
            seen = step() or ""
            print(f"ok  {name:<20}{time.monotonic() - began_at:6.1f} s  {seen}", flush=True)
    finally:
        smoke.kill()


def main() -> int:
    """Use the program of the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    program: Path = parser.parse_args().program.resolve()
    with tempfile.TemporaryDirectory(prefix="smoke-") as home, screen() as display:
        try:
            use(program, Path(home).resolve(), display)
        except SmokeError as failed:
            print(f"FAILED: {failed}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
