"""The table of the verbs that a running app answers is that of the modules that answer them."""

import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

from desktop_rag import cli
from desktop_rag.cli.verb_table import answered_verbs

FOLDER = Path(cli.__path__[0])


def test_every_verb_that_a_module_answers_is_in_the_table() -> None:
    found: dict[str, str] = {}
    for path in sorted(FOLDER.rglob("*.py")):
        if "def running_app_verbs(" in path.read_text("utf-8"):
            parts = path.relative_to(FOLDER.parent.parent).with_suffix("").parts
            module = ".".join(parts)
            found |= dict.fromkeys(import_module(module).running_app_verbs(), module)
    assert len(found) > 30
    listed: dict[str, str] = {}
    for name, verb in answered_verbs().items():
        assert isinstance(verb, partial)
        listed[name] = f"desktop_rag.cli.{verb.args[0]}"
    assert listed == found


def test_the_table_imports_none_of_them() -> None:
    script = (
        "import sys\n"
        "from desktop_rag.cli.verb_table import answered_verbs\n"
        "answered_verbs()\n"
        "print(*(m for m in sys.modules if m.startswith('desktop_rag.')))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {
        "desktop_rag.cli", "desktop_rag.cli.programs", "desktop_rag.cli.verb_table"
    }  # fmt: skip
