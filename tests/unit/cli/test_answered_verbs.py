"""The table of what wings answer to others is that of the modules that answer it."""

import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from desktop_rag import cli, registry
from desktop_rag.cli.verb_table import answered_verbs

PACKAGE = Path(cli.__path__[0]).parent


@pytest.mark.needs_wings
def test_everything_that_a_module_answers_is_in_the_table() -> None:
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "def answers(" in path.read_text("utf-8") and path.parent.name == "cli":
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            found |= dict.fromkeys(import_module(module).answers(), module)
    assert "model_list" in found
    listed: dict[str, str] = {}
    for name, verb in answered_verbs().items():
        assert isinstance(verb, partial)
        listed[name] = verb.args[0]
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
    wings = [f"desktop_rag.features.{wing}" for wing in registry.wings()]
    assert set(done.stdout.split()) == {
        "desktop_rag.cli", "desktop_rag.cli.verb_table", "desktop_rag.features",
        "desktop_rag.registry", *wings, *(f"{wing}.wing" for wing in wings),
    }  # fmt: skip
