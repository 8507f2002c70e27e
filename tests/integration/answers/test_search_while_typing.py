"""The search behind the quick ask and the search page, on the real library."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.query import parse_query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.question_scope import ScopeItem

pytestmark = pytest.mark.slow

QUIET_S = 30.0
QUARTZ = "# Stones\n\nQuartz is a hard mineral whose crystals grow in the veins of mountains."


@pytest.fixture
def library(services: Services, tmp_path: Path) -> Services:
    for name, text in (
        ("lamp/oil.md", "The keeper fills the lamp with oil at dusk."),
        ("lamp/wick.txt", "The wick is trimmed at night."),
        ("boat.md", "The ferry to the mainland leaves at noon."),
    ):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    services.library.sources.add(tmp_path / "docs")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)
    return services


def found(library: Services, text: str, reach: SearchScope = EVERYTHING) -> set[str]:
    passages = library.chat.search(text, reach=reach, is_half_typed=True)
    return {Path(passage.path).name for passage in passages}


def test_what_has_no_word_and_is_about_something_else_is_left_out(library: Services) -> None:
    assert found(library, "zzyzx") == set()
    assert found(library, "ferr") == {"boat.md"}


def test_chosen_and_typed_filters_both_apply(library: Services, tmp_path: Path) -> None:
    lamp = SearchScope(about=(ScopeItem.of_folder(tmp_path / "docs" / "lamp"),))
    assert found(library, "at", lamp) == {"oil.md", "wick.txt"}
    assert found(library, "at file:boat", lamp) == set()
    assert found(library, "at type:txt", lamp) == {"wick.txt"}


def test_without_words_filters_list_what_they_leave(library: Services, tmp_path: Path) -> None:
    lamp = SearchScope(about=(ScopeItem.of_folder(tmp_path / "docs" / "lamp"),))
    assert found(library, "", lamp) == {"oil.md", "wick.txt"}
    markdown = SearchScope(limits=parse_query("type:md"))
    assert found(library, "", markdown) == {"oil.md", "boat.md"}
    assert found(library, "") == set()


def test_fewer_passages_than_wanted_are_all_with_the_word(
    library: Services, tmp_path: Path
) -> None:
    for n in range(8):
        (tmp_path / "docs" / f"crossing {n}.txt").write_text(f"The ferry sailed at {n}. " * 4)
    (tmp_path / "docs" / "stones.md").write_text(QUARTZ)
    library.library.sources.rescan(library.library.sources.all()[0].source_id)
    assert library.library.indexing.wait_until_idle(QUIET_S)
    for limit in range(1, 12):
        words = library.chat.search("ferry", mode="lexical", limit=limit, is_half_typed=True)
        shown = library.chat.search("ferry", limit=limit, is_half_typed=True)
        assert len(shown) == limit or {p.chunk_id for p in words} <= {p.chunk_id for p in shown}


def test_a_file_is_found_by_a_part_of_its_name(library: Services, tmp_path: Path) -> None:
    for n in range(9):
        (tmp_path / "docs" / f"page {n}.txt").write_text(f"It was quiet on night {n}.")
    (tmp_path / "docs" / "07_kiosk_takings_total.md").write_text(QUARTZ)
    library.library.sources.rescan(library.library.sources.all()[0].source_id)
    assert library.library.indexing.wait_until_idle(QUIET_S)
    assert "07_kiosk_takings_total.md" in found(library, "kiosk_takings")
    assert found(library, "type:md takings") == {"07_kiosk_takings_total.md"}
