"""What is taken, what is skipped with a reason, and what is as if it weren't there."""

from pathlib import Path

import pytest

from desktop_rag.core.domain import SourceRules
from desktop_rag.ingest.scanning.ignore import HIDDEN, IgnoreRules, is_only_in_cloud

MEGABYTE = 1 << 20
ROOT = Path("docs").absolute()
RULES = IgnoreRules(
    lambda name: name.lower().endswith((".md", ".pdf")), max_size_bytes=2 * MEGABYTE
)


@pytest.mark.parametrize(
    "name",
    [
        ".git",
        ".hidden.md",
        ".#report.md",
        ".~lock.report.odt#",
        "#report.md#",
        "~$report.docx",
        "report.md~",
        "report.md.swp",
        "REPORT.TMP",
        "film.mkv.crdownload",
        "film.part",
        "Thumbs.db",
        "node_modules",
        "__pycache__",
        "$RECYCLE.BIN",
        "System Volume Information",
    ],
)
def test_names_that_are_left_out_without_a_word(name: str) -> None:
    assert RULES.is_invisible(name)


@pytest.mark.parametrize(
    "name",
    [
        "report.md",
        "~ideas.md",
        "part.md",
        "tmp",
        "C#",
        "#1 list.md",
        "git",
        "Größe.pdf",
        "a b",
        "-",
    ],
)
def test_names_that_are_seen(name: str) -> None:
    assert not RULES.is_invisible(name)


@pytest.mark.parametrize(
    ("name", "size_bytes", "reason"),
    [
        ("report.md", 0, ""),
        ("REPORT.PDF", 2 * MEGABYTE, ""),
        ("report.pdf", 2 * MEGABYTE + 1, "larger than 2 MB"),
        ("holiday.JPG", 5, "not supported: .jpg"),
        ("archive.md.zip", 5, "not supported: .zip"),
        ("holiday.jpg", 5 * MEGABYTE, "not supported: .jpg"),
        ("Makefile", 5, "not supported: no file extension"),
        ("report.", 5, "not supported: ."),
    ],
)
def test_reasons_for_skipping(name: str, size_bytes: int, reason: str) -> None:
    assert RULES.reason(name, size_bytes) == reason


@pytest.mark.parametrize(
    ("path", "is_hidden"),
    [
        (ROOT, False),
        (ROOT / "a.md", False),
        (ROOT / "sub" / "a.md", False),
        (ROOT / ".git" / "a.md", True),
        (ROOT / "sub" / "node_modules" / "x" / "a.md", True),
        (ROOT / "sub" / ".a.md", True),
    ],
)
def test_a_path_is_hidden_by_any_folder_below_the_root(path: Path, is_hidden: bool) -> None:
    assert RULES.hides(ROOT, path) is is_hidden


def test_the_name_of_the_root_itself_does_not_matter() -> None:
    root = ROOT / ".notes"
    assert not RULES.hides(root, root)
    assert not RULES.hides(root, root / "a.md")


def test_the_home_of_the_app_is_hidden() -> None:
    rules = IgnoreRules(lambda name: name.lower().endswith((".md",)), MEGABYTE, home=ROOT / "app")
    assert rules.hides(ROOT, ROOT / "app")
    assert rules.hides(ROOT, ROOT / "app" / "notes.md")
    assert not rules.hides(ROOT, ROOT / "apple" / "notes.md")


def test_a_source_chosen_inside_the_home_of_the_app_is_seen() -> None:
    rules = IgnoreRules(lambda name: name.lower().endswith((".md",)), MEGABYTE, home=ROOT)
    assert not rules.hides(ROOT / "demo", ROOT / "demo" / "notes.md")


@pytest.mark.parametrize(
    ("attributes", "flags", "is_away"),
    [(0, 0, False), (0x20, 0, False), (0x400020, 0, True), (0x1000, 0, True), (0, 1 << 30, True)],
)
def test_cloud_placeholders(attributes: int, flags: int, is_away: bool) -> None:
    assert is_only_in_cloud(attributes, flags) is is_away


def test_the_size_of_a_source_is_a_limit_below_that_of_the_settings() -> None:
    assert RULES.of(SourceRules(max_file_mb=1)).reason("a.md", MEGABYTE + 1) == "larger than 1 MB"
    assert RULES.of(SourceRules(max_file_mb=9)).max_size_bytes == 2 * MEGABYTE
    assert RULES.of(SourceRules()).max_size_bytes == 2 * MEGABYTE


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".notes.md", ""),
        (".git", HIDDEN),
        (".#report.md", "a temporary file"),
        (".~lock.report.odt#", "a temporary file"),
        ("node_modules", "a folder of tools or of the system"),
    ],
)
def test_hidden_files_are_read_if_the_person_says_so(name: str, reason: str) -> None:
    rules = RULES.of(SourceRules(includes_hidden=True))
    assert rules.invisible_reason(name) == reason


def test_patterns_of_the_person_leave_out_files_and_folders() -> None:
    rules = RULES.of(SourceRules(excluded=("drafts/", "*.log", "!kept.log")))
    assert rules.excluded_reason("drafts/") == "left out by a pattern of yours"
    assert rules.excluded_reason("sub/a.log")
    assert not rules.excluded_reason("sub/kept.log")
    assert not RULES.excluded_reason("sub/a.log")
