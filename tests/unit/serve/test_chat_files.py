"""The files of the embedded chat: their size, what they may not use, and how they read Markdown."""

import re
from pathlib import Path

import pytest

from desktop_rag.features.server.responses import web_folder
from desktop_rag.features.server.widget.widget_routes import chat_script
from tests.browsing.node import NODE, run_node

needs_node = pytest.mark.skipif(not NODE, reason="needs node")
FILES = sorted(path for path in web_folder().iterdir() if path.suffix in (".js", ".html"))
# What would make markup or code of text, or break a policy without 'unsafe-inline'.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|"
    r"\.style\b|<style|\son\w+=|javascript:|DOMParser|createContextualFragment|localStorage"
)
# Nodes as text, enough to see what Markdown became.
DOCUMENT = """
class Made {
  constructor(name) { Object.assign(this, { name, attributes: {}, children: [] }); }
  setAttribute(key, value) { this.attributes[key] = value; }
  append(...children) { this.children.push(...children); }
  toString() {
    const { class: _, target, rel, tabindex, ...shown } = this.attributes;
    const inside = Object.entries(shown).map(([key, value]) => ` ${key}=${value}`).join("");
    return `<${this.name}${inside}>${this.children.join("")}</${this.name}>`;
  }
}
globalThis.document = { createElement: (name) => new Made(name) };
"""
TABLE = (
    "<div><table><thead><tr><th>a</th><th>b</th></tr></thead>"
    "<tbody><tr><td>c|d</td><td>{1}</td></tr></tbody></table></div>"
)
RENDER = """
const { blocksOf, marked, nodesOf } = await import(`${web}/markup.js`);
const places = { cite: (n) => (n < 4 ? `{${n}}` : null), mark: (at) => `{sign ${at}}` };
const shown = (text) => blocksOf(text).flatMap((block) => nodesOf(block, places)).join("");
"""


def test_the_script_has_at_most_40_kilobytes() -> None:
    assert len(chat_script().encode()) <= 40 * 1024


def test_the_script_is_one_file_with_everything_in_it() -> None:
    script = chat_script()
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", script, re.MULTILINE)
    top = [name for name in names if name in {"Client", "RequestError", "Chat", "Turn", "WORDS"}]
    assert sorted(top) == ["Chat", "Client", "RequestError", "Turn", "WORDS"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_makes_markup_or_code_of_text(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text("utf-8")) == []


@needs_node
def test_every_word_that_is_used_exists_in_every_language() -> None:
    chat = (web_folder() / "chat.js").read_text("utf-8")
    used = set(re.findall(r"\bsay\(\"(\w+)\"", chat)) | set(re.findall(r"#button\(\"(\w+)\"", chat))
    used |= {"like", "dislike", "send", "stop", "again", "denied", "failed", "unreachable"}
    used |= {"supported", "partly", "not in the sources", "contradicted", "thinking"}
    texts = run_node(
        "const { speaker } = await import(`${web}/words.js`);"
        "const of = (tag) => given.used.map((name) => speaker(tag)(name, { n: 7, title: 'T' }));"
        "told({ en: of('en-GB'), de: of('de'), other: of('tlh') })",
        used=sorted(used),
    )
    assert texts["en"] == texts["other"]
    same = [en for en, de in zip(texts["en"], texts["de"], strict=True) if en == de]
    assert same == []


@needs_node
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One\ntwo\n\nthree", "<p>One\ntwo</p><p>three</p>"),
        ("# A *b*", "<h4>A <em>b</em></h4>"),
        ("**a _b_** `c*d*`", "<p><strong>a <em>b</em></strong> <code>c*d*</code></p>"),
        ("~~e~~ \\*f\\*", "<p><del>e</del> *f*</p>"),
        ("snake_case_name 2 * 3 * 4", "<p>snake_case_name 2 * 3 * 4</p>"),
        ("a [1] b [2, 3] c [9] d[1]", "<p>a {1} b {2}{3} c [9] d{1}</p>"),
        ("`[1]`\n\n```py\n[1] *x*\n```", "<p><code>[1]</code></p><pre><code>[1] *x*</code></pre>"),
        ("- a\n- b\n  - c\n\nend", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><p>end</p>"),
        ("3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"),
        ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
        ("|a|b|\n|-|:-:|\n|c\\|d|[1]|", TABLE),
        ("a | b\n---", "<p>a | b</p><hr></hr>"),
        ("[x](https://a.example/b_(c)) https://d.example/e.",
         "<p><a href=https://a.example/b_(c)>x</a> <a href=https://d.example/e>https://d.example/e</a>.</p>"),
        ("[x](javascript:alert) <b>y</b>", "<p>[x](javascript:alert) <b>y</b></p>"),
        ("[z](//a.example)", "<p>[z](//a.example)</p>"),
        ("![x](https://a.example/p.png)", "<p><a href=https://a.example/p.png>x</a></p>"),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("a  \nb", "<p>a<br></br>b</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_these_nodes(text: str, shown: str) -> None:
    assert run_node(DOCUMENT + RENDER + "told(shown(given.text))", text=text) == shown


@needs_node
def test_signs_stand_where_the_server_counts_characters() -> None:
    text = "😀 a [1]. \ue0000\ue001 b"
    place = text.index(".")
    told = run_node(
        DOCUMENT + RENDER + "told(shown(marked(given.text, [given.place, 999])))",
        text=text, place=place,
    )  # fmt: skip
    assert told == "<p>😀 a {1}{sign 0}. �0� b{sign 1}</p>"


@pytest.mark.slow
@needs_node
def test_hostile_markdown_is_read_in_linear_time() -> None:
    pieces = ["[", "`", "**a ", "_a ", "> ", "- ", "|a", "~~", "*", "![", "(", "\\", "```\n",
              "<!--", "[a](https://b(", "1. ", "\n\n", "    "]  # fmt: skip
    lengths = run_node(
        DOCUMENT + RENDER + "told(given.pieces.map((each) => shown(each.repeat(40000)).length))",
        pieces=pieces,
    )
    assert len(lengths) == len(pieces)
