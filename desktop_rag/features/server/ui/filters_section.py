"""Filters of installed packages: which ones requests pass, and in which order. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings
from desktop_rag.features.server.ui.program_access import ProgramRecords
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note

_INTRO = tr(
    "Installed Python packages may have filters that every request passes. They run inside the app"
    " and may do anything: tick only those that you trust."
)
_NONE = tr("No installed package has one. The guide to the local server says how one is written.")
_ORDER = tr(
    "Requests pass them from top to bottom. One for some models sees questions to these only;"
    " collection:* is every collection. When one can't be loaded, nothing is served."
)
_LONGEST_PATTERN = 200
_EVERY = "*"


class FiltersSection(SettingsSection):
    """Those of the settings in their order, then the others that are installed."""

    def __init__(
        self,
        bridge: Bridge,
        records: ProgramRecords,
        settings: EditedSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Filters of your own"), _INTRO, parent)
        self._bridge = bridge
        self._records = records
        self._settings = settings
        self._installed: Sequence[str] = ()
        listed = QWidget()
        self._rows = QVBoxLayout(listed)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(6)
        self._none = PlainLabel(_NONE, tone="muted", wrap=True)
        self._order = note(_ORDER)
        for below in (listed, self._none, self._order):
            self.add_note(below)
        settings.replaced.connect(self._on_replaced)
        self._show()

    @Slot()
    def refresh(self) -> None:
        """Look again which are installed."""
        self._bridge.run(self, self._records.filters, self._show_installed)

    def _show_installed(self, installed: Sequence[str]) -> None:
        self._installed = installed
        self._show()

    @Slot(object)
    def _on_replaced(self, _settings: Settings) -> None:
        self._show()

    # --- the rows ----------------------------------------------------------------------------

    def _show(self) -> None:
        while item := self._rows.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        chosen = [_parts(each) for each in self._settings.value.server.filters]
        for place, (name, pattern) in enumerate(chosen):
            self._rows.addWidget(self._row_of(name, pattern, place))
        known = {name for name, _ in chosen}
        others = [name for name in self._installed if name not in known]
        for name in others:
            self._rows.addWidget(self._row_of(name, "", None))
        self._none.setVisible(not (chosen or others))
        self._order.setVisible(bool(chosen or others))

    def _row_of(self, name: str, pattern: str, place: int | None) -> QWidget:
        """A filter; `place` is that in the order, None for one that is not used."""
        shown = one_line(name)
        row = QWidget(self)
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        is_there = name in self._installed
        words = shown if is_there else tr("{name} (not installed)", name=shown)
        box = QCheckBox(words.replace("&", "&&"))
        box.setAccessibleName(words)
        box.setChecked(place is not None)
        models = QLineEdit("" if pattern == _EVERY else pattern)
        models.setMaxLength(_LONGEST_PATTERN)
        models.setPlaceholderText(tr("All models"))
        models.setAccessibleName(tr("Models that {name} is for", name=shown))
        models.setEnabled(place is not None)
        earlier = TextButton(tr("Earlier"), kind="quiet")
        earlier.setAccessibleName(tr("Let requests pass {name} earlier", name=shown))
        earlier.setEnabled(bool(place))
        line.addWidget(box, 1, Qt.AlignmentFlag.AlignLeft)
        line.addWidget(models, 1)
        line.addWidget(earlier)
        box.toggled.connect(lambda is_on: self._use(name, place, is_on=is_on))
        models.editingFinished.connect(lambda: self._limit(place, name, models.text().strip()))
        earlier.clicked.connect(lambda: self._move(place))
        return row

    # --- what the person changes -------------------------------------------------------------

    def _use(self, name: str, place: int | None, *, is_on: bool) -> None:
        filters = list(self._settings.value.server.filters)
        if is_on:
            filters.append(name)
        elif place is not None:
            del filters[place]
        self._edit(filters)
        self._show()

    def _limit(self, place: int | None, name: str, pattern: str) -> None:
        filters = list(self._settings.value.server.filters)
        # A row that was replaced loses the focus once more.
        if place is None or [_parts(f)[0] for f in filters[place : place + 1]] != [name]:
            return
        filters[place] = f"{name}={pattern}" if pattern not in ("", _EVERY) else name
        self._edit(filters)

    def _move(self, place: int | None) -> None:
        if not place:
            return
        filters = list(self._settings.value.server.filters)
        filters.insert(place - 1, filters.pop(place))
        self._edit(filters)
        self._show()

    def _edit(self, filters: Sequence[str]) -> None:
        value = self._settings.value
        server = replace(value.server, filters=tuple(filters))
        self._settings.edit(replace(value, server=server))


def _parts(stored: str) -> tuple[str, str]:
    """The name of a filter and the pattern of its models."""
    name, _, pattern = stored.partition("=")
    return name.strip(), pattern.strip() or _EVERY
