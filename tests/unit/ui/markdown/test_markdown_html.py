"""S-01, S-04, S-05, S-10, P-11: of Markdown only the allowed subset becomes HTML, whatever the
input.
"""

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.markup.inert_markdown import safe_address
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import load_scheme
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, cited_number, render_html
from desktop_rag.ui.markdown.parsing import SEGMENT_CHARS, Segment, last_block_start, next_segment

LOOK = MarkdownStyle(load_scheme(resources_dir() / "themes" / "light.toml").roles)
ALLOWED_TAGS = {"a", "b", "br", "code", "hr", "i", "li", "ol", "p", "pre", "s", "span", "ul"} | {
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
}
LONGEST_SEGMENT_CHARS = 5_100


class Collector(HTMLParser):
    """The tags, link targets and text of an HTML fragment."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markdown: str, citations: frozenset[int] = frozenset({1, 2, 3})) -> Collector:
    collector = Collector()
    collector.feed(render_html(markdown, citations, LOOK))
    collector.close()
    return collector


def segments_of(text: str) -> list[Segment]:
    segments = [next_segment(text)]
    while segments[-1].end < len(text):
        segments.append(next_segment(text, segments[-1].end, segments[-1].fence))
    return segments


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("plain **bold** *it* ~~gone~~", "<b>bold</b> <i>it</i> <s>gone</s>"),
        ("a  \nb", "a<br>b"),
        ("a\nb", "a\nb"),
        ("- a\n- b", '<li style="line-height:140%;">a</li>'),
        ("3. a", '<ol start="3"'),
        ("# T", "font-size:x-large"),
        ("#### T", "font-size:medium"),
        ("***\n", "<hr>"),
        ("> q", 'padding-left:12px; color:#586273;"><p'),
        ("`a<b`", "a&lt;b</code>"),
        ("| a |\n|--:|\n| 1 |", '<td align="right">1</td>'),
        ("| a |\n|---|\n| 1 |", '<td align="left">1</td>'),
        ("    indented <code>", "indented &lt;code&gt;</pre>"),
        ("- a\n\n  b\n- c", "<p "),
    ],
)
def test_rendered_markdown(markdown: str, expected: str) -> None:
    assert expected in render_html(markdown, (), LOOK)


def test_code_is_coloured_by_the_theme() -> None:
    shown = render_html("```python\ndef f(): return '<b>'\n```", (), LOOK)
    assert f'<span style="color:{LOOK.colours["code_keyword"]};">def</span>' in shown
    assert "&lt;b&gt;" in shown


@pytest.mark.parametrize("language", ["", "no-such-language", "brainfuck"])
def test_code_in_other_languages_stays_plain(language: str) -> None:
    shown = render_html(f"```{language}\n++<>\n```", (), LOOK)
    assert "++&lt;&gt;</pre>" in shown


@pytest.mark.parametrize("code", ["x" * 600, "x = 1\n" * 2000])
def test_code_too_long_to_colour_stays_plain(code: str) -> None:
    assert "<span" not in render_html(f"```py\n{code}\n```", (), LOOK)


# --- links (S-04) ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", ["https://example.org/a?b=c", "HTTP://EXAMPLE.org", "mailto:ada@example.org"]
)
def test_web_and_mail_addresses_are_links(address: str) -> None:
    assert read(f"[x]({address})").links == [address]
    assert read(f"<{address}>").links == [address]


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "smb://host/share",
        "//evil/share",
        "\\\\\\\\evil\\\\share",
        "vbscript:x",
        "cite:1",
        "CITE:1",
        "cite:../../etc/passwd",
        "/etc/passwd",
        "#top",
        "about:blank",
        "https:evil",
        "http://",
        "ms-settings:x",
        "mailto:a/b",
        "%01javascript:x",
    ],
)
def test_other_addresses_are_not_clickable(address: str) -> None:
    seen = read(f"[words]({address})")
    assert seen.links == []
    assert "words" in seen.text


@pytest.mark.parametrize(
    "href", ["\x01http://a", " http://a", "http://a\n", "http://a\tb", "http:\\\\a", "x", ""]
)
def test_malformed_addresses_are_refused(href: str) -> None:
    assert safe_address(href) is None


def test_too_many_brackets_stay_text() -> None:
    seen = read("[1] " + "[" * 500 + "](http://a.example)")
    assert seen.links == ["cite:1"]


def test_a_link_definition_stays_text() -> None:
    seen = read("As said [1].\n\n[1]: http://evil.example\n[see]: http://evil.example", frozenset())
    assert seen.links == []
    assert "[1]: http://evil.example" in seen.text


# --- images and HTML (S-01) --------------------------------------------------------------------


@pytest.mark.parametrize(
    "markdown",
    [
        "![x](file:///dev/zero)",
        "![x](//evil/share/a.png)",
        "![x](http://127.0.0.1:9/a)",
        "![x][ref]\n\n[ref]: file:///dev/zero",
        "<img src='file:///dev/zero'>",
        "a <img src=&#47;dev&#47;zero> b",
        "&lt;img src=/dev/zero&gt;",
        "![x](data:image/svg+xml;base64,AAAA)",
        "[![x](file:///dev/zero)](https://example.org)",
        "<table background='file:///dev/zero'><td>",
        "<!-- <img src=x> -->",
        "| ![x](file:///dev/zero) |\n|---|\n| <img src=x> |",
        "`<img src=/dev/zero>`",
        "```html\n<img src=/dev/zero>\n```",
        "```<img src=/dev/zero>\nx\n```",
        '# <svg onload="x">',
    ],
)
def test_nothing_is_loaded(markdown: str) -> None:
    seen = read(markdown)
    assert "img" not in seen.tags
    assert seen.tags <= ALLOWED_TAGS
    assert [link for link in seen.links if link != "https://example.org"] == []


def test_an_image_leaves_a_placeholder() -> None:
    assert "[image: a chart]" in read("![a chart](file:///x)").text
    assert "[image: no description]" in read("![](file:///x)").text


@given(st.text(alphabet="[]()!<>`*_~#|-+\\&;:/ \n\tabcite:1239fhtp.\"'=", max_size=300))
def test_only_the_subset_comes_out(markdown: str) -> None:
    seen = read(markdown, frozenset({1, 2}))
    assert seen.tags <= ALLOWED_TAGS
    for link in seen.links:
        assert link in {"cite:1", "cite:2"} or safe_address(html.unescape(link)) is not None


# --- citations (S-05) --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "links"),
    [
        ("So it is [1].", ["cite:1"]),
        ("So [1][2].", ["cite:1", "cite:2"]),
        ("So [1, 3].", ["cite:1", "cite:3"]),
        ("So **[2]**.", ["cite:2"]),
        ("So [4].", []),
        ("So [1, 99].", []),
        ("So [0].", []),
        ("`[1]`", []),
        ("```\n[1]\n```", []),
        ("[1](https://example.org)", ["https://example.org"]),
        ("[a [1] b](https://example.org)", ["https://example.org"]),
        ("[[1]](cite:2)", ["cite:1"]),
        ("[1234]", []),
        ("[x]", []),
    ],
)
def test_only_known_numbers_are_citations(markdown: str, links: list[str]) -> None:
    assert read(markdown).links == links


def test_too_many_citations_stay_text() -> None:
    seen = read("[1] " * 300)
    assert len(seen.links) == 200
    assert seen.text.count("[1]") == 300


def test_a_citation_reads_as_it_was_written() -> None:
    assert read("So [1] it is [9].").text == "So [1] it is [9]."


def test_two_citations_in_a_row_stand_apart() -> None:
    assert read("So [1][2].").text == "So [1]\u200a[2]."


@pytest.mark.parametrize(
    ("href", "n"),
    [("cite:3", 3), ("cite:", None), ("cite:3x", None), ("http:3", None), ("cite:²", None)],
)
def test_cited_number(href: str, n: int | None) -> None:
    assert cited_number(href) == n


# --- segments (S-10, P-11) ----------------------------------------------------------------------


def paragraphs(count: int) -> str:
    return "".join(f"Paragraph {n} says something about lamps [1].\n\n" for n in range(count))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_ends_a_line(ending: str) -> None:
    assert read(f"- a{ending}- b").tags >= {"ul", "li"}
    text = paragraphs(200).replace("\n", ending)
    assert all(s.source.startswith("Paragraph") for s in segments_of(text))


def test_a_short_text_is_one_segment() -> None:
    assert next_segment("Hello.") == Segment("Hello.", 6)
    assert next_segment("") == Segment("", 0)


def test_a_long_text_is_cut_between_blocks() -> None:
    text = paragraphs(400)
    segments = segments_of(text)
    assert "".join(s.source for s in segments) == text
    assert all(len(s.source) <= SEGMENT_CHARS for s in segments)
    assert all(s.source.startswith("Paragraph") for s in segments)


def test_segments_are_stable_while_the_text_grows() -> None:
    text = paragraphs(150) + "```py\n" + "x = 1\n" * 2000 + "```\n\n" + paragraphs(50)
    whole = segments_of(text)
    for length in range(0, len(text), 997):
        grown = segments_of(text[:length])
        assert grown[:-1] == whole[: len(grown) - 1]


def test_a_long_code_block_continues_as_code() -> None:
    text = "Before.\n\n~~~python\n" + "value = 1\n" * 2000 + "~~~\n\nAfter **all**."
    segments = segments_of(text)
    assert len(segments) > 3
    shown = [render_html(s.source, (), LOOK) for s in segments]
    assert all("<pre" in piece for piece in shown[1:-1])
    assert "<b>all</b>" in shown[-1]
    assert sum(piece.count(">value") for piece in map(strip_spans, shown)) > 0
    assert sum(strip_tags(piece).count("value") for piece in shown) == 2000


def strip_spans(piece: str) -> str:
    return re.sub("</?span[^>]*>", "", piece)


def strip_tags(piece: str) -> str:
    return re.sub("<[^>]*>", "", piece)


def test_a_closed_code_block_at_the_cut_is_not_opened_again() -> None:
    line = "x = 1\n"
    text = "```\n" + line * 832 + "```\n" + "\n" * 600
    segments = segments_of(text)
    assert [s.fence for s in segments if s.end > text.rindex("```")] == [""] * len(
        [s for s in segments if s.end > text.rindex("```")]
    )


@pytest.mark.parametrize("block", ["word " * 4000, "x" * 20_000, "|a" * 9000, "> " * 9000])
def test_an_endless_block_is_cut(block: str) -> None:
    segments = segments_of(block)
    assert len(segments) > 2
    assert "".join(s.source for s in segments) == block


@pytest.mark.parametrize(
    ("source", "start"),
    [("", 0), ("one", 0), ("one\n\ntwo", 5), ("- a\n- b", 0), ("a\n\n```\nb\n\nc", 3)],
)
def test_the_last_block_of_a_segment(source: str, start: int) -> None:
    assert last_block_start(source) == start


@given(st.text(alphabet="ab `~#>|-\n", min_size=0, max_size=200), st.integers(1, 60))
def test_segments_lose_nothing(piece: str, times: int) -> None:
    text = piece * times
    end, fence = 0, ""
    rebuilt = ""
    while end < len(text):
        segment = next_segment(text, end, fence)
        assert segment.end > end
        assert segment.source.startswith(fence)
        rebuilt += segment.source[len(fence) :]
        end, fence = segment.end, segment.fence
    assert rebuilt == text


@pytest.mark.parametrize(
    "poison",
    [
        "[" * 60_000,
        ">" * 20_000,
        "![" * 20_000,
        "*a " * 20_000,
        "- " * 20_000,
        "<" * 60_000,
        "`" * 60_000,
        "[a](" * 15_000,
        "|a" * 10_000 + "\n" + "|-" * 10_000,
        "x" * 1_000_000,
        "```sql\n" + "'" * 8_000 + "\n```",
        "```js\n" + "/" * 400 + "\n" + "`${" * 300 + "\n```",
        "```html\n" + "<!--" * 100 + "\n```",
    ],
    ids=lambda text: text[:8],
)
def test_malicious_input_is_rendered_in_bounded_segments(poison: str) -> None:
    sources = [segment.source for segment in segments_of(poison[:40_000])]
    assert max(map(len, sources)) < LONGEST_SEGMENT_CHARS
    assert "".join(render_html(source, (1,), LOOK) for source in sources)
