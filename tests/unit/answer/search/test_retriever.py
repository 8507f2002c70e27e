"""Phrases and excluded words over a real index, by words alone and with vectors."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from desktop_rag.answer.search.candidates import AnsweringIndex, FilenameMatcher
from desktop_rag.answer.search.fusion import IRRELEVANT_BELOW, FusionModel
from desktop_rag.answer.search.retriever import RetrievalResult, Retriever
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.query import parse_query
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.ports import Vectors
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import put

MANY = 600


class Letters:
    """An embedder for which texts of the same letters mean the same."""

    name, dimensions, max_tokens = "letters", 26, 100

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        counts = [1.0 + text.lower().count(chr(ord("a") + n)) for n in range(26)]
        return np.array(counts, np.float32) / np.float32(np.linalg.norm(counts))

    def set_threads(self, threads: int) -> None:
        pass

    def close(self) -> None:
        pass


def retriever_of(engine: Engine, *answering: AnsweringIndex) -> Retriever:
    fusion = FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")
    names = FilenameMatcher(engine.names)
    return Retriever(engine.lexical, lambda: answering, AnswerPriority(), names, fusion)


def with_vectors(engine: Engine) -> Retriever:
    """The same over words and the vectors of all that is in the index."""
    vectors = engine.models.vectors(Letters.name, Letters.dimensions)
    rows = engine.chunks.without_vectors(vectors.model_id, 10**6)
    vectors.add([row[0] for row in rows], Letters().embed_passages([row[2] for row in rows]))
    return retriever_of(engine, AnsweringIndex(Letters(), engine.models.search(vectors.model_id)))


@pytest.fixture
def retriever(engine: Engine) -> Retriever:
    return retriever_of(engine)


def texts(found: RetrievalResult) -> set[str]:
    return {passage.text for passage in found.passages}


@pytest.mark.slow
def test_a_phrase_far_down_the_ranking_is_found(engine: Engine, retriever: Retriever) -> None:
    near = [f"Centuries, many of them, centuries, number {n}." for n in range(MANY)]
    held = {f"{'A long passage of other matters. ' * 9}After centuries of {w}." for w in "rw"}
    put(engine, "a.txt", *near, *held)
    assert texts(retriever.search(parse_query('"centuries of"'), limit=5)) == held
    both = with_vectors(engine)
    assert texts(both.search(parse_query('"centuries of"'), limit=5)) == held
    assert texts(both.search(parse_query('"centuries of"'), limit=5, mode="dense")) == held


@pytest.mark.everyday
def test_as_many_as_are_wanted_are_found(engine: Engine, retriever: Retriever) -> None:
    put(engine, "a.txt", *(f"In the used lamp, {'used ' * (n % 7)}{n}." for n in range(MANY)))
    put(engine, "b.txt", *(f"Lamp oil {n} is used in the house by many." for n in range(9)))
    assert len(texts(retriever.search(parse_query('"used in the"'), limit=10))) == 9
    assert len(texts(retriever.search(parse_query('"used in the"'), limit=3))) == 3


@pytest.mark.slow
def test_what_holds_the_phrase_is_relevant(engine: Engine, retriever: Retriever) -> None:
    put(engine, "a.txt", "It is one of the many.", *(f"The oil of lamp {n}." for n in range(MANY)))
    [passage] = retriever.search(parse_query('"of the" zeppelin airship hangar'), limit=5).passages
    assert passage.relevance == 1.0


@pytest.mark.slow
def test_what_has_no_vector_yet_is_relevant_by_its_words(engine: Engine) -> None:
    others = (f"{'Zzz xxx qqq jjj. ' * 9} {'lamp wick ' * (n % 12 == 0)}" for n in range(MANY))
    put(engine, "a.txt", *(f"{text} {n}" for n, text in enumerate(others)))
    both = with_vectors(engine)
    put(engine, "b.txt", "The boiler was serviced in March, the lamp in May.")
    found = both.search(parse_query("How does the boiler feed the lamp and its wick?"), limit=150)
    [relevance] = [p.relevance for p in found.passages if p.text.startswith("The boiler")]
    assert relevance >= IRRELEVANT_BELOW
    assert not both.search(parse_query("What is the recipe of tiramisu with mascarpone?")).matching


_CONTENTS = """Fuel of the boiler\nFuel of the boiler ..... 3\nBoiler fuel prices 4
2.1 Fuel for boilers | 9\nOther boiler fuel 12\nFuel boiler forms 12"""
_EXHIBITS = """10.1 Boiler fuel plan (filed as a part of the first report of 1931)
10.2 Fuel plan of boilers (filed as a part of the first report of 1932)
10.3* Boiler fuel (filed as a part of the first report of 1933)"""
_SIGNATURES = """The boiler fuel\nBy: /s/ A. Stoker\nFuel Officer\nBy: /s/ B. Stoker\nBoiler Fuel"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("listing", "mark"), [(_CONTENTS, r" \W*\d+$"), (_EXHIBITS, r"^[\d.*]+ "), (_SIGNATURES, "/s/")]
)
def test_what_only_lists_what_is_elsewhere_counts_less(
    engine: Engine, listing: str, mark: str
) -> None:
    prose = re.sub(f"(?m){mark}", "", listing) + "\nor so"
    put(engine, "a.txt", listing, *(f"The boiler {n} is cold." for n in range(99)), prose)
    found = with_vectors(engine).search(parse_query("boiler fuel"), limit=100)
    order = [passage.text for passage in found.passages]
    assert order.index(prose) < order.index(listing)


@pytest.mark.slow
def test_excluded_words_alone_leave_out_the_newest(engine: Engine, retriever: Retriever) -> None:
    for n in range(30):
        put(engine, f"{n}.txt", "The lamp room is cold." if n % 6 else f"Room {n} has a lamp.")
    assert len(retriever.search(parse_query('-"lamp room"'), limit=5).passages) == 5
    assert "The lamp room is cold." not in texts(
        retriever.search(parse_query('-"lamp room"'), limit=30)
    )
    assert len(retriever.search(parse_query('-"lamp room"'), limit=30).passages) == 5


@pytest.mark.slow
def test_excluded_words_are_left_out_however_many_hold_them(
    engine: Engine, retriever: Retriever
) -> None:
    put(engine, "a.txt", *(f"The lamp room, the lamp, {n}." for n in range(MANY)))
    put(engine, "b.txt", "A lamp among many other things that stand in this large room of ours.")
    assert len(retriever.search(parse_query('lamp room -"lamp room"'), limit=5).passages) == 1
    both = with_vectors(engine)
    assert len(both.search(parse_query('lamp room -"lamp room"'), limit=5).passages) == 1


TEXTS = ("A well.", "A known lamp.", "A well-known lamp.", "At night, T.", "Calls by AT&T.",
         "日本 only", "日本語 lamp")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "left_out"),
    [
        ("-well-known", {"A well-known lamp."}),
        ("-AT&T", {"Calls by AT&T."}),
        ("-日本語", {"日本語 lamp"}),
        ("-日本", {"日本 only", "日本語 lamp"}),
        ("-wells", {"A well.", "A well-known lamp."}),
    ],
)
def test_an_excluded_word_of_several_terms_is_one_word(
    engine: Engine, retriever: Retriever, written: str, left_out: set[str]
) -> None:
    for n, text in enumerate(TEXTS):
        put(engine, f"{n}.txt", text)
    assert texts(retriever.search(parse_query(written), limit=10)) == {*TEXTS} - left_out


@pytest.mark.slow
def test_a_number_inside_a_quoted_word_is_no_word_of_its_own(
    engine: Engine, retriever: Retriever
) -> None:
    put(engine, "a.txt", "The FY2018 report shows a loss.", "A report of 2018 for the FY.")
    assert texts(retriever.search(parse_query('"FY2018 report"'))) == {
        "The FY2018 report shows a loss."
    }
    assert texts(retriever.search(parse_query("-FY2018"))) == set()


@pytest.mark.slow
def test_the_passage_with_a_code_of_a_long_question_is_not_buried(engine: Engine) -> None:
    asked = "Why was QX-77431-B inspected for corrosion by the engineer in the spring visit?"
    held = f"QX-77431-B. Corrosion. {'Zzz kkk jjj. ' * 9}"
    put(engine, "a.txt", held, *(f"{asked[::-1]} Visit {n}." for n in range(100, 220)))
    found = with_vectors(engine).search(parse_query(asked), limit=8)
    assert held in texts(found)
