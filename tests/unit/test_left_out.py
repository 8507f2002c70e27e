"""What the bundle leaves out is not needed: a process imports everything and says what it used."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import PySide6
import pytest

# Five seconds of computing, which take minutes on a computer that does much else.
pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).parents[2]
# Of other systems, or of the extra that the bundle lacks.
NOT_HERE = {"winreg", "msvcrt", "_winapi", "rapidocr", "cv2"}
PLUGINS = (
    "platforms/libqxcb", "platforms/libqwayland", "platforms/libqoffscreen",
    "iconengines/libqsvgicon", "platformthemes/libqxdgdesktopportal",
    "wayland-shell-integration/libxdg", "platforminputcontexts/libibus", "imageformats/libqjpeg",
)  # fmt: skip
CHILD = """
import importlib, json, pkgutil, sys

opened = []
sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == "open" else None)
import desktop_rag
names = [m.name for m in pkgutil.walk_packages(desktop_rag.__path__, "desktop_rag.")]
for name in [*names, *json.loads(sys.argv[1])]:
    if not name.endswith("__main__"):
        importlib.import_module(name)

from PySide6.QtWidgets import QApplication
from desktop_rag.core.paths import resources_dir
from desktop_rag.ingest.read.foundation.language import language_of
from desktop_rag.ui.tray.app_icon import AppIcon
app = QApplication([])
AppIcon(resources_dir()).icon()
language_of("The lamp is lit at dusk by the keeper, and the wick is trimmed twice a night. " * 4)
import keyring.core, trafilatura
keyring.core.load_config() or keyring.get_keyring()
page = "<html lang=en><body><article><h1>Bell</h1>" + "<p>It is rung in fog.</p>" * 40
trafilatura.extract(page, output_format="markdown", url="https://example.com/de/bell")
try:
    with open("/proc/self/maps") as maps:
        loaded = sorted({line.split()[-1] for line in maps if "/" in line})
except FileNotFoundError:
    loaded = []
print(json.dumps({"modules": sorted(sys.modules), "files": [*opened, *loaded]}))
"""


@pytest.fixture(scope="module")
def listed() -> Any:
    """The module that reads the list."""
    path = ROOT / "packaging" / "bundle" / "left_out.py"
    spec = importlib.util.spec_from_file_location("left_out", path)
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module.left_out()
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def used() -> dict[str, list[str]]:
    """Every module and file in use once all of the app and what it imports is there."""
    command = [sys.executable, "-c", CHILD, json.dumps(sorted(imported()))]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def imported() -> set[str]:
    """The libraries of all import statements of the app, those inside functions too."""
    found: set[str] = set()
    for path in (ROOT / "desktop_rag").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
    ours_or_not_here = {"desktop_rag", "_typeshed", *NOT_HERE}
    return {name for name in found if name.partition(".")[0] not in ours_or_not_here}


def inside(paths: list[str]) -> Iterator[str]:
    """The paths of installed files as they are in the bundle."""
    for path in paths:
        before, found, below = path.replace("\\", "/").rpartition("/site-packages/")
        if before and found:
            yield below


def test_no_module_that_is_left_out_is_imported(listed: Any, used: dict[str, list[str]]) -> None:
    assert "onnxruntime" in used["modules"]
    assert [name for name in used["modules"] if listed.has_module(name)] == []


def test_no_file_that_is_left_out_is_opened(listed: Any, used: dict[str, list[str]]) -> None:
    files = set(inside(used["files"]))
    assert any(name.endswith("model.npz.xz") for name in files)
    assert sorted(name for name in files if listed.has_file(name)) == []


def test_the_list_hits_what_is_installed_and_spares_the_window(listed: Any) -> None:
    installed = Path(PySide6.__file__).parent
    files = [p.relative_to(installed.parent).as_posix() for p in installed.rglob("*")]
    kept = "\n".join(name for name in files if not listed.has_file(name))
    assert len(kept.splitlines()) < len(files) / 2
    if sys.platform == "linux":
        assert [plugin for plugin in PLUGINS if plugin not in kept] == []
