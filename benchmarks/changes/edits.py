"""The cost of an edit: passages embedded after one paragraph of a long document changed.

Through the real library with the bundled model: a text of 300 pages is indexed, one paragraph in
its middle is changed, then extended, removed and inserted, each time counting the embedded
passages. Bar: 3 passages at most. Run: python benchmarks/changes/edits.py
"""

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop_rag.app import build_services
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library

_PAGES = 300
_PARAGRAPHS_A_PAGE = 5
_WORDS_A_PARAGRAPH = 70
_MOST_EMBEDDED = 3
_QUIET_S = 900.0
_TEXT = (
    "harbour lamp keeper ledger morning tide council report figure season vessel cargo price"
    " measure agreed weather engine summer winter article number copper timber captain office"
    " letter answer reason matter second member public account share profit market district"
)

Edit = Callable[[list[str]], list[str]]
_EDITS: dict[str, Edit] = {
    "changed": lambda p: [*p[:700], p[700].replace(" the ", " that other ", 5), *p[701:]],
    "lengthened": lambda p: [*p[:300], p[300] + " More was added to it later on.", *p[301:]],
    "removed": lambda p: [*p[:900], *p[901:]],
    "put in": lambda p: [*p[:1100], "A paragraph that was not there before. " * 4, *p[1100:]],
}


def main() -> int:
    """Print a line per edit; 1 when one of them costs too much."""
    rnd = random.Random(7)
    paragraphs = [_paragraph(rnd, n) for n in range(_PAGES * _PARAGRAPHS_A_PAGE)]
    worst = 0
    with tempfile.TemporaryDirectory(prefix="desktop-rag-edits-") as scratch:
        folder = Path(scratch) / "papers"
        folder.mkdir()
        path = folder / "book.txt"
        services = build_services(Home(Path(scratch) / "home"))
        try:
            library = services.library
            _write(path, paragraphs)
            library.start(watch=False)
            library.sources.add(folder)
            _settle(library)
            print(f"first time: {library.indexing.embedded_chunks} passages embedded")
            for name, edit in _EDITS.items():
                before = library.indexing.embedded_chunks
                paragraphs = edit(paragraphs)
                _write(path, paragraphs)
                library.sources.rescan()
                _settle(library)
                embedded = library.indexing.embedded_chunks - before
                worst = max(worst, embedded)
                print(f"one paragraph {name}: {embedded} passages embedded (bar: {_MOST_EMBEDDED})")
        finally:
            services.close()
    return int(not 0 < worst <= _MOST_EMBEDDED)


def _paragraph(rnd: random.Random, number: int) -> str:
    words = [rnd.choice(_TEXT.split()) for _ in range(_WORDS_A_PARAGRAPH)]
    for place in range(9, _WORDS_A_PARAGRAPH, 11):
        words[place] += "."
    return f"In paragraph {number} the {' '.join(words)} the end."


def _write(path: Path, paragraphs: Sequence[str]) -> None:
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")


def _settle(library: Library) -> None:
    if not library.indexing.wait_until_idle(_QUIET_S):
        raise SystemExit("indexing did not come to an end")


if __name__ == "__main__":
    sys.exit(main())
