"""The ways to written answers: a model of this computer, a program, an online service; and the
list of all models. Qt thread.

A download goes on while the dialog is closed; its model answers once it is there.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from PySide6.QtCore import QLocale, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QProgressBar, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.language.translation import number_in_words, told, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.features.local_model.catalogue import OfferedModel, Suggestion, offered_models
from desktop_rag.features.local_model.downloads import Download, DownloadChanged, DownloadState
from desktop_rag.features.local_model.local_models import LocalModel, LocalModels
from desktop_rag.models.endpoints.endpoint_check import LocalServer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name
from desktop_rag.ui.foundation.wording import failure_in_words, one_line, size_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.file_drop import FileDrop
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.forms import (
    RowAction,
    RowList,
    ask_first,
    choose_file,
    open_once,
    row_of,
)
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

_LIST_WIDTH_PX, _HEIGHT_PX = 560, 520
_NONE = tr("None yet.")
_HERE = tr("On this computer")


@dataclass(frozen=True, slots=True)
class _Known:
    here: Sequence[LocalModel]
    begun: Mapping[str, Download]
    suggestion: Suggestion


class ModelsDialog(QDialog):
    """Lists the models; `picked` carries the LocalModel to use or the OfferedModel to fetch."""

    picked = Signal(object)

    def __init__(self, bridge: Bridge, models: LocalModels, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._models = models
        self.setWindowTitle(tr("Models"))
        self.resize(_LIST_WIDTH_PX, _HEIGHT_PX)
        self._title = PlainLabel(_HERE, scale="heading", wrap=True)
        self._here, self._offered = RowList(), RowList()
        self._fault = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._fault.hide()
        content = QWidget()
        place = models.downloads
        fetched = tr("To fetch from {host}", host=place.host)
        vertical(
            self._title,
            self._here,
            PlainLabel(fetched, scale="heading", wrap=True),
            PlainLabel(
                tr("Kept in {folder}", folder=breakable(place.folder)), tone="muted", wrap=True
            ),
            self._offered,
            on=content,
            spacing=12,
        )
        close = horizontal(Stretch(), TextButton(tr("Close"), then=self.reject))
        vertical((ContentScroll(content), 1), self._fault, close, on=self, margins=(8, 8, 8, 12))
        self._refresh()

    def _refresh(self) -> None:
        self._bridge.run(self, self._look, self._show, self._show_fault)

    def _look(self) -> _Known:
        """On a worker thread: the disk is read."""
        begun = {
            download.model.name: download
            for download in self._models.downloads.all()
            if download.state is not DownloadState.DONE
        }
        return _Known(self._models.all(), begun, self._models.suggestion())

    def _show(self, known: _Known) -> None:
        fetched = sum(model.header.size_bytes for model in known.here if model.is_fetched)
        if fetched:
            size = size_in_words(fetched)
            self._title.setText(tr("On this computer; the fetched ones take {size}", size=size))
        else:
            self._title.setText(_HERE)
        self._here.show_rows(map(self._row_here, known.here), _NONE)
        there = {model.path.name for model in known.here}
        self._offered.show_rows(
            self._row_offered(model, known) for model in offered_models() if model.file not in there
        )

    def _row_here(self, model: LocalModel) -> QWidget:
        name, actions = one_line(model.name), list[RowAction]()
        if not model.is_used:
            told_of = tr("Use {name}", name=name)
            actions.append((tr("Use it"), told_of, lambda: self._pick(model)))
        if not model.program:
            told_of = tr("Remove {name}", name=name)
            actions.append((tr("Remove…"), told_of, lambda: self._ask_to_remove(model)))
        return row_of(name, actions, [note(", ".join(_facts_here(model)))])

    def _row_offered(self, model: OfferedModel, known: _Known) -> QWidget:
        name, begun = model.name, known.begun.get(model.name)
        fetch = tr("Continue") if begun else tr("Fetch it")
        actions = [(fetch, tr("Fetch {name}", name=name), lambda: self._pick(model))]
        lines = [", ".join(_facts_offered(model)), _languages(model)]
        if begun:
            told_of = tr("Remove {name}", name=name)
            actions.append((tr("Remove…"), told_of, lambda: self._ask_to_discard(begun)))
            lines.append(in_words(begun))
        if model == known.suggestion.model:
            lines.append(told(known.suggestion.reason))
        return row_of(name, actions, map(note, lines))

    def _pick(self, model: LocalModel | OfferedModel) -> None:
        self.close()
        self.picked.emit(model)

    def _ask_to_remove(self, model: LocalModel) -> None:
        name, size = one_line(model.name), size_in_words(model.header.size_bytes)
        if model.is_fetched:
            text = tr("Delete “{name}”?\n\n{size} become free.", name=name, size=size)
        else:
            text = tr("Take “{name}” off the list?\n\nIts file stays.", name=name)
        self._ask(text, lambda: self._models.remove(model.name))

    def _ask_to_discard(self, download: Download) -> None:
        name, size = download.model.name, size_in_words(download.done_bytes)
        text = tr(
            "Delete what was fetched of “{name}”?\n\n{size} become free.", name=name, size=size
        )
        self._ask(text, lambda: self._models.downloads.discard(download.model))

    def _ask(self, text: str, remove: Callable[[], object]) -> None:
        def do() -> None:
            self._fault.hide()
            self._bridge.run(self, remove, lambda _freed: self._refresh(), self._show_fault)

        ask_first(self, tr("Remove model"), text, tr("Remove"), do)

    def _show_fault(self, error: AppError) -> None:
        self._fault.say(failure_in_words(error))


def breakable(folder: Path) -> str:
    """A folder whose long path may be broken behind each part."""
    return str(folder).replace(os.sep, f"{os.sep}\u200b")


def in_words(download: Download) -> str:
    """How far a download is."""
    done, total = size_in_words(download.done_bytes), size_in_words(download.total_bytes)
    return tr("{name}: {done} of {total}", name=download.model.name, done=done, total=total)


def _facts_here(model: LocalModel) -> Iterator[str]:
    if model.is_used:
        yield tr("in use")
    if model.makes_things_up:
        yield tr("makes things up: only what your documents back is shown")
    yield size_in_words(model.header.size_bytes)
    if tokens := model.context_tokens:
        yield tr("reads {count} tokens", count=number_in_words(tokens))
    yield from filter(None, (model.header.quantisation, one_line(model.header.licence)))
    if model.program:
        yield tr("kept by {program}, which also removes it", program=model.program)
    if not model.fits:
        yield tr("too large for the memory that is free")
    if model.written_per_s:
        speed, device = model.written_per_s, one_line(model.device)
        yield tr("writes {count:.0f} tokens a second on {device}", count=speed, device=device)


def _facts_offered(model: OfferedModel) -> Iterator[str]:
    if model.makes_things_up:
        yield tr("makes things up: only what your documents back is shown")
    yield tr("about {size}", size=size_in_words(model.size_bytes))
    yield tr("for {size:.0f} GB of memory", size=model.memory_gb)
    yield model.licence
    if model.calls_tools:
        yield tr("calls tools")


def _languages(model: OfferedModel) -> str:
    # Their own names may be in letters that this computer cannot show.
    own = QLocale().name().partition("_")[0]
    names = ", ".join(language_name(code, own) for code in model.languages)
    if not model.more_languages:
        return names
    return tr("{names} and about {count} more", names=names, count=model.more_languages)


_WIDTH_PX = 520
_PARTS = 1_000
_MOST_NAMED = 3
# At 100 Mbit/s.
_MINUTES_A_GB = 8_000 / 100 / 60
_FILES = tr("Models (*.gguf)")
_INTRO = tr("A model writes answers from your documents. Choose where it runs; you can change it.")
_ABSENT = tr(
    "This installation can't run models by itself. Use one of the ways below, or add what it needs:"
)
_PROGRAMS = tr("Ollama, LM Studio, llama.cpp and others, at their usual addresses.")
_LOOKING = tr("Looking at the usual addresses…")
_NO_PROGRAM = tr("None answers at the usual addresses.")
_SERVICE = tr("It needs a key, and is sent the passages that a question finds.")


@dataclass(frozen=True, slots=True)
class _Offer:
    """What this computer has: the best model found, the one to fetch, and a download of it.

    `used` is the name of the model of this computer that answers, if one does. `others` are models
    too small or too large to be offered by themselves.
    """

    used: str
    found: LocalModel | None
    others: Sequence[LocalModel]
    suggestion: Suggestion
    download: Download | None
    is_installed: bool


class WaysDialog(QDialog):
    """Offers the best way for this computer first.

    `settings_requested` leads to programs and services, `notified` carries a Notice, `progressed`
    a download or loading in words, "" once it has ended.
    """

    settings_requested = Signal()
    notified = Signal(object)
    progressed = Signal(str)

    def __init__(self, bridge: Bridge, models: LocalModels, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._models = models
        self._offer: _Offer | None = None
        self._server: LocalServer | None = None
        # What is loaded, in words.
        self._loading = ""
        self._build()
        FileDrop(self, self, lambda _: True).dropped.connect(lambda paths: self.give(paths[0]))
        bridge.hear(DownloadChanged, self._on_download_changed)

    def _build(self) -> None:
        self.setWindowTitle(tr("Written answers"))
        self.setMinimumWidth(_WIDTH_PX)
        self._words = PlainLabel(wrap=True)
        self._fault = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._fault.hide()
        self._bar = QProgressBar(maximum=_PARTS)
        self._bar.setAccessibleName(tr("Progress of the download"))
        self._press = TextButton("", kind="primary", then=self._on_pressed)
        self._file = TextButton(
            tr("Choose a model file…"), kind="quiet", then=self._on_file_clicked
        )
        self._all = TextButton(tr("All models…"), kind="quiet", then=self._on_all_clicked)
        self._programs = PlainLabel(_PROGRAMS, wrap=True)
        self._program = TextButton(tr("Find one"), then=self._on_program_clicked)
        self._others = TextButton(tr("Choose in Settings…"), then=self._on_others_clicked)
        here = [self._words, self._bar]
        running = tr("A program that already runs here")
        service = [PlainLabel(_SERVICE, wrap=True)]
        vertical(
            PlainLabel(_INTRO, wrap=True),
            _card(tr("On this computer"), here, [self._press, self._file, self._all]),
            _card(running, [self._programs], [self._program]),
            _card(tr("An online service"), service, [self._others]),
            self._fault,
            Stretch(),
            horizontal(Stretch(), TextButton(tr("Close"), then=self.reject)),
            on=self,
            margins=(20, 18, 20, 18),
            spacing=12,
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._server:
            self._programs.setText(_PROGRAMS)
        self._refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        # What fails from now on is shown with the next opening.
        self._fault.hide()

    def give(self, path: Path) -> None:
        """Use this model file from now on, where it is."""
        self._run(path.stem, lambda: self._models.use(self._models.add(path).name))

    def _refresh(self) -> None:
        # What was shown last stays until the disk is read, so that nothing jumps.
        self._show(self._offer)
        self._bridge.run(self, self._look, self._show, self._show_fault)

    def _look(self) -> _Offer:
        """On a worker thread: the disk is read."""
        known, suggestion = self._models.all(), self._models.suggestion()
        unused = [model for model in known if not model.is_used]
        good = [model for model in unused if model.is_good]
        best = max(good, key=lambda model: model.header.parameters, default=None)
        # What was begun goes before what is suggested.
        begun = [d for d in self._models.downloads.all() if d.state is not DownloadState.DONE]
        download = begun[0] if begun else None
        return _Offer(
            self._models.used, best, unused, suggestion, download, self._models.is_installed
        )

    @Slot(object)
    def _show(self, offer: _Offer | None) -> None:
        self._offer = offer
        can_run = offer is not None and offer.is_installed and not self._loading
        self._press.setVisible(can_run)
        self._file.setVisible(can_run)
        self._all.setVisible(can_run)
        self._bar.setVisible(bool(self._loading or (can_run and offer and offer.download)))
        # A bar without an end moves by itself.
        self._bar.setMaximum(0 if self._loading else _PARTS)
        if self._loading:
            self._words.setText(self._loading)
        elif offer is None:
            self._words.setText(tr("Looking for models on this computer…"))
        elif not offer.is_installed:
            self._words.setText(f"{_ABSENT} {told(way_to_install('local-model'))}")
        elif offer.download:
            self._show_download(offer.download)
        elif offer.found:
            self._show_found(offer.found)
        else:
            self._show_suggestion(offer.suggestion, offer.others)
        # Its words may need more room than those before.
        self.resize(self.size().expandedTo(self.sizeHint()))

    def _show_found(self, model: LocalModel) -> None:
        where, size = model.program, size_in_words(model.header.size_bytes)
        said = tr("{size}, found in {program}.", size=size, program=where) if where else size
        self._say_offer([f"{one_line(model.name)}: {said}"])
        self._press.setText(tr("Use it"))

    def _show_suggestion(self, suggestion: Suggestion, others: Sequence[LocalModel]) -> None:
        model, place = suggestion.model, self._models.downloads
        folder = breakable(place.folder)
        words = tr(
            "{name}: {size} from {host}, about {minutes} min at 100 Mbit/s, licence:"
            " {licence}. It is kept in {folder}.",
            name=model.name, size=size_in_words(model.size_bytes), host=place.host,
            licence=model.licence,
            minutes=max(1, round(model.size_gb * _MINUTES_A_GB)), folder=folder,
        )  # fmt: skip
        lines = [words, told(suggestion.reason)]
        if others:
            names = ", ".join(one_line(model.name) for model in others[:_MOST_NAMED])
            lines.append(tr("Here already, under “All models…”: {names}.", names=names))
        self._say_offer(lines)
        self._press.setText(tr("Fetch it"))

    def _say_offer(self, lines: Sequence[str]) -> None:
        used = self._offer.used if self._offer else ""
        in_use = [tr("{name} is in use.", name=one_line(used))] if used else []
        self._words.setText("\n".join([*in_use, *lines]))

    def _show_download(self, download: Download) -> None:
        self._words.setText(in_words(download))
        self._bar.setValue(round(_PARTS * download.done_bytes / max(1, download.total_bytes)))
        is_running = download.state is DownloadState.RUNNING
        self._press.setText(tr("Pause") if is_running else tr("Continue"))

    @Slot()
    def _on_pressed(self) -> None:
        offer, downloads = self._offer, self._models.downloads
        if offer is None:
            return
        if offer.download and offer.download.state is DownloadState.RUNNING:
            name = offer.download.model.name
            self._bridge.run(self, lambda: downloads.pause(name), lambda _nothing: None)
        elif offer.download or not offer.found:
            self._start(offer.download.model if offer.download else offer.suggestion.model)
        else:
            self._start(offer.found)

    @Slot(object)
    def _start(self, model: LocalModel | OfferedModel) -> None:
        """Use a model of this computer, or fetch one."""
        self._fault.hide()
        if isinstance(model, LocalModel):
            self._run(model.name, lambda: self._models.use(model.name))
        else:
            fetch = self._models.downloads.fetch
            self._bridge.run(self, lambda: fetch(model), lambda _n: None, self._show_fault)

    def _on_download_changed(self, event: DownloadChanged) -> None:
        download = event.download
        is_running = download.state is DownloadState.RUNNING
        self.progressed.emit(in_words(download) if is_running else "")
        if download.state is DownloadState.FAILED:
            self._show_fault(AppError(download.title, download.hint))
        if download.state is DownloadState.DONE:
            name = Path(download.model.file).stem
            self._run(name, lambda: self._models.use(name))
        elif self._offer:
            self._show(replace(self._offer, found=None, download=download))

    @Slot()
    def _on_program_clicked(self) -> None:
        self._fault.hide()
        if server := self._server:
            name = server.models[0]
            self._bridge.run(
                self, lambda: self._models.use_server(server), lambda _n: self._tell(name, ""),
                self._show_fault,
            )  # fmt: skip
        else:
            self._program.setEnabled(False)
            self._programs.setText(_LOOKING)
            self._bridge.run(self, self._models.servers, self._show_servers)

    def _show_servers(self, servers: Sequence[LocalServer]) -> None:
        self._program.setEnabled(True)
        self._server = servers[0] if servers else None
        if self._server:
            self._programs.setText(f"{self._server.name}: {one_line(self._server.models[0])}")
            self._program.setText(tr("Use it"))
        else:
            self._programs.setText(f"{_PROGRAMS} {_NO_PROGRAM}")

    def _run(self, name: str, use: Callable[[], LocalModel]) -> None:
        """Use a model and load it, which shows, then say what is used."""
        self._fault.hide()
        used = list[LocalModel]()

        def work(cancel: Event) -> Iterator[str]:
            used.append(use())
            yield from self._models.loading(used[0].name, cancel)

        def done() -> None:
            self._show_loading("")
            again = tr("Ask again for a written answer.")
            small = tr(
                "A model this small makes things up: it adds to excerpts only what they back."
            )
            self._tell(used[0].name, small if used[0].makes_things_up else again)

        def failed(error: AppError) -> None:
            self._show_loading("")
            self._show_fault(error)

        self._show_loading(tr("Loading “{name}”…", name=one_line(name)))
        self._bridge.stream(self, work, lambda said: self._show_loading(told(said)), done, failed)

    def _show_loading(self, words: str) -> None:
        self._loading = words
        self.progressed.emit(words)
        self._show(self._offer)

    def _tell(self, name: str, hint: str) -> None:
        self.hide()
        title = tr("{name} is used from now on.", name=one_line(name))
        self.notified.emit(Notice(title, hint))

    def _show_fault(self, error: AppError) -> None:
        self._fault.say(failure_in_words(error))
        if not self.isVisible():
            self.notified.emit(Notice(error.title, error.hint))

    @Slot()
    def _on_file_clicked(self) -> None:
        def give(path: str) -> None:
            self.give(Path(path))

        title = tr("Choose a model file")
        choose_file(self, title, give, name="modelFileDialog", filters=[_FILES])

    @Slot()
    def _on_all_clicked(self) -> None:
        dialog = ModelsDialog(self._bridge, self._models, self)
        dialog.picked.connect(self._start)
        dialog.finished.connect(self._refresh)
        open_once(dialog)

    @Slot()
    def _on_others_clicked(self) -> None:
        self.hide()
        self.settings_requested.emit()


def _card(title: str, parts: Sequence[QWidget], buttons: Sequence[TextButton]) -> Card:
    card = Card()
    vertical(
        PlainLabel(title, scale="heading", wrap=True),
        *parts,
        horizontal(*buttons, Stretch()),
        on=card,
        margins=(14, 12, 14, 12),
        spacing=8,
    )
    return card
