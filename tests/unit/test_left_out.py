"""What the bundle leaves out is not needed: a process imports everything and says what it used."""

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
# Of other systems, of the extra that the bundle lacks, or for checks of types alone.
NOT_HERE = {"winreg", "msvcrt", "_winapi", "rapidocr", "cv2", "_typeshed"}
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


def module_of(name: str) -> Iterator[Any]:
    """A module of the folder of the bundle, which is no package."""
    path = ROOT / "packaging" / "bundle" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def listed() -> Iterator[Any]:
    """The list."""
    for module in module_of("left_out"):
        yield module.left_out()


@pytest.fixture(scope="module")
def app_imports() -> Iterator[Any]:
    """The module that reads the imports of the app."""
    yield from module_of("app_imports")


@pytest.fixture(scope="module")
def used(app_imports: Any) -> dict[str, list[str]]:
    """Every module and file in use once all of the app and what it imports is there."""
    names = app_imports.imported(ROOT / "desktop_rag")
    here = sorted(name for name in names if name.partition(".")[0] not in NOT_HERE)
    command = [sys.executable, "-c", CHILD, json.dumps(here)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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


def test_a_bundle_that_lost_a_library_is_noticed(app_imports: Any, tmp_path: Path) -> None:
    package = tmp_path / "app"
    package.mkdir()
    lines = (
        "import json, numpy, app.own, nowhere.at_all\n"
        "def read():\n"
        "    from lxml.etree import parse\n"
        "    import pypdf\n"
    )
    (package / "reading.py").write_text(lines, "utf-8")
    libraries = ["lxml/etree.cpython-313-x86_64-linux-gnu.so"]
    assert app_imports.lost(package, ["numpy"], libraries) == ["pypdf"]
    assert app_imports.lost(package, ["numpy", "pypdf"], []) == ["lxml.etree"]
    assert app_imports.lost(package, ["numpy", "pypdf"], libraries) == []
