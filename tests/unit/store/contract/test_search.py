import math
import string
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop_rag.core.parsed import Anchor
from desktop_rag.core.terms import terms
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import (
    K1,
    NEIGHBOUR_LENGTH,
    NEIGHBOUR_SHARE,
    B,
    NamedDocuments,
    Scope,
    WordCounts,
)
from tests.engines import Open
from tests.stored_rows import add, add_source, document, found, ids, indexed, put, ranked, remove

pytestmark = pytest.mark.slow


TEXTS = ("the lamp is lit", "the lamp and the lens of the lamp", "gate", "the gate is shut")


def as_words(terms: Sequence[str]) -> list[tuple[str, ...]]:
    return [(term,) for term in terms]


def fill(engine: Engine, texts: Sequence[str] = TEXTS) -> None:
    """A document for each text."""
    for number, text in enumerate(texts):
        put(engine, f"{number}.txt", text)


def reference_bm25(texts: Sequence[str], words: Sequence[tuple[str, ...]]) -> dict[str, float]:
    split = [terms(text) for text in texts]
    mean = sum(map(len, split)) / len(split)
    scores: dict[str, float] = {}
    for word in words:
        matching = sum(split_text.count(term) > 0 for split_text in split for term in word)
        idf = math.log(1 + max(0.5, len(split) - matching + 0.5) / (matching + 0.5))
        for text, w in zip(texts, split, strict=True):
            if tf := sum(w.count(term) for term in word):
                norm = K1 * (1 - B + B * len(w) / mean)
                scores[text] = scores.get(text, 0.0) + idf * tf * (K1 + 1) / (tf + norm)
    return scores


def test_the_score_is_the_one_worked_out_by_hand(engine: Engine) -> None:
    fill(engine)
    # Two of four chunks hold it: idf = ln(1 + 2.5 / 2.5) = .693147. Lengths are 4 and 8, 4.25 in
    # the mean: .693147 · 1 · 1.9 / (1 + .9 · (.6 + .4 · 4 / 4.25)) = .700960, and
    # .693147 · 2 · 1.9 / (2 + .9 · (.6 + .4 · 8 / 4.25)) = .818598.
    expected = {TEXTS[1]: 0.818598, TEXTS[0]: 0.700960}
    assert ranked(engine, [("lamp",)]) == pytest.approx(expected, abs=1e-6)
    assert list(ranked(engine, [("lamp",)])) == list(expected)
    weights = engine.lexical.weigh([("lamp",), ("gate",), ("lamp",)])
    assert weights.words == (("gate",), ("lamp",))
    assert weights.idf == pytest.approx((math.log(2), math.log(2)))
    assert (weights.counts, weights.mean_length) == ((2, 2), 4.25)
    counts = engine.lexical.count([("gate",), ("lamp",), ("unheard",)])
    assert counts == WordCounts(4, 17, {("gate",): 2, ("lamp",): 2, ("unheard",): 0})


@pytest.mark.parametrize("term", ["lamp", "gate", "the"])
def test_bm25_is_that_of_the_formula(engine: Engine, term: str) -> None:
    fill(engine)
    assert ranked(engine, [(term,)]) == pytest.approx(reference_bm25(TEXTS, [(term,)]))


def test_words_add_up_and_unknown_ones_add_nothing(engine: Engine) -> None:
    fill(engine)
    both = ranked(engine, as_words(["lamp", "gate", "unheard"]))
    assert both == pytest.approx(reference_bm25(TEXTS, as_words(["lamp", "gate"])))
    assert engine.lexical.best([], 10) == []
    assert engine.lexical.best([("unheard",)], 10) == []


def test_alternatives_count_as_one_word(engine: Engine) -> None:
    fill(engine)
    either = ranked(engine, [("lamp", "gate")])
    assert either == pytest.approx(reference_bm25(TEXTS, [("lamp", "gate")]))
    weights = engine.lexical.weigh([("lamp", "unheard"), ("unheard",)])
    assert dict(zip(weights.words, weights.counts, strict=True)) == {
        ("unheard",): 0,
        ("lamp", "unheard"): 2,
    }
    assert weights.only([("unheard",)]).counts == (0,)


def test_an_empty_library_is_searched_too(engine: Engine) -> None:
    weights = engine.lexical.weigh([("lamp",)])
    assert (weights.counts, weights.mean_length) == ((0,), 1.0)
    assert engine.lexical.best(weights, 10) == []
    assert engine.lexical.scores(weights, [1]) == engine.lexical.newest(10, Scope()) == {}
    assert engine.lexical.passages({1: 0.5}) == []
    assert not engine.lexical.languages()


def test_of_equal_scores_the_chunk_stored_first_comes_first(engine: Engine) -> None:
    fill(engine, [f"lamp number{n}" for n in range(30)])
    best = engine.lexical.best([("lamp",)], 7)
    assert [i for i, _ in best] == list(ids(engine, "lamp").values())[:7]
    scores = dict(reversed(best))
    assert [p.chunk_id for p in engine.lexical.passages(scores)] == sorted(scores)


def test_scores_of_given_chunks_equal_their_scores_in_the_list(engine: Engine) -> None:
    fill(engine)
    best = dict(engine.lexical.best([("the",)], 10))
    numbers = ids(engine, "the")
    asked = [numbers[TEXTS[1]], ids(engine, "gate")["gate"], 10**9]
    expected = {asked[0]: best[asked[0]]}
    assert engine.lexical.scores([("the",)], asked) == pytest.approx(expected)
    assert engine.lexical.scores(engine.lexical.weigh([("the",)]), asked) == pytest.approx(expected)
    assert engine.lexical.scores([("the",)], []) == {}


def test_a_chunk_is_read_with_its_neighbours(engine: Engine) -> None:
    put(engine, "a.txt", "lamp house", "its lens", "far away")
    first = ids(engine, "lamp")["lamp house"]
    scores = engine.lexical.scores([("lamp",)], [first, first + 1, first + 2])
    idf, mean = math.log(1 + 2.5 / 1.5), 2.0
    norm = K1 * (1 - B + B * (2 + NEIGHBOUR_LENGTH * 4) / mean)
    expected = idf * NEIGHBOUR_SHARE * (K1 + 1) / (NEIGHBOUR_SHARE + norm)
    assert scores[first + 1] == pytest.approx(expected)
    assert scores[first] > scores[first + 1]
    assert first + 2 not in scores


def test_chunks_of_another_document_are_no_neighbours(engine: Engine) -> None:
    put(engine, "a.txt", "lamp house")
    put(engine, "b.txt", "its lens")
    assert engine.lexical.scores([("lamp",)], list(ids(engine, "len").values())) == {}


def test_passages_say_where_they_stand(engine: Engine) -> None:
    row = replace(document("a.txt"), url="https://a.example/")
    add(engine, row)
    engine.documents.settle([indexed(row, "lamp house", "its lamp")])
    numbers = ids(engine, "lamp")
    scores = {numbers["lamp house"]: 0.25, numbers["its lamp"]: 0.5, 10**9: 1.0}
    second, first = engine.lexical.passages(scores)
    assert (first.score, second.score) == (0.25, 0.5)
    assert (second.chunk_id, second.document_id) == (numbers["its lamp"], "a.txt")
    assert (second.path, second.title, second.url) == ("/docs/a.txt", "a.txt", row.url)
    assert (second.anchor, second.start, second.end) == (Anchor(line=1), 10, 18)


def test_a_typo_is_mended_by_the_nearest_term(engine: Engine) -> None:
    fill(engine, [*TEXTS, "lamb", "lama", "lama too"])
    assert engine.lexical.nearest_term("lapm", 1) == "lamp"
    assert engine.lexical.nearest_term("lamp", 1) == "lamp"
    assert engine.lexical.nearest_term("lam", 1) == "lama"
    assert engine.lexical.nearest_term("lamx", 1) == "lama"
    assert engine.lexical.nearest_term("unheard", 2) == ""


def test_languages_are_told_by_how_many_documents_have_them(engine: Engine) -> None:
    for number, language in enumerate(["de", "", "ru", "de", "", "de"]):
        add(engine, replace(document(f"{number}"), language=language))
    assert list(engine.lexical.languages().items()) == [("de", 3), ("", 2), ("ru", 1)]


word_lists = st.lists(
    st.lists(st.sampled_from(string.ascii_lowercase[:9]), min_size=1, max_size=8).map(" ".join),
    min_size=1,
    max_size=25,
    unique=True,
)


# Each example opens a library of its own.
@settings(
    max_examples=max(1, settings().max_examples // 10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(texts=word_lists, asked=st.sets(st.sampled_from("abcdefghi"), min_size=1), data=st.data())
def test_the_ranking_is_exact_before_and_after_upkeep(
    tmp_path_factory: pytest.TempPathFactory,
    open_engine: Open,
    texts: list[str],
    asked: set[str],
    data: st.DataObject,
) -> None:
    engine = open_engine(tmp_path_factory.mktemp("home"))
    try:
        fill(engine, texts)
        words, limit = as_words(sorted(asked)), data.draw(st.integers(1, 6))
        expected = sorted(reference_bm25(texts, words).values(), reverse=True)[:limit]
        for _ in range(2):
            best = [score for _, score in engine.lexical.best(words, limit)]
            assert best == pytest.approx(expected)
            engine.upkeep.run()
    finally:
        engine.close()


def test_a_chunk_with_none_of_the_rare_words_may_be_the_best(engine: Engine) -> None:
    long = [f"rare{' filling' * 200} {n}" for n in range(30)]
    short = [f"often often often {n}" for n in range(35)]
    put(engine, "a.txt", *long, *short)
    words = as_words(["rare", "often"])
    expected = reference_bm25([*long, *short], words)
    best = [score for _, score in engine.lexical.best(words, 1)]
    assert best == pytest.approx([max(expected.values())])
    assert max(expected, key=expected.__getitem__) in short
    assert ranked(engine, words) == pytest.approx(expected)


def test_what_was_deleted_is_not_found_before_and_after_upkeep(engine: Engine) -> None:
    fill(engine)
    engine.upkeep.run()
    remove(engine, "0.txt")
    assert found(engine, "lamp") == [TEXTS[1]]
    engine.upkeep.run()
    assert found(engine, "lamp") == [TEXTS[1]]
    assert engine.lexical.weigh([("lamp",)]).counts == (1,)
    put(engine, "new.txt", "lamp once more")
    assert set(found(engine, "lamp")) == {TEXTS[1], "lamp once more"}


def test_a_word_counts_even_where_more_chunks_are_gone_than_left(engine: Engine) -> None:
    fill(engine)
    engine.upkeep.run()
    remove(engine, "0.txt", "2.txt", "3.txt")
    [(chunk_id, score)] = engine.lexical.best([("the",)], 10)
    assert chunk_id == ids(engine, "len")[TEXTS[1]]
    assert 0 < score < engine.lexical.weigh([("the",)]).greatest()


def test_names_are_searched_by_words_and_whole_numbers(engine: Engine) -> None:
    for name in ("report_2023.pdf", "letter.txt", "Report_2024.docx"):
        put(engine, name, "lamp")
    add(engine, replace(document("report_2024.tmp"), path=Path("/docs/report_2024.tmp")))
    found, total = engine.names.matching(
        ["report", "2024", "202"], ["lette", "port"], ["port_"], Scope(), 8
    )
    assert total == 3
    assert {group.document_ids: group.parts for group in found} == {
        ("report_2023.pdf",): {"report", "port_"},
        ("Report_2024.docx",): {"report", "2024", "port_"},
        ("letter.txt",): {"lette"},
    }
    only = Scope(document_ids=("report_2023.pdf",))
    named = NamedDocuments(frozenset({"report"}), 1, ("report_2023.pdf",))
    assert engine.names.matching(["report"], [], [], only, 8) == ([named], 3)
    assert engine.names.matching([], [], [], Scope(), 8) == ([], 3)


def test_of_many_documents_with_the_same_words_in_their_names_some_are_listed(
    engine: Engine,
) -> None:
    for number in range(5):
        put(engine, f"note_{number}.txt", "lamp")
    put(engine, "note_of_a_keeper.txt", "lamp")
    found, total = engine.names.matching(["note", "keeper"], [], [], Scope(), 2)
    assert total == 6
    assert {(group.parts, group.count, len(group.document_ids)) for group in found} == {
        (frozenset({"note"}), 5, 2),
        (frozenset({"note", "keeper"}), 1, 1),
    }


def test_names_are_completed_by_their_parts_in_any_order(engine: Engine) -> None:
    for name in ("lamps/Annual report 2024.md", "lamps/Report on oil.md", "nets/report.md"):
        put(engine, name, "lamp")
    put(engine, "letter.txt", "lamp")
    changed = 1_741_950_000 * 10**9  # on 14 March 2025
    row = replace(document("old.txt", add_source(engine, "old.txt")), path=Path("/docs/old.txt"))
    add(engine, replace(row, stat=replace(row.stat, mtime_ns=changed)))

    def completed(text: str) -> list[str]:
        return engine.names.completing(text, 8)

    assert completed("report annual") == ["lamps/Annual report 2024.md"]
    assert completed("report lamps") == ["lamps/Report on oil.md", "lamps/Annual report 2024.md"]
    assert completed("report")[0] == "nets/report.md"
    assert completed("2025-03-14") == completed("14.03.2025 old") == ["old.txt"]
    assert completed("report lens") == []


def test_a_beginning_is_completed_by_the_most_frequent_terms(engine: Engine) -> None:
    fill(engine, ["harbour", "harbour light", "harvest", "harv", "lamp"])
    assert engine.lexical.terms_completing("har", 8) == ("harbour", "harv", "harvest")
    assert engine.lexical.terms_completing("har", 1) == ("harbour",)
    assert engine.lexical.terms_completing("harves", 8) == ("harvest",)
    assert engine.lexical.terms_completing("harveste", 8) == ("harvest",)
    assert engine.lexical.terms_completing("harvx", 8) == ("harv",)
    assert engine.lexical.terms_completing("ha", 8) == ()
    assert engine.lexical.terms_completing("x%_", 8) == ()
