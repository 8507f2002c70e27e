"""Badges in the text of an answer, which change nothing else in it."""

import re
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.claims import Claim, Verdict
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import load_scheme
from desktop_rag.ui.markdown.claim_marks import MARK, Badge, badges_in, with_marks
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, render_html
from tests.claims import unchecked

SUPPORTED = replace(unchecked(""), verdict=Verdict.SUPPORTED)
NEAR = replace(unchecked(""), verdict=Verdict.PARTLY)
LOOK = MarkdownStyle(load_scheme(resources_dir() / "themes" / "light.toml").roles)
BADGE = re.compile('\u2060\u00a0<a href="claim:[^>]*>.</a>')
# Texts with ¦ where a claim ends, and the word before each badge.
ANSWERS = [
    ("**The lamp is lit at dusk.**¦", ["dusk."]),
    ("- **The oil burns!**¦\n- The keeper sleeps _till noon._¦", ["burns!", "noon."]),
    ("The lamp was built by hand in *Hull (UK)*¦", ["(UK)"]),
    ("The lamp was ~~never~~ lit ~~at dusk.~~¦ It burns oil.¦", ["dusk.", "oil."]),
    ("**It is lit [1].**¦ *It burns.*[2]¦ __It burns [1][2].__¦", ["[1].", "burns.[2]", "[1][2]."]),
    ("It is lit.[1]¦ [2] It burns.¦ So it is \\*lit\\*.¦", ["lit.[1]", "burns.", "*lit"]),
    ("The keeper starts it.\n```bash\nlamp start\n```¦", ["it."]),
    ("The keeper starts it.\n```bash\nlamp start\n```\nIt burns.¦", ["burns."]),
    ("```bash\nlamp start\n```\nThe keeper starts it.¦", ["it."]),
    ("The keeper starts it with `lamp start`.¦", ["start."]),
    ("See the lamp at [the harbour](http://a.example/lamp).¦", ["harbour."]),
    ("See the lamp at *[the harbour](http://a.example/lamp).*¦", ["harbour."]),
    ("[It is lit at dusk.¦ It burns.](http://a.example/)¦ So it is.¦", ["burns.", "burns.", "is."]),
    ("See the harbour, <http://a.example/lamp>.¦", ["http://a.example/lamp."]),
    ("> It is lit.[1]¦ _It burns._¦  \n> “So it is, they said.”¦", ["lit.[1]", "burns.", "said.”"]),
    ("They said that it is lit (at dusk).¦\n\nIt burns R&amp;D&nbsp;¦", ["dusk).", "R&amp;D"]),
]

PIECES = [
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "```",
    "|",
    "\\",
    "&amp;",
    "lamp",
    "Oil ",
    " ",
    ":",
    "“",
    "”",
]
PIECES += [
    "\n",
    "\n\n",
    "  \n",
    "- ",
    "1. ",
    "> ",
    "# ",
    "---\n",
    "| a |\n|---|",
    ".",
    "! ",
    "(",
    ")",
]
PIECES += ["[1]", "[1, 2]", "[", "](http://a.example/b)", "![", "<http://a.example>"]


def claims_in(answer: str) -> tuple[str, tuple[Claim, ...]]:
    """An answer without the ¦, and the claims that end there."""
    ends = list(accumulate(map(len, answer.split("¦")[:-1])))
    spans = zip([0, *ends], ends, strict=False)
    return answer.replace("¦", ""), tuple(Claim(*span, unchecked("")) for span in spans)


def words_before_badges(html: str) -> list[str]:
    parts = [re.sub("<[^>]*>|[\u200a\u00a0]", "", part).split() for part in BADGE.split(html)]
    words = [part[-1] if part else "" for part in parts[:-1]]
    # Adjacent badges follow the same word.
    return [word or words[place - 1] for place, word in enumerate(words)]


def rendered(text: str, claims: tuple[Claim, ...]) -> str:
    badges = dict.fromkeys(range(len(claims)), Badge(Verdict.SUPPORTED))
    return render_html(with_marks(text, claims), (1, 2), LOOK, badges)


@pytest.mark.parametrize(("answer", "words"), ANSWERS)
def test_badges_follow_their_sentences_and_change_nothing(answer: str, words: list[str]) -> None:
    text, claims = claims_in(answer)
    html = rendered(text, claims)
    assert BADGE.sub("", html) == render_html(text, (1, 2), LOOK)
    assert words_before_badges(html) == words


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.lists(st.integers(0, 120), max_size=5))
def test_badges_do_not_change_the_text(pieces: list[str], ends: list[int]) -> None:
    text = "".join(pieces)
    cuts = sorted({min(end, len(text)) for end in ends} | {0})
    claims = tuple(Claim(*span, unchecked("")) for span in pairwise(cuts))
    assert BADGE.sub("", rendered(text, claims)) == render_html(text, (1, 2), LOOK)


def test_a_mark_becomes_a_badge_in_text_only() -> None:
    mark = with_marks("x", (Claim(0, 1, unchecked("x")),))[-1]
    badges = {0: Badge(Verdict.CONTRADICTED)}
    assert 'href="claim:0"' in render_html(f"Yes.{mark}", (), LOOK, badges)
    for written in (f"`a{mark}`", f"```\na{mark}\n```", f"[a](http://a.example/{mark}b)"):
        html = render_html(written, (), LOOK, badges)
        assert "claim:0" not in html, written
        assert not MARK.search(html), written
        assert html == render_html(written.replace(mark, ""), (), LOOK), written
    assert "claim:" not in render_html(f"Yes.{chr(ord(mark) + 7)}", (), LOOK, badges)


def test_marks_written_by_a_model_are_removed() -> None:
    mark = chr(0x100000)
    assert with_marks(f"Yes{mark}. No{mark}.", ()) == "Yes. No."


@pytest.mark.parametrize(
    ("badge", "words"),
    [
        (Badge(Verdict.CONTRADICTED), "contradicted"),
        (Badge(Verdict.NOT_IN_SOURCES), "not in sources"),
        (Badge(Verdict.NOT_IN_SOURCES, named="9 <May"), "not in its source: 9 &lt;May"),
        (Badge(Verdict.PARTLY, named="450 euros"), "not in its source: 450 euros"),
    ],
)
def test_a_sentence_to_be_careful_with_has_a_chip_with_words(badge: Badge, words: str) -> None:
    text, claims = claims_in("The lamp is red.¦")
    html = render_html(with_marks(text, claims), (), LOOK, {0: badge}).replace("\u00a0", " ")
    assert f"{words} </a>" in html
    tone = "danger" if badge.verdict is Verdict.CONTRADICTED else "warning"
    assert f"background-color:{LOOK.colours[f'{tone}_soft']}" in html


def test_what_a_source_says_has_no_chip() -> None:
    text, claims = claims_in("The lamp is red [1].¦")
    claims = tuple(replace(one, checked=SUPPORTED) for one in claims)
    marked = with_marks(text, claims)
    html = render_html(marked, (), LOOK, badges_in(marked, claims))
    assert ">✓</a>" in html
    assert "background-color" not in html


def test_what_the_sources_say_in_other_words_has_no_colour() -> None:
    text, claims = claims_in("The lamp is red.¦")
    claims = tuple(replace(one, checked=NEAR) for one in claims)
    marked = with_marks(text, claims)
    html = render_html(marked, (), LOOK, badges_in(marked, claims))
    assert f'color:{LOOK.colours["muted"]};">≈</a>' in html
