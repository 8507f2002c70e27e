import pytest

from desktop_rag.ingest.read.foundation.language import language_of

SENTENCES = {
    "en": "Either party may end the contract with three months of notice in writing.",
    "de": "Die Satzung des Vereins regelt die Beiträge der Mitglieder und die Aufgaben.",
    "fr": "Le contrat peut être résilié par chacune des parties moyennant un préavis écrit.",
    "es": "El contrato puede ser rescindido por cualquiera de las partes con preaviso.",
    "ja": "契約は、三か月前の予告をもって、いずれの当事者もこれを解除することができる。",
    "zh": "合同可以由任何一方提前三个月通知解除。会员有义务支付会费,理事会对此作出规定。",
    "ru": "Договор может быть расторгнут любой из сторон с уведомлением за три месяца.",  # noqa: RUF001
}


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_enough(code: str) -> None:
    assert language_of(SENTENCES[code]) == code


@pytest.mark.parametrize("code", SENTENCES)
def test_the_middle_of_a_long_text_counts(code: str) -> None:
    text = "<div class='x'>\n" * 500 + SENTENCES[code] * 200 + "{ a: 1 }\n" * 500
    assert language_of(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "12 | 34.5 | 7\n" * 300,
        "a1 b2 c3 x_y f(x) http://x.example/a/b\n" * 99,
        "x" * 9999,
    ],
)
def test_what_is_no_language_has_none(text: str) -> None:
    assert language_of(text) == ""
