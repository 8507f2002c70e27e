"""Which questions a query over a table may answer better than its passages."""

import pytest

from desktop_rag.answer.tables.cell_values import may_want_a_query


@pytest.mark.parametrize(
    "question",
    [
        "How many orders came from Germany?",
        "Which line had the highest takings in May?",
        "List all customers over 100 pounds.",
        "Wie viele Kunden haben wir?",
        "Wie hoch ist der Umsatz in Berlin?",
        "Combien de commandes y a-t-il ?",
        "¿Cuál es el promedio de ventas por mes?",
        "Qual è il totale delle vendite?",
        "Qual é a soma das vendas?",
        "Hoeveel klanten zijn er in Utrecht?",
        "Сколько заказов в мае?",
        "最高の売上は?",  # a language without words of ours: the model has to say
        "Takings 2026",
    ],
)
def test_what_asks_for_many_rows_may_want_one(question: str) -> None:
    assert may_want_a_query(question)


@pytest.mark.parametrize(
    "question",
    ["Who is the keeper of the lamp?", "When was it painted?", "Wer ist der Wärter der Lampe?"],
)
def test_what_asks_for_a_fact_does_not(question: str) -> None:
    assert not may_want_a_query(question)
