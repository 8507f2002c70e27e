import pytest

from desktop_rag.answer.sources.question_rewriting import completed


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        # A year, a name, a number.
        ("What was Adobe's revenue in 2022?", "And in 2021?", "What was Adobe's revenue in 2021?"),
        ("What was Adobe's revenue in 2022?", "And of Nike?", "What was Nike's revenue in 2022?"),
        ("What did Nike earn in 2019?", "What about Best Buy in 2018?",
         "What did Best Buy earn in 2018?"),
        ("Adobe revenue 2022", "and 2021?", "Adobe revenue 2021?"),
        ("What does error E2 mean?", "And E3?", "What does error E3 mean?"),
        ("Wie hoch war der Umsatz von Falke 2022?", "Und 2021?",
         "Wie hoch war der Umsatz von Falke 2021?"),
        # What follows the same preposition, or has the same kind of article.
        ("When is the lamp lit in summer?", "And in winter?", "When is the lamp lit in winter?"),
        ("Who cleans the lamp of the tower?", "And the lens?", "Who cleans the lens of the tower?"),
        ("How long does the rye loaf bake?", "And the roll?", "How long does the roll bake?"),
        ("What do tickets for adults cost?", "For children?", "What do tickets for children cost?"),
        ("What is Adobe's revenue?", "And its net income?", "What is Adobe's net income?"),
        ("What is paid during probation?", "And after probation?", "What is paid after probation?"),
        ("Darf ich eine Katze halten?", "Und einen Hund?", "Darf ich einen Hund halten?"),
        ("Wie hoch ist die Miete im Lindenweg?", "Und die Kaution?",
         "Wie hoch ist die Kaution im Lindenweg?"),
        ("Wann ist der Turm im Sommer offen?", "Und am Sonntag?",
         "Wann ist der Turm im Sommer offen am Sonntag?"),
        ("Was kostet der Eintritt für Erwachsene?", "Für Kinder?",
         "Was kostet der Eintritt für Kinder?"),
        # Bare words of one form.
        ("Are cats allowed in the flat?", "And dogs?", "Are dogs allowed in the flat?"),
        ("Wie lange haben Vollzeitkräfte frei?", "Und Auszubildende?",
         "Wie lange haben Auszubildende frei?"),
        # Nothing of its kind, or two of it.
        ("Who leads the team?", "And in Leeds?", "Who leads the team in Leeds?"),
        ("Haben Vollzeitkräfte Urlaub?", "Und Auszubildende?",
         "Haben Vollzeitkräfte Urlaub, Auszubildende?"),
        ("Does the tenant pay the bill of the winter?", "What about the landlord?",
         "Does the tenant pay the bill of the winter, the landlord?"),
    ],
)  # fmt: skip
def test_what_is_named_takes_the_place_of_its_kind(before: str, question: str, whole: str) -> None:
    assert completed(question, before) == whole


@pytest.mark.parametrize(
    "question",
    [
        "And who cleans it?",
        "And how many employees does Nike have?",
        "Und welche Frist gilt danach?",
        "Why?",
        "And them?",
        "Nike dividends",
        "For whom is the discount?",
        "And the one thing that every one of the many guests of the house has to pay for",
        "And?",
        "…",
        "",
    ],
)
def test_other_questions_are_not_completed(question: str) -> None:
    assert completed(question, "What was the revenue of Adobe in 2022?") == ""


@pytest.mark.parametrize("question", ["Seit wann?", "In welchem Jahr?", "Und wo?", "Und danach?"])
def test_other_german_questions_are_not_completed(question: str) -> None:
    assert completed(question, "Wie hoch war der Umsatz der Brauerei 2022?") == ""


def test_there_is_nothing_to_complete_the_first_question_with() -> None:
    assert completed("And in 2021?", "") == ""
