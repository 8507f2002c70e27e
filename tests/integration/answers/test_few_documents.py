"""New users start with a handful of files: the right passage must come first there too."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from desktop_rag import app

pytestmark = pytest.mark.slow

TEXTS = {
    "apple": "Apples grow on trees. An apple tree bears fruit in autumn.",
    "boat": "A boat has a sail and moves on the water when the wind blows.",
    "cat": "Cats sleep for most of the day and hunt mice at night.",
    "dog": "Dogs guard the house and like long walks in the morning.",
    "eggs": "Pancakes: 200 g flour, 2 eggs and a cup of milk.",
    "lease": "The notice period of the lease is three months.",
    "train": "The night train to Vienna leaves at ten from platform four.",
}


def make(services: app.Services, folder: Path, names: Sequence[str]) -> None:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.md").write_text(TEXTS[name], encoding="utf-8")
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)


@pytest.mark.parametrize("count", [2, 3, 4, 6, 7])
def test_what_both_lists_rank_first_comes_first(
    services: app.Services, tmp_path: Path, count: int
) -> None:
    names = ["boat", *(name for name in TEXTS if name != "boat")][:count]
    make(services, tmp_path / "docs", names)
    for query in ("boat sail", "what has a sail", "sail on the water -dogs"):
        assert services.chat.search(query)[0].title == "boat", query


def test_filters_that_leave_few_do_not_turn_the_order(
    services: app.Services, tmp_path: Path
) -> None:
    make(services, tmp_path / "docs", list(TEXTS))
    for query, best in (
        ("file:boat,cat,apple boat sail", "boat"),
        ("file:lease,train,eggs how many eggs do pancakes need", "eggs"),
    ):
        assert services.chat.search(query)[0].title == best
