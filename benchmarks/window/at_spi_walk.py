"""What a screen reader gets of the running app through AT-SPI, with what is wrong in it.

/usr/bin/python3 benchmarks/window/at_spi_walk.py PYTHON

Starts the app with this PYTHON, over a library of its own, on a display and a session bus of their
own, asks two questions and goes through the pages by the actions that assistive programs have, and
prints each page's parts with their roles. Findings are parts that take the focus without a name,
markup in names and descriptions, pages that are check boxes, and questions out of their order; with
any, it ends with 1. It needs Debian's at-spi2-core, gir1.2-atspi-2.0, python3-gi, xvfb and dbus,
and runs with the system's Python, which has the bindings. Without one of them it ends with 77.
"""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# A part of a window, or the library that finds them: neither has types.
Part = Any
_MARKUP = re.compile(r"</?(?:qt|html|body|p|b|i|br|span|a|div)\b[^>]*>|&(?:lt|gt|amp|quot|nbsp);")
_PAGES = ("Chat", "Library", "Search", "Settings")
# The dialogs that a button opens, by page.
_DIALOGS = {"Chat": ("Keyboard shortcuts",), "Library": ("Add web links…", "Collections…")}
_QUESTIONS = ("When is the lamp lit?", "Who trims the wick?")
_NEEDED = ("xvfb-run", "dbus-run-session")
_SKIPPED = 77
_START_S, _SETTLE_S, _DEEPEST = 60.0, 2.0, 40
_REPLY_MS = 20_000
_INSIDE = "AT_SPI_WALK_INSIDE"


def main() -> int:
    """Run the walk in a session of its own; 1 with findings, 77 without what it needs."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    missing = [name for name in _NEEDED if shutil.which(name) is None]
    if importlib.util.find_spec("gi") is None:
        missing.append("gi")
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        return _SKIPPED
    if _INSIDE not in os.environ:
        command = ["xvfb-run", "-a", "dbus-run-session", "--", sys.executable, __file__]
        return subprocess.run(
            [*command, *sys.argv[1:]], env={**os.environ, _INSIDE: "1"}, check=False
        ).returncode
    return _walk_app(sys.argv[1])


def _walk_app(python: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        env = {
            **os.environ,
            "DESKTOP_RAG_HOME": f"{folder}/home",
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        }
        papers = Path(folder) / "papers"
        papers.mkdir()
        (papers / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk. The keeper trims it.")
        (papers / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
        subprocess.run([python, "-m", "desktop_rag", "index", str(papers)], env=env, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        app = subprocess.Popen([python, "-m", "desktop_rag"], env=env)
        try:
            return _report(_findings(_frame(app)))
        finally:
            app.terminate()
            app.wait(30)


def _atspi() -> Part:
    importlib.import_module("gi").require_version("Atspi", "2.0")
    return importlib.import_module("gi.repository.Atspi")


def _frame(app: "subprocess.Popen[bytes]") -> Part:
    """The window of the app, once it is on the bus."""
    atspi = _atspi()
    atspi.init()
    # An action is answered once it is done: opening a dialog may build pages first.
    atspi.set_timeout(_REPLY_MS, _REPLY_MS)
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and app.poll() is None:
        desktop = atspi.get_desktop(0)
        programs = [desktop.get_child_at_index(n) for n in range(desktop.get_child_count())]
        for program in filter(None, programs):
            for n in range(program.get_child_count()):
                window = program.get_child_at_index(n)
                # While the library is opened, another window says so.
                if any(part.get_name() == _PAGES[0] for part in _parts(window)):
                    time.sleep(_SETTLE_S)
                    return window
        time.sleep(0.5)
    raise SystemExit("The window did not appear on the accessibility bus.")


def _findings(frame: Part) -> Iterator[str]:
    for page in _PAGES:
        button = next((p for p in _parts(frame) if p.get_name() == page and _acts(p)), None)
        if button is None:
            yield f"no button leads to the page {page}"
            continue
        if button.get_role_name() == "check box":
            yield f"the page {page} is a check box"
        button.get_action_iface().do_action(0)
        time.sleep(_SETTLE_S)
        print(f"\n== {page}")
        if page == "Chat":
            yield from _chat(frame)
        yield from _page(frame)
        for name in _DIALOGS.get(page, ()):
            yield from _dialog(frame, name)
        if page == "Settings":
            yield from _settings(frame)


def _page(frame: Part) -> Iterator[str]:
    for part in _parts(frame):
        role, name = part.get_role_name(), part.get_name() or ""
        told = part.get_description() or ""
        is_focusable = part.get_state_set().contains(_atspi().StateType.FOCUSABLE)
        if name or is_focusable:
            print(f"{role:16} {name[:70]!r} {told[:60]!r}")
        # A cell may be empty.
        if is_focusable and not name.strip() and role != "table cell":
            yield f"no name: {role} {told!r} in {_path(part)}"
        if _MARKUP.search(name) or _MARKUP.search(told):
            yield f"markup: {role} {name!r} {told!r}"


def _chat(frame: Part) -> Iterator[str]:
    """Ask the questions; they are read from the oldest on."""
    for question in _QUESTIONS:
        field = next((p for p in _parts(frame) if p.get_name() == "Question"), None)
        if field is None:
            yield "no field for questions"
            return
        field.get_editable_text_iface().set_text_contents(question)
        time.sleep(_SETTLE_S / 2)
        send = next(p for p in _parts(frame) if p.get_name() == "Send")
        send.get_action_iface().do_action(0)
        time.sleep(2 * _SETTLE_S)
    said = [p.get_name() for p in _parts(frame) if (p.get_name() or "").startswith("You asked: ")]
    if said != [f"You asked: {question}" for question in _QUESTIONS]:
        yield f"questions out of order: {said}"


def _dialog(frame: Part, name: str) -> Iterator[str]:
    """Open a dialog by its button, go through its parts, and close it."""
    program = frame.get_application()
    before = program.get_child_count()
    button = next((p for p in _parts(frame) if p.get_name() == name and _acts(p)), None)
    if button is None:
        yield f"no button opens {name}"
        return
    button.get_action_iface().do_action(0)
    time.sleep(_SETTLE_S)
    if program.get_child_count() == before:
        yield f"nothing opened by {name}"
        return
    dialog = program.get_child_at_index(program.get_child_count() - 1)
    print(f"\n== {name}")
    yield from _page(dialog)
    leave = next((p for p in _parts(dialog) if p.get_name() in ("Close", "Cancel")), None)
    if leave is None:
        yield f"no way out of {name}"
    else:
        leave.get_action_iface().do_action(0)
        time.sleep(_SETTLE_S / 2)


def _settings(frame: Part) -> Iterator[str]:
    pages = next(p for p in _parts(frame) if p.get_name() == "Settings" and p.get_child_count())
    for n in range(pages.get_child_count()):
        row = pages.get_child_at_index(n)
        if row is None or not pages.get_selection_iface().select_child(n):
            continue
        time.sleep(_SETTLE_S / 2)
        print(f"\n== Settings, {row.get_name()}")
        yield from _page(frame)


def _acts(part: Part) -> bool:
    action = part.get_action_iface()
    return action is not None and part.get_role_name() in ("button", "push button", "check box")


def _parts(part: Part, depth: int = 0) -> Iterator[Part]:
    """What is on the screen, each part before those inside it; of long lists the first rows."""
    if part is None or not part.get_state_set().contains(_atspi().StateType.SHOWING):
        return
    yield part
    for n in range(min(part.get_child_count(), 60)) if depth < _DEEPEST else ():
        yield from _parts(part.get_child_at_index(n), depth + 1)


def _path(part: Part) -> str:
    names: list[str] = []
    while (part := part.get_parent()) is not None and len(names) < 5:
        names.append(part.get_name() or part.get_role_name())
    return " < ".join(names)


def _report(findings: Iterator[str]) -> int:
    found = list(dict.fromkeys(findings))
    print(f"\n{len(found)} findings")
    for finding in found:
        print(f"- {finding}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
