"""Extras of the app, each a library that is not always there: how one is added here. Pure."""

import sys
from importlib.metadata import requires
from importlib.util import find_spec
from shlex import quote


def way_to_install(extra: str) -> str:
    """A sentence with the command that adds what an extra needs to this very installation."""
    if getattr(sys, "frozen", False):
        # In each package it would take room for the few who need it.
        return f"This package can't be extended. In the source folder: pipx install '.[{extra}]'"
    return f"In a terminal: {_installer()} {' '.join(map(quote, _libraries(extra)))}"


def _installer() -> str:
    python = quote(sys.executable)
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"


def _libraries(extra: str) -> list[str]:
    required = requires("desktop-rag") or []
    return [line.partition(";")[0].strip() for line in required if line.endswith(f"'{extra}'")]
