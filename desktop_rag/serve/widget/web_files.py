"""The files of the embedded chat. Pure but for reading them."""

from functools import cache
from pathlib import Path

from desktop_rag.core.paths import resources_dir


def web_folder() -> Path:
    """Where the files are."""
    return resources_dir() / "web"


@cache
def web_file(name: str) -> str:
    """The text of a file."""
    return (web_folder() / name).read_text("utf-8")
