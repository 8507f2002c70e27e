"""A dialog for the rules of a folder, with a preview of the files they include. Qt thread.

The bridge counts the folder again after each change; no file is opened.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QTreeWidgetItemIterator,
    QWidget,
)

from desktop_rag.core.domain import WHOLE_FOLDER, Collection, Source, SourceRules
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, number_in_words, told, tr
from desktop_rag.core.library_events import FolderPreview, LeftOut
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import hint_of, one_line, size_in_words, title_of
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.library.encoding_menu import encoding_field
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note, text_area
from desktop_rag.ui.widgets.layouts import Stretch, clear, fill, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import scrolling

_DELAY_MS = 400
_TREE_PX = 150
_PATH = Qt.ItemDataRole.UserRole
# What has a meaning in a pattern.
_SPECIAL = re.compile(r"[\\*?\[\]]")


class SubfolderTree(QTreeWidget):
    """The folders below a folder, ticked unless a pattern leaves them out.

    A folder is read when it is opened, on a worker thread. `chosen` carries a pattern, and whether
    it is to leave its folder out.
    """

    chosen = Signal(str, bool)

    def __init__(self, bridge: Bridge, root: Path) -> None:
        super().__init__()
        self._bridge = bridge
        self._root = root
        self._patterns = frozenset[str]()
        self.setHeaderLabel(tr("Subfolders"))
        self.setAccessibleName(tr("Subfolders"))
        self.setMinimumHeight(_TREE_PX)
        self.hide()
        self.itemChanged.connect(self._on_changed)
        self.itemExpanded.connect(self._read)
        self._read(self.invisibleRootItem())

    def show_patterns(self, patterns: Sequence[str]) -> None:
        """Tick the folders that these patterns don't name."""
        self._patterns = frozenset(patterns)
        every = QTreeWidgetItemIterator(self)
        with QSignalBlocker(self):
            while item := every.value():
                self._tick(item)
                every += 1

    @Slot(QTreeWidgetItem)
    def _read(self, item: QTreeWidgetItem) -> None:
        if not item.childCount():
            below = item.data(0, _PATH) or ""
            folder = self._root / below
            self._bridge.run(
                self, lambda: _subfolders(folder), lambda names: self._add(item, below, names)
            )

    def _add(self, item: QTreeWidgetItem, below: str, names: Sequence[str]) -> None:
        with QSignalBlocker(self):
            for name in names:
                child = QTreeWidgetItem(item, [one_line(name)])
                child.setData(0, _PATH, f"{below}{name}/")
                child.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
                self._tick(child)
        if not names:
            item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.DontShowIndicator)
        if below == "":
            self.setVisible(bool(names))

    def _tick(self, item: QTreeWidgetItem) -> None:
        """A folder in one that is left out is left out with it."""
        above = item.parent()
        is_above_in = above is None or above.checkState(0) is Qt.CheckState.Checked
        is_in = is_above_in and _pattern(item) not in self._patterns
        item.setCheckState(0, Qt.CheckState.Checked if is_in else Qt.CheckState.Unchecked)
        item.setDisabled(not is_above_in)

    @Slot(QTreeWidgetItem)
    def _on_changed(self, item: QTreeWidgetItem) -> None:
        self.chosen.emit(_pattern(item), item.checkState(0) is Qt.CheckState.Unchecked)


def _pattern(item: QTreeWidgetItem) -> str:
    return "/" + _SPECIAL.sub(r"\\\g<0>", item.data(0, _PATH))


def _subfolders(folder: Path) -> list[str]:
    """On a worker thread: the names of the folders in a folder that can be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.is_dir() and not e.name.startswith("."))
    except OSError:
        return []


class RulesForm(QWidget):
    """Edits SourceRules; `changed` follows once the person stops typing."""

    changed = Signal()

    def __init__(
        self, rules: SourceRules, parent: QWidget | None = None, *, is_new: bool = False
    ) -> None:
        """A folder that `is_new` is asked for no patterns yet."""
        super().__init__(parent)
        self._delay = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._delay.timeout.connect(self.changed)
        self._gitignore = QCheckBox(tr("Skip files ignored by .gitignore"))
        self._hidden = QCheckBox(tr("Include hidden files and folders"))
        self._patterns = text_area(
            tr("Patterns to exclude"), lines=3, example="*.log\n/archive/\nnode_modules"
        )
        self._before = rules
        self._gitignore.setChecked(rules.uses_gitignore)
        self._hidden.setChecked(rules.includes_hidden)
        self._patterns.setPlainText("\n".join(rules.excluded))
        self._build(has_patterns=not is_new)
        for box in (self._gitignore, self._hidden):
            box.toggled.connect(self._on_edited)
        self._patterns.textChanged.connect(self._on_edited)

    @property
    def rules(self) -> SourceRules:
        """The rules as entered."""
        lines = self._patterns.toPlainText().splitlines()
        return replace(
            self._before,
            uses_gitignore=self._gitignore.isChecked(),
            includes_hidden=self._hidden.isChecked(),
            excluded=tuple(line.strip() for line in lines if line.strip()),
        )

    @Slot(str, bool)
    def leave_out(self, pattern: str, is_out: bool) -> None:
        """Add a pattern, or take it away."""
        others = [line for line in self.rules.excluded if line != pattern]
        self._patterns.setPlainText("\n".join([*others, pattern] if is_out else others))

    def _build(self, *, has_patterns: bool) -> None:
        column = vertical(self._gitignore, self._hidden, on=self, margins=0, spacing=6)
        if has_patterns:
            fill(
                column,
                PlainLabel(tr("Exclude")),
                self._patterns,
                note(tr("One pattern per line, as in a .gitignore file.")),
            )

    @Slot()
    def _on_edited(self) -> None:
        self._delay.start()


_MAX_FORMATS = 6


class PreviewPanel(Card):
    """Shows a FolderPreview: files and excluded ones; or that they are counted."""

    def __init__(self) -> None:
        super().__init__()
        self._headline = PlainLabel(scale="heading", wrap=True)
        self._details = PlainLabel(tone="muted", wrap=True)
        self._left_out = PlainLabel(tr("Excluded"), scale="small")
        body = QWidget()
        self._list = vertical(on=body, margins=0, spacing=8)
        scroll = scrolling(body, tr("Excluded files"))
        scroll.setObjectName("leftOut")
        vertical(
            self._headline,
            self._details,
            self._left_out,
            (scroll, 1),
            on=self,
            margins=(16, 14, 16, 14),
            spacing=8,
        )

    def show_counting(self) -> None:
        """Show that the files are being counted."""
        self._show_summary(tr("Counting files…"), "")

    def show_error(self, error: AppError) -> None:
        """Show why the folder can't be read."""
        self._show_summary(title_of(error), hint_of(error))

    def show_preview(self, preview: FolderPreview) -> None:
        """Show the files to index and the excluded ones."""
        files = count_of(preview.files, tr("file"), tr("files"))
        if not preview.files:
            self._show_summary(
                tr("Nothing to index"),
                tr("With these rules, no file in this folder would be searchable."),
            )
        else:
            self._show_summary(
                tr(
                    "{files} to index, {size_in_words}",
                    files=files,
                    size_in_words=size_in_words(preview.size_bytes),
                ),
                tr(
                    "{formats}. Searchable by words almost at once, by meaning later.",
                    formats=_formats_in_words(preview.by_format),
                )
                + _fetching_in_words(preview.fetch_seconds),
            )
        for left_out in preview.left_out:
            self._list.addWidget(_left_out_label(left_out))
        self._list.addStretch(1)
        self._left_out.setVisible(bool(preview.left_out))

    def _show_summary(self, headline: str, details: str) -> None:
        self._headline.setText(headline)
        self._details.setText(details)
        self._left_out.hide()
        clear(self._list)


def _fetching_in_words(seconds: float) -> str:
    """How long fetching takes; "" for what is on this computer."""
    minutes = count_of(max(1, round(seconds / 60)), tr("minute"), tr("minutes"))
    return " " + tr("Fetching takes about {minutes}.", minutes=minutes) if seconds else ""


def _formats_in_words(by_format: dict[str, int]) -> str:
    ordered = sorted(by_format.items(), key=lambda entry: -entry[1])
    shown = [f"{number_in_words(count)} {name}" for name, count in ordered[:_MAX_FORMATS]]
    others = sum(count for _, count in ordered[_MAX_FORMATS:])
    return ", ".join(
        [*shown, count_of(others, tr("other file"), tr("other files"))] if others else shown
    )


def _left_out_label(left_out: LeftOut) -> PlainLabel:
    examples = "\n".join(f"    {one_line(path)}" for path in left_out.examples)
    text = f"{number_in_words(left_out.files)} × {one_line(told(left_out.reason))}"
    return PlainLabel(f"{text}\n{examples}" if examples else text, scale="small", wrap=True)


_WIDTH_PX = 780
_HEIGHT_PX = 520


class FolderDialog(QDialog):
    """Adds a folder, or edits the rules of one in the library, which are more.

    When the person confirms, `submitted` carries the collection's name, the rules, and the address
    of the site that the folder mirrors ("" for none).
    """

    submitted = Signal(str, object, str)

    def __init__(
        self,
        bridge: Bridge,
        library: Library,
        path: Path,
        collections: Sequence[Collection],
        source: Source | None,
        parent: QWidget,
    ) -> None:
        """With a `source`, the dialog edits its rules; its collection stays."""
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._path = path
        self._cancel = Event()
        self._job = Job()
        self._collection = CollectionField(collections)
        rules = source.rules if source else SourceRules()
        self._rules = RulesForm(rules, is_new=source is None)
        self._base = QLineEdit(source.base_address if source else "")
        self._base.setPlaceholderText("https://example.org/guide/")
        self._base.setAccessibleName(tr("Address of the site"))
        self._encoding = encoding_field(rules.encodings.get(WHOLE_FOLDER, ""))
        self._subfolders = SubfolderTree(bridge, path)
        self._preview = PreviewPanel()
        self._confirm = TextButton(
            tr("Save") if source else tr("Add folder"),
            kind="primary",
            then=self._on_confirm_clicked,
        )
        self._cancel_button = TextButton(tr("Cancel"), then=self.reject)
        name = one_line(path.name or str(path))
        self.setWindowTitle(
            tr("Options for {name}", name=name) if source else tr("Add {name}", name=name)
        )
        self._build(is_new=source is None)
        self._confirm.setDefault(True)
        self._subfolders.chosen.connect(self._rules.leave_out)
        self._rules.changed.connect(self._count)
        self._count()

    def done(self, result: int) -> None:
        self._cancel.set()
        super().done(result)

    def _build(self, *, is_new: bool) -> None:
        left = vertical(spacing=8)
        if is_new:
            left.addWidget(PlainLabel(tr("Collection")))
            left.addWidget(self._collection)
        left.addWidget(self._rules)
        if not is_new:
            fill(
                left,
                PlainLabel(tr("Encoding of texts that do not name theirs")),
                self._encoding,
                PlainLabel(tr("Address of the site")),
                self._base,
                note(tr("For a folder that mirrors a site: its sources link there.")),
            )
        left.addStretch(1)
        right = vertical((self._subfolders, 1), (self._preview, 1), spacing=8)
        vertical(
            ElidedLabel(one_line(str(self._path)), scale="heading"),
            (horizontal((left, 2), (right, 3), spacing=20), 1),
            horizontal(Stretch(), self._cancel_button, self._confirm),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=14,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    @Slot()
    def _count(self) -> None:
        self._cancel.set()
        self._job.cancel()
        self._cancel = cancel = Event()
        library, path, rules = self._library, self._path, self._rules.rules
        self._subfolders.show_patterns(rules.excluded)
        self._preview.show_counting()
        self._job = self._bridge.run(
            self,
            lambda: library.sources.preview(path, rules, cancel=cancel),
            self._preview.show_preview,
            self._preview.show_error,
        )

    @Slot()
    def _on_confirm_clicked(self) -> None:
        rules = self._rules.rules.with_encoding(self._encoding.currentData(), WHOLE_FOLDER)
        self.submitted.emit(self._collection.name, rules, self._base.text().strip())
        self.accept()
