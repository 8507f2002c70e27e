"""Every widget in every state, on sheets for eyes to judge.

python -m tests.looks.gallery [OUT]

A sheet is a picture of widgets of one subject, each beside the name of its state, in light and
dark, at usual and at double scale. `make gallery` runs it.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import PlainLabel
from tests.looks import control_sheets, room_sheets

_SCALES = ("1", "2")
_SCHEMES = (ColourScheme.LIGHT, ColourScheme.DARK)
_WIDTH_PX, _MARGIN_PX, _GAP_PX = 860, 20, 14

Shown = tuple[str, QWidget]
SHEETS: dict[str, Callable[[Theme], Iterable[Shown]]] = {
    "labels": control_sheets.labels,
    "buttons": control_sheets.buttons,
    "fields": control_sheets.fields,
    "cards": control_sheets.cards,
    "rows": control_sheets.rows,
    "parts": control_sheets.parts,
    "icons": control_sheets.icons,
    "answers": room_sheets.answers,
    "sources": room_sheets.sources,
    "folders": room_sheets.folders,
    "composer": room_sheets.composer,
}


def sheet(theme: Theme, name: str) -> QWidget:
    """The widgets of a sheet, laid out beside the names of their states."""
    made = QWidget()
    made.setWindowTitle(name)
    grid = QGridLayout(made)
    grid.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, _MARGIN_PX)
    grid.setSpacing(_GAP_PX)
    grid.setColumnStretch(1, 1)
    for row, (state, widget) in enumerate(SHEETS[name](theme)):
        grid.addWidget(PlainLabel(state, tone="muted", scale="small"), row, 0)
        grid.addWidget(widget, row, 1)
    made.resize(_WIDTH_PX, made.sizeHint().height())
    return made


def _take_all(out: Path, scheme: str, scale: str) -> None:
    qt = QApplication.instance() or QApplication([])
    assert isinstance(qt, QApplication)
    theme = Theme(qt, resources_dir(), AppearanceSettings(ColourScheme(scheme)))
    for name in SHEETS:
        made = sheet(theme, name)
        made.show()
        for _ in range(3):
            qt.processEvents()
        made.resize(_WIDTH_PX, max(made.heightForWidth(_WIDTH_PX), made.sizeHint().height()))
        qt.processEvents()
        made.grab().save(str(out / f"{name}-{scheme}-{scale}x.png"))
        made.close()


def main() -> None:
    """Draw each combination of colours and scale in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", default=Path("build/gallery"))
    parser.add_argument("--one", nargs=2, metavar=("COLOURS", "SCALE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.one:
        _take_all(arguments.out, *arguments.one)
        return
    for scheme in _SCHEMES:
        for scale in _SCALES:
            command = [sys.executable, "-m", "tests.looks.gallery", str(arguments.out)]
            settings = {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale}
            subprocess.run(
                [*command, "--one", scheme, scale], env={**os.environ, **settings}, check=True
            )
    sys.stdout.write(f"{len(list(arguments.out.glob('*.png')))} pictures in {arguments.out}\n")


if __name__ == "__main__":
    main()
