"""Prompts as files: names, hostile and broken ones, what the app brings."""

import sys
from pathlib import Path

import pytest

from desktop_rag.answer.conversations.personal import PromptLibrary
from desktop_rag.core.assistant import (
    LONGEST_PROMPT_NAME,
    LONGEST_TEXT,
    SavedPrompt,
    matching,
    plain_name,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir

BUILT_IN = resources_dir() / "prompts"


@pytest.fixture
def library(tmp_path: Path) -> PromptLibrary:
    """An empty one: the app's own were deleted."""
    (tmp_path / "prompts").mkdir()
    return PromptLibrary(tmp_path / "prompts", BUILT_IN)


def names(library: PromptLibrary) -> list[str]:
    return [prompt.name for prompt in library.all()]


def test_the_apps_own_are_there_at_first_and_then_the_persons(tmp_path: Path) -> None:
    library = PromptLibrary(tmp_path / "prompts", BUILT_IN)
    first = names(library)
    assert {"summarise", "compare", "deadlines", "explain"} <= set(first)
    assert first == sorted(first)
    assert all("{{" in prompt.text for prompt in library.all())
    library.delete("compare")
    library.save(SavedPrompt("explain", "Mine."), "explain")
    assert "compare" not in names(PromptLibrary(tmp_path / "prompts", BUILT_IN))
    library.restore_built_in()
    assert names(library) == first
    assert SavedPrompt("explain", "Mine.") in library.all()


def test_what_is_saved_is_a_file(library: PromptLibrary) -> None:
    kept = library.save(SavedPrompt(" /My Prompt ", "Ask {{who}}?\n\nAnd why?"))
    assert kept == SavedPrompt("my-prompt", "Ask {{who}}?\n\nAnd why?")
    assert library.all() == [kept]
    assert (library.folder / "my-prompt.md").read_text("utf-8") == f"{kept.text}\n"


def test_it_is_renamed_and_deleted(library: PromptLibrary) -> None:
    library.save(SavedPrompt("a", "A."))
    library.save(SavedPrompt("b", "A."), "a")
    assert names(library) == ["b"]
    library.delete("b")
    library.delete("b")
    assert library.all() == []


def test_a_name_that_grows_in_small_letters_is_found_again(library: PromptLibrary) -> None:
    kept = library.save(SavedPrompt("ß" * LONGEST_PROMPT_NAME, "Text."))
    assert names(library) == [kept.name]
    library.delete(kept.name)
    assert names(library) == []


def test_the_longest_text_of_any_script_is_there_again(library: PromptLibrary) -> None:
    kept = library.save(SavedPrompt("long", "\U0001d518" * LONGEST_TEXT))
    assert library.all() == [kept]


def test_no_name_is_given_twice(library: PromptLibrary) -> None:
    library.save(SavedPrompt("a", "A."))
    library.save(SavedPrompt("b", "B."))
    with pytest.raises(AppError, match="There is a prompt /a already"):
        library.save(SavedPrompt("A", "Other."))
    with pytest.raises(AppError, match="already"):
        library.save(SavedPrompt("a", "B."), "b")
    assert library.all() == [SavedPrompt("a", "A."), SavedPrompt("b", "B.")]


@pytest.mark.parametrize("name", ["", "  ", "/", "../..", "CON", "lpt1", "<>", "\u202e", "---"])
def test_a_name_that_says_nothing_is_refused(library: PromptLibrary, name: str) -> None:
    with pytest.raises(AppError, match="name"):
        library.save(SavedPrompt(name, "Text."))
    assert list(library.folder.parent.rglob("*.md")) == []


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Zusammenfassen für Ämter", "zusammenfassen-für-ämter"),
        ("सारांश", "सारांश"),
        ("要約", "要約"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 99, "a" * 40),
        ("cafe\u0301", "café"),
    ],
)
def test_a_name_is_one_word_in_any_script(library: PromptLibrary, written: str, name: str) -> None:
    assert library.save(SavedPrompt(written, "Text.")).name == name == plain_name(name)
    assert [path.parent for path in library.folder.parent.rglob("*.md")] == [library.folder]


@pytest.mark.parametrize("text", ["", " \n ", "x" * (LONGEST_TEXT + 1)])
def test_no_text_or_too_much_is_refused(library: PromptLibrary, text: str) -> None:
    with pytest.raises(AppError, match="prompt"):
        library.save(SavedPrompt("a", text))


def test_files_that_are_no_prompts_are_left_out(library: PromptLibrary) -> None:
    folder = library.folder
    (folder / "Good One.md").write_text("\ufeffGood.\x00", encoding="utf-8")
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    (folder / "empty.md").write_text(" ")
    (folder / "long.md").write_text("x" * 200_000)
    (folder / "other.txt").write_text("Other.")
    (folder / "folder.md").mkdir()
    (folder / "---.md").write_text("No name.")
    [prompt] = library.all()
    assert prompt.name == "good-one"
    assert prompt.text.startswith("Good.")
    assert "\x00" not in prompt.text
    library.save(SavedPrompt("good-one", "Better."), "good-one")
    assert (folder / "Good One.md").read_text() == "Better.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a folder in the way of a file")
def test_a_folder_that_cant_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    library = PromptLibrary(tmp_path / "file" / "prompts", BUILT_IN)
    with pytest.raises(AppError, match="could not be kept"):
        library.all()


def test_what_begins_so_comes_before_what_holds_it() -> None:
    prompts = [
        SavedPrompt(*p) for p in (("a-list", "x"), ("list", "x"), ("b", "A LIST"), ("c", ""))
    ]
    assert [p.name for p in matching(prompts, "LIST")] == ["list", "a-list", "b"]
    assert matching(prompts, "") == prompts
