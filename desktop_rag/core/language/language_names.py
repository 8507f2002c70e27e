"""The languages that a person may name in the settings. Any thread."""

import tomllib
from functools import cache

from desktop_rag.core.paths import resources_dir


def language_named(name: str) -> str:
    """The code of the language with this name, in English, German or itself; "" for others."""
    return _codes().get(name.strip().casefold(), "")


@cache
def _codes() -> dict[str, str]:
    path = resources_dir() / "questions" / "language_names.toml"
    named = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: code for code, names in named.items() for name in names.split()}
