"""All models: those on this computer and those to fetch, each used, fetched or removed. Qt thread.

`picked` carries what the person wants done, for the dialog of the ways to do; removing is done
here.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import number_in_words, told, tr
from desktop_rag.features.local_model.catalogue import OfferedModel, Suggestion, offered_models
from desktop_rag.features.local_model.downloads import Download, DownloadState
from desktop_rag.features.local_model.local_models import LocalModel, LocalModels
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import language_name
from desktop_rag.ui.foundation.wording import failure_in_words, one_line, size_in_words
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.forms import RowAction, RowList, ask_first, row_of
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

_WIDTH_PX, _HEIGHT_PX = 560, 520
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
        self.resize(_WIDTH_PX, _HEIGHT_PX)
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
