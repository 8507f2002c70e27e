"""Collects the garbage of the app in the Qt thread, a little at a time."""

from PySide6.QtCore import QObject, QTimer

from desktop_rag.idle_memory import EVERY_S, SmallCollections


class GarbageTimer(QTimer):
    """Looks for garbage from `collections.start` on."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent, interval=round(1000 * EVERY_S))
        self.collections = SmallCollections()
        self.timeout.connect(self.collections.look)
        self.start()
