"""Three steps to a model of one's own, for a computer on which none runs. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.models.endpoints.local_servers import USUAL
from desktop_rag.ui.documents.link_confirmation import confirm_and_open
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_PAGE = "https://ollama.com/download"
_COMMAND = "ollama pull llama3.2"
_TITLE = tr(
    "No model server answers at the usual addresses on this computer. Three steps to a free one:"
)
_STEPS = (
    tr("1. Install Ollama. It runs models on your own computer, so nothing leaves it."),
    tr(
        "2. Enter in a terminal: {command}\nThis loads a model of 2 GB; it needs 8 GB of memory.",
        command=_COMMAND,
    ),
    tr("3. Search again. The model is found and tested."),
)


class FirstModelGuide(Card):
    """Shown after a search that found no server; `search_requested` follows the last step."""

    search_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice")
        self.setAccessibleName(_TITLE)
        title = PlainLabel(_TITLE, wrap=True)
        title.setObjectName("noticeTitle")
        self._page = TextButton(tr("Open ollama.com…"))
        self._copy = TextButton(tr("Copy command"))
        self._again = TextButton(tr("Search again"))
        steps = QGridLayout()
        steps.setColumnStretch(0, 1)
        steps.setHorizontalSpacing(12)
        steps.setVerticalSpacing(8)
        buttons = (self._page, self._copy, self._again)
        for row, (text, button) in enumerate(zip(_STEPS, buttons, strict=True)):
            steps.addWidget(PlainLabel(text, wrap=True, selectable=True), row, 0)
            steps.addWidget(button, row, 1)
        ports = PlainLabel(
            tr(
                "Looked for {join} at their usual addresses. For any other server enter its"
                " address below.",
                join=", ".join(USUAL),
            ),
            wrap=True,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(8)
        column.addWidget(title)
        column.addLayout(steps)
        column.addWidget(ports)
        self.hide()
        self._page.clicked.connect(self._on_page_clicked)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._again.clicked.connect(self.search_requested)

    @Slot()
    def _on_page_clicked(self) -> None:
        confirm_and_open(_PAGE, self)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(_COMMAND)
        self._copy.setText(tr("Copied"))
