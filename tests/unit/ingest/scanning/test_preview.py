"""What adding a folder would mean, told before it is added."""

import threading
from pathlib import Path

import pytest

from desktop_rag.core.domain import SourceRules
from desktop_rag.core.library_events import LeftOut
from desktop_rag.ingest.scanning.disk_walk import RootOffline, preview
from desktop_rag.ingest.scanning.ignore import IgnoreRules

RULES = IgnoreRules(lambda name: name.endswith((".md", ".pdf")), max_size_bytes=1 << 20)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("alpha")
    (root / "sub" / "b.MD.md").write_text("beta")
    (root / "c.pdf").write_bytes(b"x" * 1000)
    return root


def test_files_are_counted_with_their_size_and_format(docs: Path) -> None:
    found = preview(docs, RULES, threading.Event())
    assert (found.files, found.size_bytes) == (3, 1009)
    assert found.by_format == {".md": 2, ".pdf": 1}
    assert found.left_out == ()
    assert found.is_complete


def test_what_is_left_out_is_told_with_the_reason_and_examples(docs: Path) -> None:
    for number in range(5):
        (docs / f"{number}.xyz").write_text("x")
    (docs / "large.md").write_bytes(b"x" * ((1 << 20) + 1))
    for name in (".hidden.md", "draft.md", "named.md", "~$a.md"):
        (docs / name).write_text("x")
    (docs / "node_modules").mkdir()
    (docs / ".gitignore").write_text("named.md")
    (docs / "out").symlink_to("/")
    rules = RULES.of(SourceRules(uses_gitignore=True, excluded=("draft*",)))
    left_out = {out.reason: out for out in preview(docs, rules, threading.Event()).left_out}
    assert {reason: out.files for reason, out in left_out.items()} == {
        "not supported: .xyz": 5,
        "larger than 1 MB": 1,
        "hidden": 2,
        "left out by a pattern of yours": 1,
        "named in .gitignore": 1,
        "a temporary file": 1,
        "a folder of tools or of the system": 1,
        "a link that leads out of the folder": 1,
    }
    assert len(left_out["not supported: .xyz"].examples) == 3
    assert left_out["larger than 1 MB"] == LeftOut("larger than 1 MB", 1, ("large.md",))


def test_a_preview_that_is_cancelled_says_so(docs: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    found = preview(docs, RULES, cancel)
    assert (found.files, found.is_complete) == (0, False)


def test_a_single_file_has_a_preview(docs: Path) -> None:
    assert preview(docs / "c.pdf", RULES, threading.Event()).by_format == {".pdf": 1}


def test_a_folder_that_is_missing_has_none(docs: Path) -> None:
    with pytest.raises(RootOffline):
        preview(docs / "missing", RULES, threading.Event())
