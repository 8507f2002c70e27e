"""The page "Backup": daily snapshots, backups to a file, and importing them. Qt thread."""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from threading import Event
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QHBoxLayout, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import told, tr
from desktop_rag.features.backup.backups import Backups, Tell
from desktop_rag.features.backup.manifest import (
    ENDING,
    BackupContents,
    Imported,
    Snapshot,
    in_words,
)
from desktop_rag.features.backup.snapshots import KEPT, Snapshots
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import written_day
from desktop_rag.ui.foundation.wording import collection_name, size_in_words
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.forms import choose_file, open_once, save_as
from desktop_rag.ui.widgets.layouts import Stretch, clear, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage, scrolling

_WIDTH_PX = 520
_MOST_HEIGHT_PX = 520
# Further ones are counted.
_LISTED = 8
_MERGED = tr(
    "What both have is kept once. Nothing of your library is removed; of assistants and prompts the"
    " newer one stays."
)
_NOT_HERE = tr("Not on this computer, shown as offline until they are there or you remove them:")
_ENDPOINTS = tr(
    "Names these endpoints, which would receive questions or texts. Check that they are yours:"
)
_INDEX_PART = tr(
    "It also holds an index. That is taken into an empty library only, with the app closed:"
    " desktop-rag backup import. Here the folders are read again."
)


class ImportDialog(QDialog):
    """Shows a backup's content; accepted when the person wants to merge it into the library."""

    def __init__(self, name: str, contents: BackupContents, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Import a backup"))
        self.setMinimumWidth(_WIDTH_PX)
        body = QWidget()
        self._column = vertical(on=body, spacing=10)
        of, day = tr("everything"), written_day(date.fromisoformat(contents.day))
        if contents.collection:
            of = tr("the collection “{collection}”", collection=contents.collection)
        title = tr("{name}: a backup of {of} from {day}", name=name, of=of, day=day)
        self._say(title, scale="heading")
        self._say(tr("It holds {in_words}.", in_words=told(in_words(contents.counts))))
        self._say(_MERGED, tone="muted")
        if contents.has_settings:
            settings = tr("Its settings are taken only if you have not changed any here.")
            self._say(settings, tone="muted")
        if contents.has_index:
            self._say(_INDEX_PART, tone="muted")
        self._list(_ENDPOINTS, contents.addresses)
        self._list(_NOT_HERE, contents.missing)
        self._column.addStretch(1)
        scroll = scrolling(body, tr("What the backup holds"))
        scroll.setMinimumHeight(min(_MOST_HEIGHT_PX, self._column.heightForWidth(_WIDTH_PX - 24)))
        vertical((scroll, 1), self._buttons(), on=self)

    def _buttons(self) -> QHBoxLayout:
        merge = TextButton(tr("Import"), kind="primary", then=self.accept)
        merge.setDefault(True)
        cancel = TextButton(tr("Cancel"), then=self.reject)
        return horizontal(Stretch(), cancel, merge)

    def _say(self, words: str, *, tone: str = "", scale: str = "") -> None:
        self._column.addWidget(
            PlainLabel(words, tone=tone, scale=scale, wrap=True, selectable=True)
        )

    def _list(self, heading: str, items: tuple[str, ...]) -> None:
        if not items:
            return
        more = len(items) - _LISTED
        shown = [*items[:_LISTED], *([tr("and {more:,} more", more=more)] if more > 0 else [])]
        self._say(heading, tone="warning")
        self._say("\n".join(shown))


T = TypeVar("T")

_FILTER = tr("Backups (*{ENDING})", ENDING=ENDING)
_SNAPSHOTS = tr(
    "Once a day, chats, feedback, assistants, prompts, collections, the list of folders and"
    " settings are also kept in a file of their own, the last {KEPT} of them. If the library is"
    " lost, it is filled from the newest at the next start.",
    KEPT=KEPT,
)
_SHORTEST_NAME = 8
_BACKUP = tr(
    "One file with the same content, to keep elsewhere or to move to another computer. Keys are"
    " never in it; whoever has the file can read your chats."
)
_INDEX = tr(
    "Also holds the text of your documents, so that they need not be read again. It fits into an"
    " empty library of the same version of the app."
)
_IMPORT = tr("Merges a backup into the library. You see what it holds first.")
_TICK_MS = 150


class BackupPage(ScrolledPage):
    """Reads the list of snapshots whenever it is shown."""

    def __init__(self, bridge: Bridge, backups: Backups, snapshots: Snapshots) -> None:
        super().__init__(tr("Backup"))
        self._bridge = bridge
        self._backups = backups
        self._snapshots = snapshots
        self._collections: Sequence[Collection] = ()
        self._cancel = Event()
        self._said: deque[str] = deque(maxlen=1)
        self._progress = PlainLabel("", wrap=True)
        self._stop = TextButton(tr("Cancel"), then=self._on_cancel_clicked)
        self._ticks = QTimer(self, interval=_TICK_MS)
        self._ticks.timeout.connect(self._on_tick)
        # First, so that it is in sight whatever was clicked.
        self._build_state()
        self._build_snapshots()
        self._build_backup()
        self._build_import()
        self._set_busy(False)

    # --- parts -------------------------------------------------------------------------------

    def _build_snapshots(self) -> None:
        section = SettingsSection(tr("Daily snapshots"), _SNAPSHOTS)
        self._last = PlainLabel("")
        section.add_row(tr("Last snapshot"), self._last)
        self._rows = QWidget()
        self._row_column = vertical(on=self._rows, margins=0, spacing=6)
        section.add_note(self._rows)
        self.column.addWidget(section)

    def _build_backup(self) -> None:
        section = SettingsSection(tr("Back up to a file"), _BACKUP)
        self.with_index = QCheckBox(tr("With the index"))
        section.add_row("", self.with_index)
        section.add_note(note(_INDEX))
        self._everything = TextButton(
            tr("Back up everything…"),
            kind="primary",
            then=lambda: self._ask_where("desktop-rag", None),
        )
        section.add_row(tr("Everything"), self._everything)
        self._choice = DropDown()
        # The names come once it is shown; a long one gives way.
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choice.setMinimumContentsLength(_SHORTEST_NAME)
        self._one = TextButton(tr("Back up a collection…"), then=self._on_collection_clicked)
        section.add_row(tr("One collection"), self._choice, self._one)
        self.column.addWidget(section)

    def _build_import(self) -> None:
        section = SettingsSection(tr("Import"), _IMPORT)
        self._import = TextButton(tr("Import a backup…"), then=self._on_import_clicked)
        section.add_row(tr("From a file"), self._import)
        self.column.addWidget(section)

    def _build_state(self) -> None:
        self._state = SettingsSection(tr("Progress and result"))
        self._state.add_row(tr("Latest"), self._progress, self._stop, is_wide=True)
        self.column.addWidget(self._state)
        self._state.hide()

    # --- what is there -----------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the snapshots and collections again."""
        self._bridge.run(
            self, lambda: (self._snapshots.all(), self._backups.collections()), self._on_read
        )

    def _on_read(self, found: tuple[Sequence[Snapshot], Sequence[Collection]]) -> None:
        snapshots, self._collections = found
        self._last.setText(_written(snapshots[0]) if snapshots else tr("None yet"))
        clear(self._row_column)
        for snapshot in snapshots:
            button = self._restore_button(snapshot)
            self._row_column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        chosen = self._choice.currentText()
        self._choice.clear()
        self._choice.addItems([collection_name(c) for c in self._collections])
        self._choice.setCurrentIndex(max(0, self._choice.findText(chosen)))
        self._set_busy(self._ticks.isActive())

    def _restore_button(self, snapshot: Snapshot) -> TextButton:
        day, size = _written(snapshot), size_in_words(snapshot.size)
        words = tr("Restore {day} ({size_in_words})…", day=day, size_in_words=size)
        button = TextButton(words, kind="quiet")
        button.setAccessibleDescription(tr("Shows what the snapshot holds first"))
        button.setEnabled(not self._ticks.isActive())
        button.clicked.connect(
            lambda: self._preview(snapshot.file, tr("Snapshot of {day}", day=day))
        )
        return button

    # --- backing up --------------------------------------------------------------------------

    @Slot()
    def _on_collection_clicked(self) -> None:
        collection = self._collections[self._choice.currentIndex()]
        self._ask_where(collection.name, collection)

    def _ask_where(self, name: str, collection: Collection | None) -> None:
        kept = "".join(c if c.isalnum() or c in " -_" else " " for c in name)
        save_as(
            self,
            tr("Back up"),
            f"{' '.join(kept.split())[:60] or 'backup'}{ENDING}",
            {_FILTER: ENDING.removeprefix(".")},
            lambda path: self.back_up(Path(path), collection),
            name="backupDialog",
        )

    def back_up(self, file: Path, collection: Collection | None = None) -> None:
        """Write a backup to this file."""
        with_index = self.with_index.isChecked()

        def work(tell: Tell, cancel: Event) -> BackupContents | None:
            return self._backups.export(
                file, collection=collection, with_index=with_index, tell=tell, cancel=cancel
            )

        def done(contents: BackupContents | None) -> None:
            if contents:
                words = told(in_words(contents.counts))
                self._finish(tr("Backed up to {file}: {in_words}.", file=file, in_words=words))

        self._run(work, done)

    # --- taking in ---------------------------------------------------------------------------

    @Slot()
    def _on_import_clicked(self) -> None:
        def preview(path: str) -> None:
            self._preview(Path(path), Path(path).name)

        title, filters = tr("Import a backup"), [_FILTER, tr("All files (*)")]
        choose_file(self, title, preview, name="importBackupDialog", filters=filters)

    def _preview(self, file: Path, name: str) -> None:
        def work(tell: Tell, cancel: Event) -> BackupContents:
            tell(tr("Checking every value…"))
            return self._backups.examine(file, cancel=cancel)

        def ask(contents: BackupContents) -> None:
            self._finish("")
            dialog = ImportDialog(name, contents, self)
            dialog.accepted.connect(lambda: self.take_in(file))
            open_once(dialog)

        self._run(work, ask)

    def take_in(self, file: Path) -> None:
        """Merge a backup into the library."""

        def work(tell: Tell, cancel: Event) -> Imported:
            return self._backups.import_file(file, tell=tell, cancel=cancel)

        self._run(work, lambda done: self._finish(_result(done)))

    # --- one piece of work at a time ---------------------------------------------------------

    def _run(self, work: Callable[[Tell, Event], T], done: Callable[[T], None]) -> None:
        cancel = self._cancel = Event()
        self._said.clear()
        self._progress.setText(tr("Starting…"))
        self._set_busy(True)

        def guarded() -> list[T]:
            try:
                return [work(self._said.append, cancel)]
            except Cancelled:
                return []

        def finish(result: list[T]) -> None:
            if result:
                done(result[0])
            else:
                self._finish(tr("Cancelled. Nothing was changed."))

        def fail(error: AppError) -> None:
            self._finish("")
            self._bridge.post(error)

        self._bridge.run(self, guarded, finish, fail)

    def _finish(self, said: str) -> None:
        self._set_busy(False)
        self._progress.setText(told(said))
        self._state.setVisible(bool(said))
        self.refresh()

    def _set_busy(self, is_busy: bool) -> None:
        for button in (self._everything, self._import, *self._rows.findChildren(TextButton)):
            button.setEnabled(not is_busy)
        self._choice.setEnabled(not is_busy and bool(self._collections))
        self._one.setEnabled(not is_busy and bool(self._collections))
        self._stop.setVisible(is_busy)
        self._stop.setEnabled(is_busy)
        if is_busy:
            self._state.show()
            self._ticks.start()
        else:
            self._ticks.stop()

    @Slot()
    def _on_tick(self) -> None:
        if self._said:
            self._progress.setText(told(self._said.popleft()))

    @Slot()
    def _on_cancel_clicked(self) -> None:
        self._cancel.set()
        self._stop.setEnabled(False)
        self._progress.setText(tr("Cancelling…"))


def _result(done: Imported) -> str:
    said = [tr("Added or changed: {in_words}.", in_words=told(in_words(done.added)))]
    if done.takes_settings:
        said.append(tr("The settings were taken too."))
    if done.no_index:
        said.append(tr("The index was left out. {no_index}", no_index=done.no_index))
    if done.overlapping:
        said.append(tr("Left out, because a part is in the library already: "))
        said[-1] += ", ".join(done.overlapping) + "."
    if done.contents.missing:
        said.append(tr("Not on this computer: {join}.", join=", ".join(done.contents.missing)))
    return " ".join(said)


def _written(snapshot: Snapshot) -> str:
    return written_day(date.fromisoformat(snapshot.day))
