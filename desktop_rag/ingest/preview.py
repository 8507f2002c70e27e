"""What adding a folder would mean. Any worker thread."""

from pathlib import Path
from threading import Event

from desktop_rag.core.library_events import FolderPreview
from desktop_rag.ingest.ignore import IgnoreRules


def preview(path: Path, rules: IgnoreRules, cancel: Event) -> FolderPreview:
    """Count what would be read below the path; stops early when cancelled."""
    raise NotImplementedError
