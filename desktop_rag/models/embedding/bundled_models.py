"""The embedding models that ship with the app: one for English, one for many languages. Pure."""

from pathlib import Path

from desktop_rag.core.paths import resources_dir

# Their specs; "" is what a library of an earlier version says too.
BUNDLED = ""
BUNDLED_MULTILINGUAL = "bundled:multilingual"
NAMES = {BUNDLED: "all-MiniLM-L6-v2", BUNDLED_MULTILINGUAL: "use-multilingual-3"}


def bundled_folders() -> dict[str, Path]:
    """The folder of each bundled model, by its spec."""
    return {spec: resources_dir() / "models" / name for spec, name in NAMES.items()}
