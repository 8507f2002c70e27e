"""The libraries that the app imports, and which of them a bundle has lost.

Imports inside functions are seen too: they fail only when somebody reaches them.
"""

import ast
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path


def imported(package: Path) -> set[str]:
    """The modules of all import statements below the folder of a package, but for its own."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
    return {name for name in found if name.partition(".")[0] != package.name}


def lost(package: Path, modules: Iterable[str], files: Iterable[str]) -> list[str]:
    """Installed modules that the package imports, and that are neither of Python nor bundled.

    `modules` are those bundled by name, `files` the paths of libraries inside the bundle.
    """
    libraries = {path.replace("\\", "/").partition(".")[0].replace("/", ".") for path in files}
    bundled = {*modules, *libraries}
    wanted = {
        name
        for name in imported(package)
        if name.partition(".")[0] not in sys.stdlib_module_names and name not in bundled
    }
    # What is not installed belongs to an extra, or to another system.
    return sorted(name for name in wanted if find_spec(name.partition(".")[0]))
