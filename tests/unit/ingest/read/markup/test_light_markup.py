import pytest

from desktop_rag.core.parsed import ParsedDocument
from tests.unit.ingest.read.samples import parse, text_at


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(h.level, h.title) for h in document.headings]


RST = """=====
Guide
=====

Intro
-----
Text with a table:

==== ====
a    b
==== ====

The `API`_ of ``x``
-------------------
More.

Deeper
~~~~~~

    Literal
    -------

end
--
"""
ADOC = """= Guide
:toc:

== Intro ==
text

----
== not a heading
----

Old style
~~~~~~~~~

# Also a heading
"""
ORG = """#+TITLE: The guide
* TODO [#A] Intro   :tag:other:
text
** Deeper
*bold* words
"""
TEX = r"""\documentclass{article} % a comment
\title{On \emph{sheep}\thanks{Us}}
% \section{Not this}
\begin{document}
\section{Methods \& more}\label{sec:m}
100\% of it % but not this
% a whole line
here.
\subsection*{Counting
sheep}
\begin{verbatim}
50 % kept
\end{verbatim}
\end{document}
"""


def test_restructured_text_has_underlined_headings() -> None:
    document = parse("a.rst", RST.encode())
    assert outline(document) == [(1, "Guide"), (2, "Intro"), (2, "The API of x"), (3, "Deeper")]
    assert document.title == "Guide"
    assert document.text == RST


def test_asciidoc_has_headings_outside_of_its_blocks() -> None:
    document = parse("a.adoc", ADOC.encode())
    assert outline(document) == [
        (1, "Guide"), (2, "Intro"), (3, "Old style"), (1, "Also a heading")
    ]  # fmt: skip


def test_org_has_headings_without_their_states() -> None:
    document = parse("a.org", ORG.encode())
    assert outline(document) == [(1, "Intro"), (2, "Deeper")]
    assert document.title == "The guide"


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("a.org", "Rent: +4,000+ 4,250 euros.", "Rent: ~~4,000~~ 4,250 euros."),
        ("a.org", "+---+---+\n1 + 2, C++, +49 40", "+---+---+\n1 + 2, C++, +49 40"),
        ("a.adoc", "Rent: [.line-through]#4,000# 4,250.", "Rent: ~~4,000~~ 4,250."),
        ("a.tex", "Rent: \\sout{4,000} 4,250 \\textst{x}.", "Rent: ~~4,000~~ 4,250 \\textst{x}."),
    ],
)  # fmt: skip
def test_what_is_crossed_out_is_marked(name: str, text: str, shown: str) -> None:
    assert parse(name, text.encode()).text.strip() == shown


def test_latex_has_sections_and_no_comments() -> None:
    document = parse("a.tex", TEX.encode())
    assert outline(document) == [(1, "Methods & more"), (2, "Counting sheep")]
    assert document.title == "On sheep"
    assert "Not this" not in document.text
    assert "comment" not in document.text
    assert "100\\% of it\nhere." in document.text
    assert "50 % kept" in document.text


@pytest.mark.parametrize(
    ("name", "content"), [("a.rst", RST), ("a.adoc", ADOC), ("a.org", ORG), ("a.tex", TEX)]
)
def test_lines_are_those_of_the_file(name: str, content: str) -> None:
    document = parse(name, content.encode())
    lines = content.split("\n")
    for index, mark in enumerate(document.marks):
        assert mark.anchor.line
        shown = text_at(document, index).split("\n")[0]
        assert lines[mark.anchor.line - 1].startswith(shown)
    assert document.marks[-1].anchor.heading


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.org", "a.tex"])
@pytest.mark.parametrize(
    ("unit", "chars"),
    [(u, 700_000) for u in ("=", "* ", "\\section{", "{", "\\", "`", "%", "[", "* a :b", "<`")]
    # Each line costs more than its characters.
    + [("=\n", 120_000), ("a\n=\n", 200_000)],
)
def test_p11_hostile_markup_is_read(name: str, unit: str, chars: int) -> None:
    document = parse(name, ("x" + unit * (chars // len(unit)) + "x").encode())
    assert document.text
    assert document.warnings == ()
