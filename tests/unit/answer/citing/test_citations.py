"""Citations: every form a model uses, what is left alone, and the quotes found."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop_rag.answer.citing.citations import citations, normalise

KNOWN = frozenset({1, 2, 3})


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Lit at dusk [1].", "Lit at dusk [1]."),
        ("Lit at dusk.[1][2]", "Lit at dusk.[1][2]"),
        ("a [1,3] b", "a [1][3] b"),
        ("a [1, 2; 3] b", "a [1][2][3] b"),
        ("a [1-3] b [2–3]", "a [1][2][3] b [2][3]"),
        ("a [1 and 3]", "a [1][3]"),
        ("a 【1】 b 【2†source】【3:0†L1-L4】", "a [1] b [2][3]"),
        ("a [source 1] (source 2) [Sources 1, 3] (see source 3)", "a [1] [2] [1][3] [3]"),
        ("a [doc 1] [Doc2] [document: 3] (Quelle 1) [ref. 2]", "a [1] [2] [3] [1] [2]"),
        ("a [Source 1, Source 3]", "a [1][3]"),
        ("a [source 1: Handbook, page 4] (source 2, page 4)", "a [1] [2]"),
        ("a [2, p. 4] [3, pages 4-5]", "a [2] [3]"),
        ("a [[1]] [[1, 2]]", "a [1] [1][2]"),
        ("a [1][1, 2][2]", "a [1][2]"),
        ("in 1902[1] and lens[2]", "in 1902[1] and lens[2]"),
        ("Vitamin C[1]", "Vitamin C[1]"),
        ("[1]: http://evil.example\nSee [1].", "[1] http://evil.example\nSee [1]."),
        ("- [2]: Handbook", "- [2] Handbook"),
        ("Note [1]: this", "Note [1]: this"),
    ],
)
def test_forms(written: str, normal: str) -> None:
    assert normalise(written, KNOWN) == (normal, 0)


@pytest.mark.parametrize(
    ("written", "normal", "dropped"),
    [
        ("Lit at dusk [9].", "Lit at dusk.", 1),
        ("Lit at dusk. [9] Out at dawn [1].", "Lit at dusk. Out at dawn [1].", 1),
        ("Lit [1, 9] at [8] dusk", "Lit [1] at dusk", 2),
        ("[9] Lit at dusk", "Lit at dusk", 1),
        ("Lit [7][1].", "Lit [1].", 1),
        ("Lit [2][7].", "Lit [2].", 1),
        ("Lit (source 4)", "Lit", 1),
        ("Lit [2-5]", "Lit [2][3]", 2),
        ("a\n[9]: http://x\nb", "a\nhttp://x\nb", 1),
        ("[[9]1] [8[9]]", "[1] ", 3),
    ],
)
def test_numbers_that_were_not_sent_are_dropped(written: str, normal: str, dropped: int) -> None:
    assert normalise(written, KNOWN) == (normal, dropped)


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] open\n- [x] done",
        "a[1] = b[9]; my_list[9][8]; someArray[7]; args[9]",
        "[1](http://localhost) and [9](http://localhost)",
        "Use `a [9]` or ``x ` [9]``.",
        "```python\nprint([9])\n```\nand\n~~~\n[8]\n~~~",
        "1. item\n   ```\n   [9]\n   ```",
        "```\nstill streaming [9]",
        "in the year [2024], between [1900-1950]",
        "[see 9] [a] [] [1.5] [-1] (9) (source)",
        "the interval [0, 1], the element [0], the files (Document 4) and (docs 5)",
    ],
)
def test_what_is_no_citation_is_left_alone(text: str) -> None:
    assert normalise(text, KNOWN) == (text, 0)


def test_code_ends_where_it_ends() -> None:
    text = "`a` [9] ``b`` [8]\n```\n[7]\n```\n[6] `open [5]\n\n` [4]"
    assert normalise(text, KNOWN)[0] == "`a` ``b``\n```\n[7]\n```\n`open\n\n`"


PLAIN_PIECES = (
    *(
        "[1]",
        "[9]",
        "[1,9]",
        "[2-7]",
        "【3】",
        "【9】",
        "[[9]]",
        "[^1]",
        "[1](u)",
        "1",
        "9",
        ",",
        "-",
    ),
    *("[[", "]]", "[", "]", "【", "】", "(", ")", ":", ".", "`", "```", "~~~", "a", "x_y", "Ä"),
)
PIECES = (*PLAIN_PIECES, " ", "\n", "\n\n")
NAMED_PIECES = ("【9†x】", "(source 9)", "(source 2)", "source ", "†")
PLAIN_TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
TEXTS = st.lists(st.sampled_from(PIECES + NAMED_PIECES) | st.text(max_size=3), max_size=25).map(
    "".join
)


@given(TEXTS)
def test_no_number_outside_the_sources_is_ever_left(text: str) -> None:
    normal, _ = normalise(text, KNOWN)
    assert {n for citation in citations(normal) for n in citation.numbers} <= KNOWN


@given(TEXTS)
def test_twice_is_once(text: str) -> None:
    normal, _ = normalise(text, KNOWN)
    assert normalise(normal, KNOWN) == (normal, 0)


@given(PLAIN_TEXTS)
@example("[1]()")
def test_only_markers_and_spaces_beside_them_change(text: str) -> None:
    normal, _ = normalise(text, KNOWN)
    marks = re.compile(r"[\d\[\]【】^,: \t-]")
    assert marks.sub("", normal) == marks.sub("", text)


@given(st.text(alphabet=st.characters(exclude_characters="[【(（［〔〖﹝⟦❲^<$¹²³⁴⁵⁶⁷⁸⁹⁽:：")))
def test_text_without_markers_is_unchanged(text: str) -> None:
    assert normalise(text, KNOWN) == (text, 0)


HOSTILE = (
    ("[[9]", 20_000),
    ("[", 400_000),
    ("[1,", 100_000),
    ("(source 1,", 40_000),
    ("` `` ", 80_000),
    ("[1,9]", 80_000),
    (" [9]", 60_000),
    ("\n[9]: ", 40_000),
    ("[source 1 - ", 30_000),
    ("【1†", 150_000),
    ("word¹,²", 40_000),
    ("word^1", 40_000),
    ("[^9,", 80_000),
    ("a[0]" + "[9]" * 3, 30_000),
    ("<sup>1", 60_000),
    ('"word¹ ', 40_000),
    ("\nSources: 1, 2", 20_000),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [part * times for part, times in HOSTILE] + ["[" * 3000 + "9]" * 3000]
)
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    normal, _ = normalise(text, KNOWN)
    assert {n for citation in citations(normal) for n in citation.numbers} <= KNOWN
