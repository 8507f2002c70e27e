"""Questions about a table become queries by rule, and say what they leave unread."""

import pytest

from desktop_rag.answer.tables.rule_query import RuleQuery, read_by_rule
from desktop_rag.answer.tables.sheet_table import SheetTable
from tests.unit.answer.tables.test_sheet_table import first_table, written

LOANS = [
    ["Item", "Borrower", "Desk", "Lent", "Fee EUR", "Returned", "Remark"],
    ["Tent", "Mira Holt", "North", "2024-02-11", "12.50", "yes", ""],
    ["Canoe", "Jon Vale", "South", "2024-03-02", "80", "no", "leaks"],
    ["Canoe", "Mira Holt", "North", "2025-03-09", "75.5", "yes", ""],
    ["Stove", "Ana Ruiz", "South", "2025-06-30", "7", "no", "spare part"],
]


@pytest.fixture(scope="module")
def loans() -> SheetTable:
    return first_table(written((None, LOANS)))


def read(question: str, table: SheetTable) -> RuleQuery:
    found = read_by_rule(question, table, "Loans 2025.csv")
    assert found, question
    return found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How much did Mira Holt pay for canoes?", ['sum("Fee EUR")', "'Mira Holt'", "'Canoe'"]),
        ("Average fee per desk", ['avg("Fee EUR")', 'GROUP BY "Desk"']),
        ("What is the highest fee?", ['ORDER BY "Fee EUR" DESC LIMIT 1']),
        ("The two cheapest loans", ['ORDER BY "Fee EUR" ASC LIMIT 2']),
        ("Which borrower paid the most in total?", ['GROUP BY "Borrower"', "DESC LIMIT 1"]),
        ("Who is the biggest borrower?", ['sum("Fee EUR")', 'GROUP BY "Borrower"', "LIMIT 1"]),
        ("Which month was the most expensive?", ["'%Y-%m'", 'sum("Fee EUR")', "DESC LIMIT 1"]),
        ("Which month had the lowest fees?", ["'%Y-%m'", 'sum("Fee EUR")', "ASC LIMIT 1"]),
        ("In which month did we spend the most?", ["'%Y-%m'", 'sum("Fee EUR")', "DESC LIMIT 1"]),
        ("Loans over 70 EUR", ['"Fee EUR" > 70']),
        ("loans with a fee between 7 and 20", ['"Fee EUR" >= 7', '"Fee EUR" <= 20']),
        ("Which loans are not returned?", ['"Returned" = false OR "Returned" IS NULL']),
        ("Loans without a remark", ['"Remark" IS NULL']),
        ("How many loans were there in 2025?", ["count(*)", 'year("Lent") = 2025']),
        ("Loans after March 2024", ["strftime(\"Lent\", '%Y-%m') > '2024-03'"]),
        ("loans since 2025", ['year("Lent") >= 2025']),
        ("How many borrowers are there?", ['count(DISTINCT "Borrower")']),
        ("List all items", ['SELECT DISTINCT "Item"']),
        ("Which desk lent the stove?", ['SELECT "Desk"', "'Stove'"]),
        ("Loans sorted by lent", ['ORDER BY "Lent" ASC']),
        ("Who has the canoe of the desk South?", ['SELECT "Borrower"', "'Canoe'", "'South'"]),
        ("Total fee per month", ["strftime", "GROUP BY"]),
        ("Wie viel hat Mira Holt insgesamt gezahlt?", ['sum("Fee EUR")', "'Mira Holt'"]),
    ],
)
def test_a_question_becomes_a_query(question: str, parts: list[str], loans: SheetTable) -> None:
    sql = read(question, loans).sql
    assert [part for part in parts if part not in sql] == [], sql


def test_what_is_not_read_is_told(loans: SheetTable) -> None:
    assert read("Total fee of the canoes", loans).unread == ()
    assert read("Total fee of the canoes with paddles", loans).unread == ("paddles",)


def test_conditions_are_told_in_words(loans: SheetTable) -> None:
    found = read("Total fee of Mira since 2025", loans)
    assert found.conditions == ("Borrower = Mira Holt", "Lent >= 2025")
    assert (found.made, found.column) == ("sum", "Fee EUR")


@pytest.mark.parametrize(
    "question",
    [
        "Why is the tower north of the lake so high?",
        "How much did we pay for canoes in Berlin?",
        "When does the canoe race of the northern clubs begin?",
        "What did the minister say about fees?",
        "Is item 4711 heavy?",
        "In which month did the heating break most often?",
        "How much is a ticket?",
        "How many people visited in 2025?",
        "List all broken items",
    ],
)
def test_a_question_about_something_else_is_none(question: str, loans: SheetTable) -> None:
    assert read_by_rule(question, loans, "Loans 2025.csv") is None


def test_quotes_in_cells_stay_text() -> None:
    rows = [["Name", "Fee"], ["O'Neil {x}", "1"], ['"Zed" Ltd', "2"], ["Kay", "3"]]
    table = first_table(written((None, rows)))
    found = read_by_rule("fee of O'Neil {x}", table, "fees.csv")
    assert found
    assert "'O''Neil {x}'" in found.sql


def test_what_is_open_is_not_paid() -> None:
    rows = [["Bill", "Sum", "Paid"], ["A-1", "4", "yes"], ["A-2", "9", "no"], ["A-3", "1", "no"]]
    table = first_table(written((None, rows)))
    for question in ("Which bills are open?", "Open bills"):
        found = read_by_rule(question, table, "bills.csv")
        assert found, question
        assert found.conditions == ("Paid = no",)


@pytest.mark.parametrize("open_", ["still open", "unpaid", "not paid yet"])
def test_what_is_open_of_a_name_is_not_paid(open_: str) -> None:
    rows = [["Bill", "Customer", "Paid"], ["A-1", "Brook Ltd", "yes"], ["A-2", "Brook Ltd", "no"]]
    table = first_table(written((None, [*rows, ["A-3", "Heath Ltd", "no"]])))
    found = read_by_rule(f"Which bills of Brook are {open_}?", table, "bills.xlsx")
    assert found
    assert set(found.conditions) == {"Customer = Brook Ltd", "Paid = no"}
    of_one = read_by_rule("Is A-2 unpaid?", table, "bills.xlsx")
    assert not of_one or "Paid = no" not in of_one.conditions


def test_prices_are_not_added_beside_a_number_of_pieces() -> None:
    rows = [["Ware", "Pieces", "Price"], ["tea", "4", "2.5"], ["tea", "9", "3"], ["oil", "1", "8"]]
    table = first_table(written((None, rows)))
    asked = read_by_rule("How much tea did we sell?", table, "sold.csv")
    assert asked is None or "sum" not in asked.sql
    pieces = read_by_rule("Total pieces of tea", table, "sold.csv")
    assert pieces
    assert 'sum("Pieces")' in pieces.sql


def test_how_is_not_who_in_german(loans: SheetTable) -> None:
    found = read("Wie hoch war das für Stove in 2025?", loans)
    assert not found.sql.startswith('SELECT "Borrower" FROM')
