"""A member is set in JSON with comments, and every other byte stays."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.features.server.mcp_programs.program_setup import (
    NotJSONError,
    merged,
    parse,
    with_value,
)

ENTRY = {"command": "/opt/desktop-rag", "args": ["mcp"]}
PATH = ["servers", "desktop-rag"]
EDITED = """\
// kept by hand
{
\t"theme": "One", // dark /* really */
\t/* the servers
\t   of mine */
\t"servers": {
\t\t"other": {"url": "https://a.example//b"}, // remote
\t\t// the last
\t},
}
"""


def put(text: str, value: Any = ENTRY) -> str:
    return merged(text, PATH, value, comments=True)


def test_a_member_is_added_and_all_else_stays() -> None:
    added = put(EDITED)
    mine = '\t\t"desktop-rag": {\n\t\t\t"command": "/opt/desktop-rag",\n\t\t\t"args": [\n'
    assert mine in added
    before, _, after = EDITED.partition("\n\t},")
    assert added.startswith(before)
    assert added.endswith("\n\t}," + after)
    assert put(added) == added


@pytest.mark.parametrize(
    "text",
    ["", "\ufeff", "// nothing yet\n", "{}", "{\r\n}", '{"servers": {}}', '{"a": 1 // one\n}'],
)
def test_a_missing_place_is_made(text: str) -> None:
    node = parse(put(text), comments=True)
    assert node
    assert node.value["servers"]["desktop-rag"] == ENTRY
    assert "\r\n" not in text or re.search(r"[^\r]\n", put(text)) is None


def test_only_what_differs_is_replaced() -> None:
    old = put("{}").replace('"mcp"', '"mcp" /* was */, "--old"').replace("{\n", "{ // a\n", 1)
    own = old.replace('"command"', '"env": {"MINE": "1"}, "command"')
    changed = put(own, ENTRY | {"env": {"OURS": "2"}})
    node = parse(changed)
    assert node
    assert node.value["servers"]["desktop-rag"] == ENTRY | {"env": {"MINE": "1", "OURS": "2"}}
    assert changed.startswith("{ // a\n")
    whole = with_value(own, PATH, ENTRY, comments=True)
    node = parse(whole)
    assert node
    assert node.value["servers"]["desktop-rag"] == ENTRY


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1), ("{\n'a': 1}", 2), ('{"a": 1,\n\n"b" 2}', 3), ('{"a": 1} {}', 1), ("[1 2]", 1),
        ('{"a": 1 "b": 2}', 1), ("{,}", 1), ('{"a": /* open', 1), ('{"a": 01}', 1),
        ('{"a": "\n"}', 1), ("[" * 5_000, 1),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotJSONError) as refused:
        put(text)
    assert refused.value.line == line


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1} // b', '{"a": [1,]}', "/* */ {}"])
def test_comments_are_refused_where_the_program_knows_none(text: str) -> None:
    assert parse(text, comments=True)
    with pytest.raises(NotJSONError):
        parse(text, comments=False)


@pytest.mark.parametrize("text", ["[]", "1", '{"servers": []}', '{"servers": {"desktop-rag": 1}}'])
def test_another_form_is_not_overwritten(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(|servers|servers\.desktop-rag)$"):
        put(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@pytest.mark.slow
@given(
    st.dictionaries(st.text(max_size=4), VALUES, max_size=4),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
)
def test_other_members_mean_the_same_as_before(
    content: dict[str, Any], indent: int | str | None, is_ascii: bool
) -> None:
    content.pop("servers", None)
    text = json.dumps(content, indent=indent, ensure_ascii=is_ascii)
    node = parse(text, comments=False)
    assert node
    assert node.value == content
    assert json.loads(put(text)) == content | {"servers": {"desktop-rag": ENTRY}}
