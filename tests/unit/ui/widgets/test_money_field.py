"""The field for an amount of money: it keeps small prices as they are."""

import pytest
from PySide6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.form_fields import money_field, show_number


@pytest.mark.parametrize(
    ("amount", "shown"), [(0.0, "0.00"), (2.5, "2.50"), (0.0375, "0.0375"), (1204.5, "1,204.50")]
)
def test_it_shows_as_many_digits_as_the_amount_has(amount: float, shown: str, qtbot: QtBot) -> None:
    field = money_field(100_000.0, " per million")
    qtbot.addWidget(field)
    field.setLocale(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    show_number(field, amount)
    assert field.text() == f"{shown} per million"
    assert field.value() == amount
