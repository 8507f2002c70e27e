import math
import string
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_rag.core.terms import terms
from desktop_rag.store.clustering import PostingsClustering
from desktop_rag.store.database import Database
from desktop_rag.store.lexical import K1, NEIGHBOUR_SHARE, B, LexicalStore
from desktop_rag.store.scope import Scope
from tests.unit.store.test_documents import Stores, add, document, indexed

TEXTS = ["the lamp is lit", "the lamp and the lens of the lamp", "gate", "the gate is shut"]


def as_words(terms: Sequence[str]) -> list[tuple[str, ...]]:
    return [(term,) for term in terms]


def fill(database: Database, texts: Sequence[str]) -> Stores:
    """A document for each text, chunk n (from 1) with text n - 1."""
    store = Stores(database)
    for number, text in enumerate(texts):
        source = store.add_source(Path(f"/{number}"), f"collection {number % 2}")
        row = document(f"{number}.txt", source.source_id)
        add(store, row)
        store.settle([indexed(row, text)])
    return store


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    fill(database, TEXTS)
    return LexicalStore(database)


def reference_bm25(texts: Sequence[str], words: Sequence[tuple[str, ...]]) -> dict[int, float]:
    split = [terms(text) for text in texts]
    mean = sum(map(len, split)) / len(split)
    scores: dict[int, float] = {}
    for word in words:
        matching = sum(split_text.count(term) > 0 for split_text in split for term in word)
        idf = math.log(1 + max(0.0, len(split) - matching + 0.5) / (matching + 0.5))
        for number, w in enumerate(split, start=1):
            if tf := sum(w.count(term) for term in word):
                norm = K1 * (1 - B + B * len(w) / mean)
                scores[number] = scores.get(number, 0.0) + idf * tf * (K1 + 1) / (tf + norm)
    return scores


@pytest.mark.parametrize("term", ["lamp", "gate", "the"])
def test_bm25_is_that_of_the_formula(lexical: LexicalStore, term: str) -> None:
    found = dict(lexical.best([(term,)], 10))
    assert found == pytest.approx(reference_bm25(TEXTS, [(term,)]))


def test_words_add_up_and_unknown_ones_add_nothing(lexical: LexicalStore) -> None:
    both = dict(lexical.best(as_words(["lamp", "gate", "unheard"]), 10))
    assert both == pytest.approx(reference_bm25(TEXTS, as_words(["lamp", "gate"])))
    assert lexical.best([], 10) == []


def test_alternatives_count_as_one_word(lexical: LexicalStore) -> None:
    found = dict(lexical.best([("lamp", "gate")], 10))
    assert found == pytest.approx(reference_bm25(TEXTS, [("lamp", "gate")]))
    weights = lexical.weigh([("lamp", "unheard"), ("unheard",)])
    assert dict(zip(weights.words, weights.counts, strict=True)) == {
        ("unheard",): 0,
        ("lamp", "unheard"): 2,
    }
    assert weights.only([("unheard",)]).counts == (0,)


def test_scores_of_given_chunks_equal_their_scores_in_the_list(lexical: LexicalStore) -> None:
    best = dict(lexical.best([("the",)], 10))
    assert lexical.scores([("the",)], [2, 3]) == pytest.approx({2: best[2]})


def test_a_chunk_is_read_with_its_neighbours(database: Database) -> None:
    store = Stores(database)
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "lamp house", "its lens", "far away")])
    found = LexicalStore(database).scores([("lamp",)], [1, 2, 3])
    idf, mean = math.log(1 + 2.5 / 1.5), 2.0
    norm = K1 * (1 - B + B * (2 + 0.25 * 4) / mean)
    assert found[2] == pytest.approx(idf * NEIGHBOUR_SHARE * (K1 + 1) / (NEIGHBOUR_SHARE + norm))
    assert found[1] > found[2]
    assert 3 not in found


def test_a_collection_is_searched_alone(lexical: LexicalStore) -> None:
    assert [i for i, _ in lexical.best([("the",)], 10, Scope(("collection 1",)))] == [2, 4]


def test_the_nearest_term_mends_a_typo(lexical: LexicalStore) -> None:
    assert lexical.nearest_term("lapm", 1) == "lamp"
    assert lexical.nearest_term("unheard", 2) == ""
    assert lexical.example("lamp")[0] in TEXTS


word_lists = st.lists(
    st.lists(st.sampled_from(string.ascii_lowercase[:9]), min_size=1, max_size=8).map(" ".join),
    min_size=1,
    max_size=25,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=word_lists, asked=st.sets(st.sampled_from("abcdefghi"), min_size=1), data=st.data())
def test_leaving_out_frequent_words_changes_no_ranking(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    asked: set[str],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("home")
    database = Database(folder / "library.duckdb", memory_mb=256, backups=folder / "backups")
    try:
        fill(database, texts)
        lexical = LexicalStore(database)
        words, limit = as_words(sorted(asked)), data.draw(st.integers(1, 6))
        expected = sorted(reference_bm25(texts, words).items(), key=lambda x: (-x[1], x[0]))
        for _ in range(2):
            found = [score for _, score in lexical.best(words, limit)]
            assert found == pytest.approx([score for _, score in expected[:limit]])
            PostingsClustering(database).run()
    finally:
        database.close()


def test_what_was_deleted_since_the_postings_were_sorted_is_not_found(database: Database) -> None:
    store = fill(database, TEXTS)
    clustering, lexical = PostingsClustering(database), LexicalStore(database)
    clustering.run()
    store.apply_changes(store.documents()[0].source_id, [], {}, ["0.txt"])
    assert [i for i, _ in lexical.best([("lamp",)], 10)] == [2]
    clustering.run()
    assert [i for i, _ in lexical.best([("lamp",)], 10)] == [2]
    with database.read() as con:
        counts = "SELECT (SELECT count(*) FROM dead_chunks), (SELECT count(*) FROM postings)"
        assert con.execute(counts).fetchall() == [(0, 10)]


def test_small_libraries_are_not_sorted(database: Database) -> None:
    fill(database, TEXTS)
    assert not PostingsClustering(database).is_due()


def test_a_word_counts_even_where_more_chunks_are_gone_than_left(database: Database) -> None:
    store = fill(database, TEXTS)
    PostingsClustering(database).run()
    for row in store.documents():
        if row.document_id != "1.txt":
            store.apply_changes(row.source_id, [], {}, [row.document_id])
    lexical = LexicalStore(database)
    [(chunk_id, score)] = lexical.best([("the",)], 10)
    assert chunk_id == 2
    assert 0 < score < lexical.weigh([("the",)]).greatest()
