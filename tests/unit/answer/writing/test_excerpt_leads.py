"""What items, lines of forms and further sentences stand under."""

import pytest

from desktop_rag.answer.writing.excerpt_units import heading_of, label_of, units_of


def led(text: str, above: str = "") -> list[tuple[str, str]]:
    return [(unit.lead, unit.text) for unit in units_of(text, above=above)]


def test_items_stand_under_the_line_that_announces_them() -> None:
    text = (
        "We pay for the roof.\n\nNot insured are:\n- the fence\n- the chairs\n\nPlease write to us."
    )
    assert led(text) == [
        ("", "We pay for the roof."),
        ("", "Not insured are:"),
        ("Not insured are:", "the fence"),
        ("Not insured are:", "the chairs"),
        ("", "Please write to us."),
    ]


def test_items_of_the_next_passage_stand_under_the_line_above_it() -> None:
    above = "For 2027, the company expects:\n• sales of $4 million;\n"
    assert led("• costs of $3 million.", above) == [
        ("For 2027, the company expects:", "costs of $3 million.")
    ]


def test_items_stand_under_a_heading_right_above_them() -> None:
    text = "## Highlights of 2026\n\n- Sales rose.\n- Costs fell. They were 3 million."
    assert led(text)[1:] == [
        ("Highlights of 2026", "Sales rose."),
        ("Highlights of 2026", "Costs fell."),
        ("Highlights of 2026", "They were 3 million."),
    ]


def test_items_below_an_item_stand_under_it_and_those_beside_it_do_not() -> None:
    text = "We expect:\n- sales which include:\n  - lamps\n- costs of 3 million"
    assert led(text)[2:] == [
        ("sales which include:", "lamps"),
        ("We expect:", "costs of 3 million"),
    ]
    flat = "We expect:\n• sales which include:\n• lamps\n• costs of 3 million"
    assert {lead for lead, _ in led(flat)[1:]} == {"We expect:"}


def test_the_label_of_a_line_holds_for_all_of_it_and_no_further() -> None:
    text = "• Outlook for 2027: Sales rise. Costs fall.\nThe keeper said so."
    assert led(text) == [
        ("", "Outlook for 2027: Sales rise."),
        ("Outlook for 2027:", "Costs fall."),
        ("", "The keeper said so."),
    ]


def test_a_label_with_a_date_or_an_amount_says_nothing_of_the_next_sentence() -> None:
    assert led("Letzte Wartung: 4. November 2025. Nächste Wartung im Mai 2026.") == [
        ("", "Letzte Wartung: 4. November 2025."),
        ("", "Nächste Wartung im Mai 2026."),
    ]


def test_lines_of_a_form_stand_under_its_heading() -> None:
    text = "2. Charges\nMonthly rental: £284.50\nInitial payment: £1,707.00"
    assert led(text) == [
        ("Charges", "Monthly rental: £284.50"),
        ("Charges", "Initial payment: £1,707.00"),
    ]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("TOP 3: The tap costs 1,900 euros.", "TOP 3:"),
        ("- **Not insured:** the fence", "Not insured:"),
        ("The reason is simple: it rains.", ""),
        ("The forest (Portuguese: floresta) is large.", ""),
        ("It begins at 8:30 on Saturday.", ""),
        ("Boats:", ""),
    ],
)
def test_labels(line: str, label: str) -> None:
    assert label_of(line) == label


@pytest.mark.parametrize(
    "line", ["Table of Contents", "43", "It is lit.", "to be continued,", "To: Tom"]
)
def test_what_is_no_heading(line: str) -> None:
    assert heading_of(line) == ""


def test_each_label_of_a_line_stands_for_itself() -> None:
    text = "Address: Quay 4, Oslo. Phone: 55 10 20. Founded: 1931. Contact: Mira Holt."
    assert led(text) == [
        ("", "Address: Quay 4, Oslo."),
        ("", "Phone: 55 10 20."),
        ("", "Founded: 1931."),
        ("", "Contact: Mira Holt."),
    ]
