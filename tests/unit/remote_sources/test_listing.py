"""What a listing says, compared with what is kept."""

from desktop_rag.features.remote_sources.journal import Kept
from desktop_rag.features.remote_sources.remote import Item, Part, Told
from desktop_rag.features.remote_sources.remote_round import Listing, Plan


def item(path: str, version: str = "1", item_id: str = "", size: int = 5) -> Item:
    return Item(item_id or path, path, version, size)


def kept(*items: Item, part: str = "") -> list[Kept]:
    return [Kept(each, part, f"document of {each.item_id}") for each in items]


def plan(before: list[Kept], *parts: Part) -> Plan:
    listing = Listing()
    for part in parts:
        listing.add(part, part.items)
    return listing.compare(before)


def paths(found: Plan) -> tuple[list[str], list[str], list[str], int]:
    renamed = [f"{f.kept.item.path} > {f.item.path}" for f in found.renamed if f.kept]
    wanted = [f.item.path for f in found.wanted]
    return renamed, wanted, [k.item.path for k in found.gone], found.unchanged


def test_new_changed_and_gone() -> None:
    before = kept(item("a"), item("b"), item("c"))
    found = plan(before, Part("", items=(item("a"), item("b", "2"), item("d", "9"))))
    assert paths(found) == ([], ["b", "d"], ["c"], 1)
    assert found.wanted[0].kept == before[1]
    assert found.wanted[1].kept is None


def test_the_same_id_elsewhere_is_moved_and_with_another_version_fetched() -> None:
    before = kept(item("a", item_id="1"), item("b", item_id="2"))
    found = plan(before, Part("", items=(item("x/a", item_id="1"), item("x/b", "2", "2"))))
    assert paths(found) == (["a > x/a"], ["x/b"], [], 0)
    assert found.wanted[0].kept == before[1]


def test_without_ids_the_same_version_and_size_is_moved() -> None:
    found = plan(kept(item("a", "7", size=3)), Part("", items=(item("x/a", "7", size=3),)))
    assert paths(found) == (["a > x/a"], [], [], 0)
    found = plan(kept(item("a", "7", size=3)), Part("", items=(item("x/a", "7", size=4),)))
    assert paths(found) == ([], ["x/a"], ["a"], 0)


def test_where_two_could_be_the_one_that_moved_all_is_fetched() -> None:
    found = plan(kept(item("a"), item("b")), Part("", items=(item("x"), item("y"))))
    assert paths(found) == ([], ["x", "y"], ["a", "b"], 0)
    found = plan(kept(item("a")), Part("", items=(item("x"), item("y"))))
    assert paths(found) == ([], ["x", "y"], ["a"], 0)


def test_a_part_that_is_the_same_stands_for_all_below() -> None:
    before = [*kept(item("a")), *kept(item("x/b"), part="x/"), *kept(item("x/y/c"), part="x/y/")]
    found = plan(before, Part("", items=()), Part("x/", Told.SAME))
    assert paths(found) == ([], [], ["a"], 2)


def test_what_can_not_be_listed_stays() -> None:
    before = [*kept(item("a")), *kept(item("x/b"), part="x/")]
    found = plan(before, Part("", items=(item("a"),)), Part("x/", problem="Not now."))
    assert paths(found) == ([], [], [], 2)


def test_changes_leave_the_rest_as_it_was_and_a_folder_goes_with_all_in_it() -> None:
    before = kept(item("a"), item("x/b"), item("x/y/c"), item("xx"))
    part = Part("", Told.CHANGES, (item("a", "2"),), ("x",))
    assert paths(plan(before, part)) == ([], ["a"], ["x/b", "x/y/c"], 1)


def test_tokens_are_kept_but_for_parts_around_what_could_not_be_had() -> None:
    listing = Listing()
    listing.add(Part("", token="r2"), ())
    listing.add(Part("x/", token="x2"), ())
    listing.add(Part("y/", Told.SAME, token="y1"), ())
    known = {"": "r1", "x/": "x1", "y/": "y1", "y/z/": "z1", "gone/": "g1"}
    assert listing.tokens_of(known, set()) == {"": "r2", "x/": "x2", "y/": "y1", "y/z/": "z1"}
    assert listing.tokens_of(known, {"x/"}) == {"y/": "y1", "y/z/": "z1"}
