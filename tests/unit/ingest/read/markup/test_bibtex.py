import pytest

from desktop_rag.ingest.read.markup.bibtex import plain_tex
from tests.unit.ingest.read.samples import parse

FILE = r"""
@string{jp = "Journal of Piers"}
@comment{left out}
@Article{lee2001,
  author = "Lee, Ann and Mu{\~n}oz, Jos\'e",
  title  = {The {Pier} of {\O}rsk \& its {Cranes}},
  journal = jp # { (London)},
  year = 2001,
  pages = {1--5},
}

@book(koenig, title={Older}, author={K{\"o}nig})
"""


def test_references_are_sections_with_their_fields() -> None:
    document = parse("a.bib", FILE.encode())
    assert document.text == (
        "The Pier of Ørsk & its Cranes\nauthor: Lee, Ann and Muñoz, José\n"
        "journal: Journal of Piers (London)\nyear: 2001\npages: 1–5\narticle: lee2001\n\n"
        "Older\nauthor: König\nbook: koenig"
    )
    assert [mark.anchor.line for mark in document.marks] == [4, 12]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"M{\"u}ller", "Müller"),
        (r"M\"{u}ller", "Müller"),
        (r"Ha{\v s}ek", "Hašek"),
        (r"{\v{C}}apek", "Čapek"),
        (r"Fran\c{c}ois", "François"),
        (r"Dvo\v{r}\'{a}k", "Dvořák"),
        (r"Gau{\ss}, {\AA}ngstr{\"o}m, {\L}ukasiewicz", "Gauß, Ångström, Łukasiewicz"),
        (r"na{\"\i}ve", "naïve"),
        (r"50~\% of \emph{all}", "50 % of all"),
    ],
)
def test_letters_look_as_in_print(written: str, shown: str) -> None:
    assert plain_tex(written) == shown


@pytest.mark.parametrize("text", ["@article{a, title={never closed", "@article{", "@a{b, c=" * 9])
def test_what_breaks_off_is_read_as_far_as_it_goes(text: str) -> None:
    assert parse("a.bib", text.encode()).text


def test_p11_macros_made_of_macros_do_not_fill_the_memory() -> None:
    macros = "".join(f"@string{{x{n + 1} = x{n} # x{n}}}\n" for n in range(60))
    text = f'@string{{x0 = "aaaaaaaaaa"}}\n{macros}@book{{k, title = {{T}}, note = x60}}'
    assert len(parse("a.bib", text.encode()).text) < 3000
