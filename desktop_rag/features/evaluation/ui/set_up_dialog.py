"""The dialog for the set-ups that a set is asked with, with an estimate. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.activity.event_wording import text_of
from desktop_rag.core.answer_costs import RunEstimate
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import RetrievalSettings, Room
from desktop_rag.features.evaluation.values.found_places import CHUNKINGS, in_words
from desktop_rag.features.evaluation.values.run import SetUp
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

_WIDTH_PX = 720
_LEAST_PX = 480
_LIST_PX = 92
_LINES_PX = 64
_MOST_SET_UPS = 6
_BALANCES = (-1.0, 0.0, 0.25, 0.75, 1.0)
_CHUNKS = tr("Other chunks are made in a library of their own, which takes long.")
_NO_MODEL = tr("Excerpts ask no model, so instructions change nothing.")
_INTRO = tr(
    "Each set-up answers every question. Change one thing at a time, and you learn what it is good"
    " for. What is left as usual is as in the settings."
)


@dataclass(frozen=True, slots=True)
class SetUpChoices:
    """The choices as (words, value): models as (address, name), the rest as ids.

    `usual` names the model that answers as usual; without `has_model`, answers are excerpts except
    from assistants with models of their own, whose ids are `own_models`.
    """

    models: Sequence[tuple[str, tuple[str, str]]]
    assistants: Sequence[tuple[str, str]]
    collections: Sequence[tuple[str, str]]
    usual: str
    has_model: bool
    own_models: frozenset[str]

    def asks_model(self, set_up: SetUp) -> bool:
        """False where a set-up answers by excerpts."""
        return bool(self.has_model or set_up.model or set_up.assistant_id in self.own_models)


class SetUpDialog(QDialog):
    """`submitted` carries the SetUps, `endpoint_requested` those chosen so far."""

    submitted = Signal(object)
    endpoint_requested = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        choices: SetUpChoices,
        estimate: Callable[[Sequence[SetUp]], RunEstimate],
        parent: QWidget,
        begun: Sequence[SetUp] = (),
    ) -> None:
        """`estimate` runs on a worker thread. `begun` are those of a dialog that was left."""
        super().__init__(parent)
        self.setObjectName("setUpDialog")
        self.setWindowTitle(tr("Ask the questions"))
        self._bridge = bridge
        self._estimate = estimate
        self._job: Job | None = None
        self._offered = choices
        self._set_ups = [*begun] or [SetUp(choices.usual)]
        self._list = ItemList(tr("Set-ups"))
        self._list.setFixedHeight(_LIST_PX)
        self._make_buttons()
        self._name = QLineEdit()
        usual = tr("As usual")
        answering = tr("As usual ({model})", model=choices.usual)
        every = (tr("All documents"), "")
        names = text_of(RetrievalSettings, "room").choices
        rooms = [(word, Room(value)) for value, word in names.items()]
        chunkings = [(in_words(each), each) for each in CHUNKINGS]
        # By the fields of a SetUp; the model is chosen with its address.
        self._fields = {
            "model": _choice(tr("Model"), [(answering, ("", "")), *choices.models]),
            "assistant_id": _choice(tr("Assistant"), [(tr("None"), ""), *choices.assistants]),
            "collection_id": _choice(tr("Documents"), [every, *choices.collections]),
            "room": _choice(tr("What a model reads"), [(usual, None), *rooms]),
            "lexical_weight": _choice(tr("Search by"), _balances(usual)),
            "chunking": _choice(tr("Chunks"), [(usual, None), *chunkings]),
        }
        self._instructions = QPlainTextEdit(tabChangesFocus=True)
        self._instructions.setFixedHeight(_LINES_PX)
        self._no_model = PlainLabel(_NO_MODEL, tone="warning", scale="small", wrap=True)
        self._said = PlainLabel(tone="muted", wrap=True)
        self._build()
        # As high as all of it, and no higher than the window under it.
        room_px = max(_LEAST_PX, parent.window().height())
        self.resize(_WIDTH_PX, min(self.sizeHint().height(), room_px))
        self._connect()
        self._fill(0)

    def _make_buttons(self) -> None:
        self._compared = _choice(
            tr("What is compared"),
            [(tr("Answers"), False), (tr("Search alone, which writes no answers"), True)],
        )
        self._add = TextButton(tr("Another set-up"), then=self._on_add_clicked)
        self._chunks = TextButton(tr("Compare chunks"), then=self._on_chunks_clicked)
        self._remove = TextButton(tr("Remove"), then=self._on_remove_clicked)
        self._add_endpoint = TextButton(tr("Add endpoint"), then=self._on_add_endpoint_clicked)
        self._start = TextButton(tr("Ask"), kind="primary", then=self._on_start_clicked)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)

    def _build(self) -> None:
        section = SettingsSection(tr("Set-up"))
        section.add_row(tr("Name"), self._name, is_wide=True)
        for name, field in self._fields.items():
            more = [self._add_endpoint] if name == "model" else []
            section.add_row(field.accessibleName(), field, *more, is_wide=True)
        section.add_note(note(_CHUNKS))
        section.add_row(tr("Instructions"), self._instructions, is_wide=True)
        section.add_note(self._no_model)
        vertical(
            PlainLabel(_INTRO, tone="muted", wrap=True),
            self._compared,
            self._list,
            horizontal(self._add, self._remove, self._chunks, Stretch()),
            (ContentScroll(section), 1),
            horizontal((self._said, 1), self._cancel, self._start),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self._start.setDefault(True)

    def _connect(self) -> None:
        self._list.currentRowChanged.connect(self._on_chosen)
        self._compared.activated.connect(self._on_compared_chosen)
        self._name.textEdited.connect(self._on_edited)
        self._instructions.textChanged.connect(self._on_edited)
        for field in self._fields.values():
            field.activated.connect(self._on_edited)

    def _fill(self, chosen: int) -> None:
        with QSignalBlocker(self._list):
            self._list.clear()
            self._list.addItems([one_line(each.name) for each in self._set_ups])
            self._list.setCurrentRow(chosen)
        self._add.setEnabled(len(self._set_ups) < _MOST_SET_UPS)
        self._remove.setEnabled(len(self._set_ups) > 1)
        self._on_chosen()
        self._look_up()

    @Slot()
    def _on_chosen(self) -> None:
        chosen = self._set_ups[max(0, self._list.currentRow())]
        for name, field in self._fields.items():
            is_model = name == "model"
            _choose(field, (chosen.base_url, chosen.model) if is_model else getattr(chosen, name))
        with QSignalBlocker(self._instructions):
            self._instructions.setPlainText(chosen.instructions)
        self._name.setText(chosen.name)
        self._compared.setCurrentIndex(self._compared.findData(chosen.only_searches))
        self._warn()

    @Slot()
    def _on_compared_chosen(self) -> None:
        """All set-ups have the same measured: an answer can't be compared with a search."""
        is_search = self._compared.currentData()
        self._set_ups = [replace(each, only_searches=is_search) for each in self._set_ups]
        self._warn()
        self._look_up()

    @Slot()
    def _on_edited(self) -> None:
        row = max(0, self._list.currentRow())
        changed = {name: field.currentData() for name, field in self._fields.items()}
        changed["base_url"], model = changed["model"]
        before = self._set_ups[row]
        name = self._name.text()
        if name == before.name and model != before.model:
            name = model or self._offered.usual
        changed |= {"name": name, "model": model, "instructions": self._instructions.toPlainText()}
        self._set_ups[row] = replace(before, **changed)
        if name != self._name.text():
            self._name.setText(name)
        self._list.item(row).setText(one_line(name))
        self._warn()
        self._look_up()

    def _warn(self) -> None:
        """Warn of instructions that no model reads."""
        chosen = self._set_ups[max(0, self._list.currentRow())]
        asks_model = self._offered.asks_model(chosen) and not chosen.only_searches
        self._no_model.setVisible(bool(chosen.instructions.strip()) and not asks_model)

    @Slot()
    def _on_add_clicked(self) -> None:
        before = self._set_ups[max(0, self._list.currentRow())]
        name = tr("Set-up {number}", number=len(self._set_ups) + 1)
        self._set_ups.append(replace(before, name=name))
        self._fill(len(self._set_ups) - 1)

    @Slot()
    def _on_chunks_clicked(self) -> None:
        """The chosen set-up beside the usual chunk settings, all of which only search."""
        chosen = replace(self._set_ups[max(0, self._list.currentRow())], only_searches=True)
        others = (replace(chosen, name=in_words(each), chunking=each) for each in CHUNKINGS)
        self._set_ups = [chosen, *others][:_MOST_SET_UPS]
        self._fill(0)

    @Slot()
    def _on_add_endpoint_clicked(self) -> None:
        self.endpoint_requested.emit(list(self._set_ups))
        self.reject()

    @Slot()
    def _on_remove_clicked(self) -> None:
        del self._set_ups[max(0, self._list.currentRow())]
        self._fill(0)

    def _look_up(self) -> None:
        if self._job:
            self._job.cancel()
        wanted = tuple(self._set_ups)
        self._job = self._bridge.run(
            self, lambda: self._estimate(wanted), self._show_estimate, self._show_error
        )

    def _show_estimate(self, found: RunEstimate) -> None:
        self._said.set_tone("warning" if found.needs_consent else "muted")
        self._said.setText(found.in_words())
        self._start.setText(tr("Ask all the same") if found.needs_consent else tr("Ask"))
        self._start.setEnabled(True)

    def _show_error(self, error: AppError) -> None:
        self._said.set_tone("danger")
        self._said.setText(failure_in_words(error))
        self._start.setEnabled(False)

    @Slot()
    def _on_start_clicked(self) -> None:
        names = [each.name.strip() or tr("Unnamed") for each in self._set_ups]
        named = [replace(each, name=n) for each, n in zip(self._set_ups, names, strict=True)]
        self.submitted.emit(named)
        self.accept()


def _choice(name: str, items: Sequence[tuple[str, object]]) -> QComboBox:
    field = DropDown()
    field.setMinimumContentsLength(16)
    field.setAccessibleName(name)
    for words, value in items:
        field.addItem(one_line(words), value)
    return field


def _choose(field: QComboBox, value: object) -> None:
    # Qt makes lists of tuples.
    given = [field.itemData(n) for n in range(field.count())]
    every = [tuple(each) if isinstance(each, list) else each for each in given]
    field.setCurrentIndex(every.index(value) if value in every else 0)


def _balances(usual: str) -> list[tuple[str, object]]:
    words = (usual, tr("Meaning alone"), tr("Meaning more"), tr("Words more"), tr("Words alone"))
    return list(zip(words, _BALANCES, strict=True))
