"""Citations in the forms of many models and scripts, and what only looks like one."""

import pytest

from desktop_rag.answer.citing.citations import finish_answer, normalise
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor

KNOWN = frozenset({1, 2, 3})

FORMS = [
    ("Lit at dusk^1.", "Lit at dusk[1]."),
    ("Lit at dusk.^1,2^", "Lit at dusk.[1][2]"),
    ("Lit at dusk[^1] [^2].", "Lit at dusk[1] [2]."),
    ("Lit at dusk.¹ Out at dawn²⁻³.", "Lit at dusk.[1] Out at dawn[2][3]."),
    ("Lit at dusk ¹", "Lit at dusk [1]"),
    ("Lit at dusk<sup>1</sup>.", "Lit at dusk[1]."),
    ("Lit at dusk<sup>[1, 2]</sup>.", "Lit at dusk[1][2]."),
    ("黄昏时点亮［1］。", "黄昏时点亮[1]。"),
    ("黄昏时点亮【1】。", "黄昏时点亮[1]。"),
    ("黄昏时点亮（来源1、2）。", "黄昏时点亮[1][2]。"),
    ("يضاء عند الغسق [١]، [٢].", "يضاء عند الغسق [1]، [2]."),
    ("शाम को [१] [स्रोत २]", "शाम को [1] [2]"),
    ("Lit [cite: 1] [cite: 1, 2] [cite_3]", "Lit [1] [1][2] [3]"),
    ("Lit [1†L1-L4] [2:0†source]", "Lit [1] [2]"),
    ("Lit [S1] [S1, S2] [S1-S3]", "Lit [1] [1][2] [1][2][3]"),
    ("Lit [#1] [#2, #3]", "Lit [1] [2][3]"),
    (r"Lit \[1\] \[2, 3\]", "Lit [1] [2][3]"),
    ("Lit at dusk.\n\nSources: 1, 2", "Lit at dusk.\n\nSources: [1][2]"),
    ("Lit at dusk.\n**Quellen:** 1 und 3.", "Lit at dusk.\n**Quellen:** [1][3]."),
    ("Горит (источник 1) [Источник: 2]", "Горит [1] [2]"),
    ("Lit [المصدر ١] [출처 2] [πηγή 3]", "Lit [1] [2] [3]"),
    ("Lit [ 1 ] [1: Handbook] [2 – Handbook]", "Lit [1] [1] [2]"),
    ("शाम को जलता है¹।", "शाम को जलता है[1]।"),
    ("Lit [see source 1] [cf. Quelle 2] [3.]", "Lit [1] [2] [3]"),
    (r"Lit [No. 1] \cite{2} [nr. 3]", "Lit [1] [2] [3]"),
    ("Lit $^{1}$ [1](#source-1) [[2]](#ref2)", "Lit [1] [1] [2]"),
]


@pytest.mark.parametrize(("written", "normal"), FORMS)
def test_forms_of_many_models(written: str, normal: str) -> None:
    assert normalise(written, KNOWN) == (normal, 0)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (
            "Lit[^9] at dusk⁹ or dawn<sup>8</sup> at ［7］ night [cite: 6].",
            "Lit at dusk or dawn at night.",
        ),
        ("Lit [S5] at [#4] dawn \\[7\\].", "Lit at dawn."),
        ("Lit at dusk.\n\nSources: 1, 9", "Lit at dusk.\n\nSources: [1]"),
    ],
)
def test_unknown_numbers_go_in_every_form(written: str, normal: str) -> None:
    assert normalise(written, KNOWN)[0] == normal


@pytest.mark.parametrize(
    "text",
    [
        "values[2] and matrix[0][1] and matrix[2][0] and cells[i][1]",
        "total[2] = 4 and data[1] += 5",
        "the interval [1, 3], x ∈ [1, 2], a range of [2-3]",
        "between [0, 1] and x = [1, 2, 3]",
        "12 m², 10^6, x^2 + y^2, 5 km², mc², 10², 3 m<sup>2</sup>, 30 feet², 50 平方米²",
        "length² × width³ = area²",
        "²³⁵U and Ca²⁺",
        '> The lamp is lit.[^1]\n> So it is.²\nHe wrote: "It was lit¹ at dusk."',
        "in [1902] and 1902 and [2024]",
        "`[^1]` and `x¹` and\n```\n[cite: 1] word¹\n```",
        "Sources: 3 were found, 2 were read",
        r"\[x^2 = 1\] and $x^2$",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert normalise(text, KNOWN) == (text, 0)


@pytest.mark.parametrize("written", [written for written, _ in FORMS])
def test_an_answer_that_comes_in_two_chunks_is_read_as_one(written: str) -> None:
    sources = [SourceRef(n, f"d{n}", "/a.md", "T", Anchor(), "Oil.", 1.0) for n in (1, 2, 3)]
    whole = finish_answer(written, sources)
    for cut in range(len(written)):
        grown = ""
        for chunk in (written[:cut], written[cut:]):
            grown += chunk
            finish_answer(grown, sources)  # what is shown meanwhile
        assert finish_answer(grown, sources) == whole
