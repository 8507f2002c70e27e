import pytest

from desktop_rag.core.language.languages import (
    QUESTIONS_OF_ENGLISH_MODEL,
    QUESTIONS_OF_MULTILINGUAL_MODEL,
    question_language,
)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("When does the ferry leave?", "en"),
        # Dutch has "had" too.
        ("Who had mathmatical insite?", "en"),
        ("Wann fährt die Fähre auf die Insel ab?", "de"),
        ("¿Cuándo sale el transbordador?", "es"),
        ("Когда отходит паром?", "ru"),
        ("渡轮什么时候开？", "zh"),
        ("フェリーはいつ出ますか", "ja"),
        ("페리는 언제 출발합니까?", "ko"),
        ("متى تغادر العبارة؟", "ar"),
        ("เรือออกกี่โมง", "th"),
        ("Feribot ne zaman kalkıyor?", "tr"),
        ("Wie viel Öl lagert dort?", "de"),
        ("Who is Nguyễn Văn An?", "en"),
    ],
)
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert question_language(question) == language


@pytest.mark.parametrize("question", ["kubernetes 1.31", "", "2024?", "Schrödinger equation proof"])
def test_what_may_be_english_is_a_question_for_both_models(question: str) -> None:
    assert question_language(question) in QUESTIONS_OF_ENGLISH_MODEL
    assert question_language(question) in QUESTIONS_OF_MULTILINGUAL_MODEL


@pytest.mark.parametrize("question", ["Wie hieß die alte Burg?", "Was finanzierten Ada und Vail?"])
def test_a_short_question_in_another_language_is_not_for_the_english_model(question: str) -> None:
    assert question_language(question) not in QUESTIONS_OF_ENGLISH_MODEL
    assert question_language(question) in QUESTIONS_OF_MULTILINGUAL_MODEL


def test_letters_that_english_lacks_are_not_for_the_english_model() -> None:
    language = question_language("Çalışma süreleri değişikliği")
    assert language not in QUESTIONS_OF_ENGLISH_MODEL
    assert language in QUESTIONS_OF_MULTILINGUAL_MODEL


@pytest.mark.parametrize(
    "question",
    ["Πότε φεύγει το πλοίο;", "नौका कब छूटती है?", "SAP नौका कब छूटती है?", "Khi nào phà rời bến?"],
)
def test_no_model_is_asked_what_none_reads(question: str) -> None:
    language = question_language(question)
    assert language not in QUESTIONS_OF_ENGLISH_MODEL | QUESTIONS_OF_MULTILINGUAL_MODEL
