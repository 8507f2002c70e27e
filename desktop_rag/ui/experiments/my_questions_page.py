"""The page "My questions": the answers of set-ups, and the chunks of documents. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.experiments.chunk_panel import ChunkPanel
from desktop_rag.ui.experiments.experiment_actions import ExperimentActions
from desktop_rag.ui.experiments.experiments_page import ExperimentsPage
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.experiments.run_worker import RunWorker
    from desktop_rag.ingest.library import Library

_SIDE_PX = 22


class MyQuestionsPage(QWidget):
    """Two views below their tabs. `endpoint_requested` asks for the page where one is added."""

    endpoint_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        worker: "RunWorker",
        library: "Library",
        chat: "Chat",
        theme: Theme,
        window: QWidget,
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._tabs = QTabBar()
        self._tabs.setAccessibleName(tr("Views"))
        self._tabs.setExpanding(False)
        self._tabs.setDrawBase(False)
        self._tabs.addTab(tr("Answers"))
        self._tabs.addTab(tr("Chunks"))
        self._views = QStackedWidget()
        actions = ExperimentActions(bridge, worker.experiments, library, chat, theme, window)
        actions.endpoint_requested.connect(self.endpoint_requested)
        # In a small window it is scrolled, so that the table of answers keeps its height.
        answers = QScrollArea(widgetResizable=True)
        answers.setFrameShape(QFrame.Shape.NoFrame)
        answers.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        answers.setWidget(ExperimentsPage(bridge, actions, theme))
        self._views.addWidget(answers)
        self._views.addWidget(ChunkPanel(bridge, worker, library))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(0)
        above = QVBoxLayout()
        above.setContentsMargins(_SIDE_PX, 0, _SIDE_PX, 0)
        above.addWidget(self._tabs)
        column.addLayout(above)
        column.addWidget(self._views, 1)
        self._tabs.currentChanged.connect(self._on_tab_changed)

    @Slot(int)
    def _on_tab_changed(self, at: int) -> None:
        self._views.setCurrentIndex(at)
