import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core import terms as module
from desktop_rag.core.terms import holds_phrase, term_counts, terms, word_groups
from desktop_rag.core.text import words

# Letters, marks, digits and signs of many scripts, and what stands between words.
MIXED = st.text(
    alphabet="aZéßıİñ’'.,- _7٣२ёй\u0301αΐς한글灯台タワーกำน้កម្ពុמשָׁكِتَابहिन्दी\u200c\u00ad²ﬁ😀\n",  # noqa: RUF001
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The Keepers’ lamps", "", ["the", "keeper", "lamp"]),
        ("the museum's lens", "en", ["the", "museum", "len"]),
        ("die Leuchttürme der Häuser", "de", ["die", "leuchtturm", "der", "haus"]),
        ("les bateaux de l'eau", "fr", ["le", "bateau", "de", "eau"]),
        ("dell'acqua", "it", ["acqua"]),
        ("l'aigua", "ca", ["aigu"]),
        ("книги книгами", "ru", ["книг", "книг"]),
        ("كتاب والكتب الكتاب", "ar", ["كتاب", "والكتب", "كتاب"]),
        ("kitaplar IŞIK ışıklar", "tr", ["kitap", "isik", "isik"]),  # noqa: RUF001
        ("snake_case std::vector FY2018", "", ["snake", "case", "std", "vector", "fy2018"]),
    ],
)
def test_words_are_stemmed_by_language(text: str, language: str, expected: list[str]) -> None:
    assert terms(text, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में किताबें", 3),
        ("מְנוֹרָה", 1),
        ("docu\u00adment می\u200cخواهم", 2),  # noqa: RUF001
        ("Caf\u0065\u0301 e\u0323bc", 2),
    ],
)
def test_signs_inside_a_word_do_not_split_it(text: str, expected: int) -> None:
    assert len(terms(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("灯台です。", ["灯台", "台で", "です"]),
        ("灯", ["灯"]),
        ("タワー ﾀﾜｰ", ["タワ", "ワー", "タワ", "ワー"]),
        ("한국어 책", ["한국", "국어", "책"]),
        ("iPhone手机2024", ["iphon", "手机", "2024"]),
        ("ที่นี่", ["ที่นี่"]),
        ("ကျွန်", ["ကျွန်"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_signs(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_any_word_of_a_script_without_spaces_is_found() -> None:
    assert set(terms("開館時間")) <= set(terms("この灯台の開館時間です"))
    assert set(terms("น้ำดื่ม")) <= set(terms("ราคาน้ำดื่มแพง"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café Müller résumé", "cafe Muller resume"),
        ("Straße", "STRASSE"),
        ("ёлка за\u0301мок", "елка замок"),  # noqa: RUF001
        ("כָּתַב", "כתב"),
        ("كِتَاب", "كتاب"),
        ("Łódź Århus ﬁne Ｆｕｌｌ", "lodz arhus fine full"),  # noqa: RUF001
        ("२०२४ ٢٠٢٤", "2024 2024"),
        ("12km, 5.5kg, 120km/h; 19th, 3D", "12 km 5.5 kg 120 km h 19th 3d"),
        ("key\u200bboard \ufeffwheel", "keyboard wheel"),
        ("1,234.5 1.234,5 1'234 1.234.567", "1234.5 1234.5 1234 1234567"),
        ("3,14", "3.14"),
        ("it's", "it’s"),
    ],
)
def test_ways_to_write_one_thing_meet(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_letters_that_differ_stay_apart() -> None:
    assert terms("йод") != terms("иод")
    assert terms("3.14") != terms("314")


@pytest.mark.parametrize("text", ["1 250 000 EUR", "1\u202f250\u202f000 EUR"])
def test_spaces_may_part_thousands_or_numbers(text: str) -> None:
    assert terms(text) == ["1", "250", "000", "eur", "1250000"]
    assert "2019100" not in terms("in 2019 100 of them")


def test_a_number_is_one_term_and_its_year_another() -> None:
    assert terms("pi is 3.14.") == ["pi", "is", "3.14"]
    assert terms("on 31.12.2024, v3.2.1") == ["on", "31.12.2024", "2024", "v3", "2.1"]


def test_words_of_another_script_have_their_own_stems() -> None:
    assert terms("lamps здания", "ru") == terms("lamp здание", "ru")
    assert terms("lamps 灯台", "ja") == ["lamp", "灯台"]


def test_no_word_is_too_common_to_be_found() -> None:
    assert terms("to be or not to be") == ["to", "be", "or", "not", "to", "be"]
    assert terms("ـ ال") == ["ـ", "ال"]


def test_term_counts_count() -> None:
    assert term_counts("light, lights and lighting")["light"] == 3
    assert term_counts("Häuser, Haus", "de") == {"haus": 2}


@given(
    MIXED | st.text(max_size=80), st.sampled_from(["", "en", "de", "tr", "ar", "ru", "hi", "xx"])
)
def test_every_letter_and_digit_ends_up_in_a_term(text: str, language: str) -> None:
    found = terms(text, language)
    assert all(term and not any(c.isspace() for c in term) for term in found)
    plain = unicodedata.normalize("NFKC", text)
    # Letters that Python does not know yet are left to `regex`, which has a newer Unicode.
    if not any(unicodedata.category(c) == "Cn" for c in plain):
        assert bool(found) == any(c.isalnum() for c in plain)
    assert sum(term_counts(text, language).values()) == len(found)


@given(st.text(alphabet=st.characters(max_codepoint=0x52F), max_size=80))
def test_the_fast_way_cuts_words_as_the_other_does(text: str) -> None:
    # A sign of a script without spaces takes the whole text the other way.
    assert [*terms(text), "灯"] == terms(f"{text}\n灯")


def test_a_question_meets_documents_of_every_language() -> None:
    groups = word_groups("gebauten Leuchttürme", ["de", "en", ""])
    assert groups == [("gebaut", "gebauten"), ("leuchtturm",)]
    assert terms("Leuchttürme", "de")[0] in groups[1]
    assert word_groups("lamps", []) == [("lamp",)]


def test_a_question_s_pairs_and_long_numbers_are_groups_of_their_own() -> None:
    assert word_groups("灯台で", ["en", "zh"]) == [("灯台",), ("台で",)]
    assert word_groups("FY2018 10K", ["en", "de"]) == [("fy2018",), ("2018",), ("10k",)]
    assert word_groups("31.12.2024 2024", [""]) == [("31.12.2024",), ("2024",)]


def test_a_repeated_word_is_one_group() -> None:
    assert word_groups("to be or not to be", [""]) == [("to",), ("be",), ("or",), ("not",)]


@given(MIXED, st.lists(st.sampled_from(["", "en", "de", "fi", "fa", "sr"]), max_size=4))
def test_groups_hold_the_terms_of_every_language(text: str, languages: list[str]) -> None:
    groups = word_groups(text, languages)
    alternatives = {term for group in groups for term in group}
    assert all(alternatives >= set(terms(text, language)) for language in languages or [""])
    assert len(set(groups)) == len(groups)


@pytest.mark.parametrize(
    ("text", "phrase", "is_held"),
    [
        ("The “Annual\nReport, 2018”", "annual report 2018", True),
        ("annual reports", "annual report", False),
        ("a lampshade", "lamp", False),
        ("この灯台です", "灯台", True),
        ("灯と台", "灯台", False),
        ("Café Müller", "cafe muller", True),
        ("it cost 1,234.50 in all", "cost 1234.50", True),
        ("anything", "…", True),
    ],
)
def test_a_phrase_is_held_as_it_is_written(text: str, phrase: str, is_held: bool) -> None:
    assert holds_phrase(text, phrase) is is_held


def test_threads_do_not_mix_up_stems() -> None:
    words = [
        f"{stem}{ending}" for stem in ("light", "keep", "walk") for ending in ("s", "ing", "ed")
    ]
    text = " ".join(f"{word}{letter}ings" for word in words for letter in "bcdfgklmnprst")
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(terms(text, "sv"))) for _ in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert results == [terms(text, "sv")] * 4


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CACHED_WORDS", 3)
    assert terms("one two three four five one", "nl") == terms("one two three four five one", "nl")


def test_a_raised_digit_is_no_part_of_the_number_before_it() -> None:
    assert terms("763² tonnes in 2031³, 10⁻³ m²") == [
        "763", "2", "tonn", "in", "2031", "3", "10", "3", "m2",
    ]  # fmt: skip
    assert "763" in words("about 763² tonnes")
