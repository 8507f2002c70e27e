"""Names mean little to an embedding model; a question for one needs the passage with it."""

from collections.abc import Iterator

import pytest

from desktop_rag import app
from desktop_rag.answer.search.fusion import FEW, IRRELEVANT_BELOW
from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.core.query import Query
from desktop_rag.store.contract.search import EVERYWHERE
from tests.conftest import services_over
from tests.indexed import index_texts

pytestmark = pytest.mark.slow

NAMES = ("Adams", "Baker", "Clark", "Davis", "Evans", "Foster", "Grant", "Hughes")
DUTIES = (
    "counts the barrels in the cellar and writes the number into the red book",
    "waters the garden behind the chapel before the visitors come",
    "repairs the shutters of the upper windows when the autumn storms are over",
    "carries the letters to the post office in the village each morning",
    "sets the clocks in the long corridor an hour back at the end of October",
    "feeds the horses and sweeps the yard between the stables",
    "polishes the silver for the feast that is held at midsummer",
)


LINES = 3


def line(name: int, duty: int, title: str = "") -> str:
    return f"{title}{NAMES[name % len(NAMES)]} {DUTIES[duty % len(DUTIES)]}."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[app.Services]:
    """Every seventh text mentions a Mr, sometimes more than once; one mentions Mr Quibblesworth."""
    texts: list[str] = []
    for n in range(2 * FEW):
        titles = n // 7 % (LINES + 1) if n % 7 == 0 else 0
        entitled = [line(n + k, n + 2 * k, "Mr ") for k in range(titles)]
        texts.append(
            " ".join([*entitled, *(line(n + k, n + 3 * k) for k in range(LINES - titles))])
        )
    keys = "The spare keys hang on a hook beside the door, where Mr Quibblesworth left them."
    texts.append(" ".join([line(2, 3), keys, *(line(k, 3 * k) for k in range(LINES))]))
    folder = tmp_path_factory.mktemp("names")
    with services_over(folder) as services:
        named = {f"{n}.txt": text for n, text in enumerate(texts)}
        yield index_texts(services, folder / "house", named)


@pytest.mark.parametrize("question", ["Who is Mr Quibblesworth?", "Quibblesworth"])
def test_a_name_in_one_passage_is_found_beside_a_frequent_word(
    library: app.Services, question: str
) -> None:
    first, second, *_ = library.chat.search(question)
    assert "Quibblesworth" in first.text
    assert second.relevance < IRRELEVANT_BELOW <= first.relevance


@pytest.mark.parametrize(
    "question",
    ["Who is Mr Bean?", "Who won the world cup in 2014?", "How many protons has an iron nucleus?"],
)
def test_what_is_nowhere_stays_refused(library: app.Services, question: str) -> None:
    assert all(passage.relevance < IRRELEVANT_BELOW for passage in library.chat.search(question))


def test_it_is_told_whether_a_name_stands_anywhere(library: app.Services) -> None:
    retriever = library.retriever
    for name, stands in (("Quibblesworth", True), ("Bean", False)):
        asked = Query(f"Who is Mr {name}?")
        question = SearchQuestion(asked.text, lambda asked=asked: retriever.reader.read(asked))
        pool = retriever.candidate_search.gather(question, EVERYWHERE)
        assert pool is not None
        assert pool.has_all_words is stands
