"""Greetings and questions about the app, which no question about documents is taken for."""

import json

import pytest

from desktop_rag.answer.small_talk import reply_to
from tests.conftest import DEMO, SHARED


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("Hello, what can you do?", "I answer questions about the documents"),
        ("thanks", "You're welcome"),
        ("Who are you?", "I answer questions"),
        ("How do I add a folder?", "Open the page **Library**"),
        ("Guten Morgen!", "Hallo!"),
        ("Hallo, was kannst du?", "Ich beantworte"),
        ("Merci beaucoup", "Je vous en prie"),
        ("¿Qué puedes hacer?", "Respondo a preguntas"),
        ("Come aggiungo una cartella?", "Apra la pagina"),
        ("Obrigado!", "De nada"),
        ("Hello, nice to meet you!", "Hello!"),
        ("Ok thanks, that is all for today.", "You're welcome"),
        ("So, who built you?", "I answer questions"),
        ("Great job, bye", "You're welcome"),
        ("Danke, das hat mir sehr geholfen.", "Gern geschehen"),
        ("Ich muss jetzt gehen, tschüss!", "Auf Wiedersehen"),
        ("Merci, c’était très utile", "Je vous en prie"),
        ("¿En qué me puedes ayudar?", "Respondo a preguntas"),
        ("Grazie, ottimo lavoro!", "Prego"),
        ("Wie ben je?", "Ik beantwoord"),
        ("من أنت؟", "أجيب عن"),
        ("你好，你是谁？", "我回答"),
        ("怎么添加文件夹？", "打开"),
        ("ありがとうございます", "どういたしまして"),
    ],
)
def test_it_is_answered_in_its_language(text: str, begins: str) -> None:
    assert reply_to(text).startswith(begins)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, where does the helicopter land?",
        "How do I add a folder to the token board?",
        "Thanks to whom was the lens saved?",
        "What can you do against the siren?",
        "Hello world program",
        "Thanks, who made the lamp?",
        "Who created the report?",
        "How old is the tower?",
        "Great job offers",
        "Is private information shared with the landlord?",
        "Schönes Wochenende 2025 Rechnung",
        "Qui a créé le rapport ?",
        "yes",
        "test",
        "",
    ],
)
def test_a_question_about_documents_is_none(text: str) -> None:
    assert reply_to(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "who is it",
        "how old is it",
        "who made it",
        "who can see it",
        "how do I use it",
        "how can I start it",
        "who can help me",
        "is that all",
        "Was that great?",
        "What is evening?",
        "Is it later?",
        "where are the files",
        "how do I open the document",
        "perfect day",
        "night shift",
        "tell me about it",
        "wer hat es entwickelt",
        "war das alles",
        "wie alt ist es",
        "was soll ich tun",
        "qui l'a fait",
        "cómo se llama",
        "come si chiama",
        "hoe heet hij",
        "他叫什么名字",
    ],
)
def test_a_short_question_within_a_conversation_is_none(text: str) -> None:
    assert reply_to(text, is_first=False) == ""


def test_this_is_the_app_only_at_the_beginning() -> None:
    assert reply_to("How does this work?")
    assert not reply_to("How does this work?", is_first=False)
    assert reply_to("Thank you!", is_first=False)


@pytest.mark.slow
def test_no_question_of_the_sets_is_small_talk() -> None:
    folder = SHARED / "bench" / "retrieval"
    if not folder.exists():
        pytest.skip("the sets of questions are not here")
    files = sorted(folder.glob("**/queries.jsonl"))
    # Not `splitlines`: a question may hold other line separators.
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n")]
    questions = [json.loads(line)["text"] for line in lines if line]
    assert [question for question in questions if reply_to(question)] == []


def test_no_question_of_the_demo_is_small_talk() -> None:
    lines = (DEMO / "questions.toml").read_text(encoding="utf-8").splitlines()
    asked = [line.split('"')[1] for line in lines if line.startswith("question = ")]
    assert asked
    assert not any(reply_to(question) for question in asked)
