"""A group of buttons continues on further lines: none is ever narrower than its words."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.controls import ElidedLabel
from desktop_rag.ui.widgets.flow_row import WrappingRow


def test_no_button_is_cut_however_narrow_the_row_is(qtbot: QtBot) -> None:
    buttons = [QPushButton(words) for words in ("Add folder…", "Add files…", "Add web links…")]
    row = WrappingRow([ElidedLabel("Library")], buttons, at=1, stretched=0, min_px=40)
    qtbot.addWidget(row)
    row.show()
    widest = max(button.sizeHint().width() for button in buttons)
    for width in (900, 2 * widest, widest + 10):
        row.resize(width, 200)
        qtbot.waitUntil(lambda: all(b.width() >= b.sizeHint().width() for b in buttons))
        right = max(b.mapTo(row, b.rect().topRight()).x() for b in buttons)
        assert right < width
