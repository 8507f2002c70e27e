import pytest

from desktop_rag.answer.checking.claims.source_index import SourceIndex
from desktop_rag.answer.checking.claims.support import compare
from desktop_rag.answer.checking.claims.tokens import TokenRole, align, tokenize, tokenize_claim
from desktop_rag.answer.checking.claims.words import has_opposite, importance, stem

SOURCE = "The harbour of Skagen was opened in 1907. It has two piers. In 1,907 boats fish is sold."


def measured(claim: str, source: str = SOURCE) -> dict[str, float]:
    return compare(tokenize_claim(claim), SourceIndex(source)).features


def test_tokens_know_what_they_do_and_where_they_stand() -> None:
    text = "However, twelve of Anna's 1,200 boats did not sail from NATO's larger harbour."
    roles = {text[t.start : t.end]: t.role for t in tokenize(text)}
    assert roles == {
        "However": TokenRole.FRAMING, "twelve": TokenRole.NUMBER, "of": TokenRole.FUNCTION,
        "Anna's": TokenRole.NAME, "1,200": TokenRole.NUMBER, "boats": TokenRole.WORD,
        "did": TokenRole.FUNCTION,
        "not": TokenRole.NEGATION, "sail": TokenRole.WORD, "from": TokenRole.FUNCTION,
        "NATO's": TokenRole.NAME,
        "larger": TokenRole.DEGREE, "harbour": TokenRole.WORD,
    }  # fmt: skip


def test_numbers_are_one_however_they_are_written() -> None:
    assert [token.stem for token in tokenize("Twelve 12 1,200 1200")] == [
        "12",
        "12",
        "1200",
        "1200",
    ]


def test_a_claims_own_language_tells_which_words_only_join() -> None:
    german = {token.word: token.role for token in tokenize_claim("Der Turm ist für alle hoch")}
    assert german["ist"] is german["der"] is TokenRole.FUNCTION
    assert german["turm"] is TokenRole.NAME


def test_rare_words_tell_more() -> None:
    assert importance("people") < importance("harbour") < importance("bindesbøll")


@pytest.mark.parametrize(
    ("word", "other", "opposed"),
    [
        ("increased", "falling", True),
        ("unsafe", "safe", True),
        ("happy", "unhappy", True),
        ("increased", "growing", False),
        ("inland", "land", True),
        ("under", "der", False),
    ],
)
def test_opposites(word: str, other: str, opposed: bool) -> None:
    assert has_opposite(stem(word), frozenset({stem(other)})) is opposed


def test_a_sentence_of_the_source_lacks_nothing() -> None:
    found = measured("The harbour of Skagen was opened in 1907.")
    assert found == pytest.approx(dict.fromkeys(found, 0.0))


@pytest.mark.parametrize(
    ("claim", "raised"),
    [
        ("The harbour of Skagen was opened in 1923.", {"numbers_missing_in_window", "missing"}),
        ("The harbour of Vienna was opened in 1907.", {"names_missing", "missing"}),
        ("The harbour of Skagen was closed in 1907.", {"opposites"}),
        ("In 1907 Skagen opened the harbour.", {"neighbours_parted_in_window"}),
        ("The larger harbour of Skagen was opened in 1907.", {"degrees_missing_in_window"}),
    ],
)
def test_each_edit_raises_its_feature(claim: str, raised: set[str]) -> None:
    plain = measured("The harbour of Skagen was opened in 1907.", SOURCE + " Then it was opened.")
    edited = measured(claim, SOURCE + " Then it was opened.")
    assert raised <= {name for name in plain if edited[name] > plain[name] + 1e-9}


def test_features_hardly_hang_on_what_else_the_source_says() -> None:
    more = SOURCE + " Nobody knows why the gulls left." * 50
    short, long = measured("Skagen has three piers."), measured("Skagen has three piers.", more)
    assert short == long


def test_the_first_of_equal_windows_is_taken() -> None:
    index = SourceIndex("The lamp is lit. Fish is sold. The lamp is lit.")
    window, weight = index.best_window({"lamp": 1.0}, 1)
    assert (window.first, weight) == (0, 1.0)
    assert index.text[slice(*window.span)] == "The lamp is lit"


def test_what_never_ends_is_cut() -> None:
    index = SourceIndex("lamp " * 1000)
    assert index.count > 10
    assert all(len(sentence) <= 60 for sentence in index.sentences_of(index.window(0, index.count)))


def test_alignment_keeps_the_order_and_tells_what_stands_between() -> None:
    claim, evidence = (
        tokenize("boats sail past Vienna daily"),
        tokenize("boats sail to Skagen daily"),
    )
    alignment = align(claim, evidence)
    assert alignment.pairs == ((0, 0), (1, 1), (4, 4))
    gaps = [(g.claim, g.evidence) for g in alignment.gaps() if g.claim or g.evidence]
    [(said, written)] = gaps
    assert [t.word for t in said] == ["past", "vienna"]
    assert [t.word for t in written] == ["skagen"]


def test_nothing_in_common_has_no_gaps() -> None:
    assert list(align(tokenize("boats"), tokenize("lamps")).gaps()) == []


def test_one_of_one_missing_counts_half() -> None:
    assert measured("The harbour was opened in 1950.")["numbers_missing_in_window"] == 0.5


def test_a_rounded_number_is_not_missing() -> None:
    source = "The fleet has 4,860 boats."
    assert measured("It has 5,000 boats.", source)["numbers_missing_in_window"] == 0
    assert measured("It has 4,000 boats.", source)["numbers_missing_in_window"] == 0.5


def test_what_two_distant_sentences_say_together_is_there() -> None:
    source = "Skagen has a harbour. Nobody knows why. The gulls left. Its piers are of granite."
    assert measured("The harbour piers of Skagen are of granite.", source)[
        "missing_in_two_sentences"
    ] == pytest.approx(0)
