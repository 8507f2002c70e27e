import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import LONGEST_TAG, MOST_TAGS
from desktop_rag.ingest.read.markup.markdown import NONE, FrontMatter, parse_front_matter

LISTED = "---\ntitle: Lamps\ntags:\n  - roof\n  - oil lamp\n---\ntext"


def of_yaml(block: str) -> FrontMatter:
    return parse_front_matter(f"---\n{block}\n---\ntext")


def of_toml(block: str) -> FrontMatter:
    return parse_front_matter(f"+++\n{block}\n+++\ntext")


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("title: Old stones", "Old stones"),
        ("Title: 'It''s old' # a comment", "It's old"),
        ('"title": "Old \\u0073tones"', "Old stones"),
        ("title: >\n  Old\n  stones", "Old stones"),
        # No YAML, but what a person writes.
        ("title: Fees: a guide # 2nd", "Fees: a guide"),
        ("title: @work", "@work"),
        ("title: [Fees", "[Fees"),
        ("title: *unknown", "*unknown"),
        ("other: [broken\ntitle: Fees", "Fees"),
        ("other: &a [x, x]\ntitle: Fees", "Fees"),
        ("title: [Fees, Rules]", ""),
        ("title:", ""),
    ],
)
def test_the_title_of_yaml(written: str, title: str) -> None:
    assert of_yaml(written).title == title


@pytest.mark.parametrize(
    ("written", "dated"),
    [
        ("date: 2024-05-01", "2024-05-01"),
        ("date: '2024-5-1'", "2024-05-01"),
        ("date: 2024-05-01T23:30:00-05:00", "2024-05-01"),
        ("date: 2024/05/01 10:00", "2024-05-01"),
        ("created: 2024-05-01", "2024-05-01"),
        ("created: 2023-01-01\ndate: 2024-05-01", "2024-05-01"),
        ("date: 2024-02-31", ""),
        ("date: 2024-05-011", ""),
        ("date: 0000-00-00", ""),
        ("date: last May", ""),
        ("date: [2024-05-01]", ""),
    ],
)
def test_the_date_of_yaml(written: str, dated: str) -> None:
    assert of_yaml(written).dated == dated


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [roof, 'oil lamp', 2024]", ("roof", "oil lamp", "2024")),
        ("tags:\n- roof\n- oil lamp", ("roof", "oil lamp")),
        ("tags:\n  - roof\n  # not yet\n  - oil lamp", ("roof", "oil lamp")),
        ("tags: roof, oil lamp", ("roof", "oil lamp")),
        ("tags: roof oil", ("roof", "oil")),
        ("tag: roof", ("roof",)),
        ("keywords: [roof]", ("roof",)),
        ("tags: ['#project/roof', Roof, roof]", ("project/roof", "Roof")),
        ("tags: []", ()),
        ("tags: {roof: 1}", ()),
        ("tags: [[roof], {oil: 1}, lamp]", ("lamp",)),
        ("tags: [roof, oil", ("roof", "oil")),
    ],
)
def test_the_tags_of_yaml(written: str, tags: tuple[str, ...]) -> None:
    assert of_yaml(written).tags == tags


def test_toml() -> None:
    found = of_toml(
        'title = "Old stones"\ndate = 2024-05-01T10:00:00Z\ntags = ["roof", "oil lamp"]'
        '\n[extra]\ntitle = "no"'
    )
    assert (found.title, found.dated, found.tags) == (
        "Old stones", "2024-05-01", ("roof", "oil lamp"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (LISTED, "text"),
        ("---\nlayout: post\n---\n\n\n# Text", "# Text"),
        ("---\ntitle: x\n...\ntext", "text"),
        ("---  \ntitle: x\n---  \ntext", "text"),
        ("+++\nx = 1\n+++\ntext", "text"),
        ("---\ntitle: x\n---", ""),
    ],
)
def test_the_text_begins_below_it(text: str, rest: str) -> None:
    assert text[parse_front_matter(text).end :] == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Text",
        "---",
        "---\ntitle: never closed\n\ntext",
        "---\n---\ntext",
        "---\nSome prose between rules.\n---\ntext",
        "---\ntitle: x\nand prose\n---\ntext",
        "text\n---\ntitle: x\n---\n",
        "----\ntitle: x\n----\n",
        "+++\nno toml\n+++\ntext",
        "+++\n+++\ntext",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert parse_front_matter(text) == NONE


def test_there_are_so_many_tags_at_most() -> None:
    tags = of_yaml(f"tags: [{', '.join(f'{n}' * 50 for n in range(100, 200))}]").tags
    assert len(tags) == MOST_TAGS
    assert {len(tag) for tag in tags} == {LONGEST_TAG}


BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))


@pytest.mark.parametrize(
    "block",
    [
        "tags:\n" + "- " * 15_000,
        "title: " + "'" * 30_000,
        "title: " + "\\" * 30_000,
        "title: x" + " " * 30_000 + "y: z",
        "title: " + "1:" * 15_000,
        'title: "\\UFFFFFFFF"',
        "title: |" + "\n\n" * 15_000,
        "tags: !!python/object/apply:os.system [exit]",
        "a0: &a0 x\n" + BOMB + "\ntags: *a29",
        "tags: &a [*a, *a]",
        "title: \0\ud800",
        "? " * 15_000,
        "---\n" * 100,
        ("title: x\n") * 3_000,
    ],
)
def test_hostile_yaml_is_bounded(block: str) -> None:
    found = of_yaml(block)
    assert len(found.title) <= 300
    assert len(found.tags) <= 1


@pytest.mark.parametrize("tags", ["[" * 20_000 + "a", "[a, " * 7_000, "{a: " * 7_000])
def test_tags_in_hundreds_of_brackets_are_not_parsed(tags: str) -> None:
    assert of_yaml(f"tags: {tags}").tags == ()


@pytest.mark.parametrize(
    "block",
    [
        "a = " + "[" * 30_000,
        "a = " + "{b = " * 6_000,
        ".".join(["a"] * 15_000) + " = 1",
        "a = {" + ".".join(["a"] * 15_000) + " = 1}",
        "[" + ".".join(["a"] * 15_000) + "]",
        "a = " + "9" * 30_000,
        'a = """' + '"' * 30_000,
        "date = 0000-00-00",
    ],
)
def test_hostile_toml_is_refused(block: str) -> None:
    assert of_toml(block) == NONE


def test_thousands_of_toml_tables_are_read() -> None:
    block = "\n".join(f"[[a{n}.b.c]]" for n in range(2_000))
    assert of_toml(f'title = "x"\n{block}').title == "x"


def test_a_block_that_is_too_long_stays_text() -> None:
    assert of_yaml("title: x\nother: " + "x" * 40_000) == NONE


@given(st.text(alphabet=" \n\t-+:=#'\"[]{}|>&*!%@`,.?ab1\\\x85\u2028\ud800", max_size=80))
def test_nothing_that_is_written_raises(block: str) -> None:
    for text in (f"---\n{block}\n---\n", f"---\ntags:{block}\n---\n", f"+++\n{block}\n+++\n"):
        found = parse_front_matter(text)
        assert 0 <= found.end <= len(text)
