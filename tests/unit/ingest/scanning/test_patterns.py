"""Patterns of .gitignore files: what Git does with the same lines."""

import threading
from pathlib import Path

import pytest

from desktop_rag.core.domain import SourceRules
from desktop_rag.ingest.scanning.disk_walk import scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules, Patterns

RULES = IgnoreRules(lambda name: name.endswith(".md"), 1000).of(SourceRules(uses_gitignore=True))


@pytest.mark.parametrize(
    ("lines", "path", "leaves_out"),
    [
        ("*.log", "a.log", True),
        ("*.log", "sub/a.log", True),
        ("*.log", "a.md", None),
        ("/a.md", "sub/a.md", None),
        ("sub/", "sub/", True),
        ("sub/", "sub", None),
        ("*.md\n!a.md", "a.md", False),
        ("!a.md\n*.md", "a.md", True),
        ("# *.md", "a.md", None),
        ("build/**", "build/", None),
        ("build/**", "build/a.md", True),
        ("*\n!*/\n!a.md", "sub/", False),
        ("*\n!*/\n!a.md", "sub/a.md", False),
        ("*\n!*/\n!a.md", "sub/b.md", True),
        ("***[\n*.md", "a.md", True),
        ("", "a.md", None),
    ],
)
def test_the_last_line_that_names_a_path_decides(
    lines: str, path: str, leaves_out: bool | None
) -> None:
    assert Patterns(lines.split("\n")).leaves_out(path) is leaves_out


def taken(root: Path, rules: IgnoreRules = RULES, *parts: str) -> set[str]:
    places = frozenset(root / part for part in parts) or None
    files = scan(root, rules, threading.Event(), places)
    return {file.path.relative_to(root).as_posix() for file in files}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("a.md", "b.md", "sub/a.md", "sub/b.md", "build/x.md", "build/keep.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def test_gitignore_files_count_below_their_folder_and_the_nearest_decides(docs: Path) -> None:
    (docs / ".gitignore").write_text("a.md\nbuild/**\n!build/keep.md\n")
    (docs / "sub" / ".gitignore").write_text("!a.md\nb.md\n")
    assert taken(docs) == {"b.md", "sub/a.md", "build/keep.md"}


def test_gitignore_files_are_not_read_unless_asked_for(docs: Path) -> None:
    (docs / ".gitignore").write_text("*.md")
    rules = RULES.of(SourceRules())
    assert len(taken(docs, rules)) == 6
    assert taken(docs) == set()


def test_a_part_is_left_out_as_in_a_whole_scan(docs: Path) -> None:
    (docs / ".gitignore").write_text("sub/\n")
    assert taken(docs, RULES, "sub/a.md", "sub") == set()
    rules = RULES.of(SourceRules(excluded=("/build/", "b.md")))
    assert taken(docs, rules, "build/x.md", "sub/a.md", "sub/b.md") == {"sub/a.md"}


def test_a_gitignore_file_that_cannot_be_read_counts_as_none(docs: Path) -> None:
    (docs / ".gitignore").mkdir()
    (docs / "sub" / ".gitignore").write_bytes(b"\xff\xfe\x00a.md\n")
    assert len(taken(docs)) == 6
