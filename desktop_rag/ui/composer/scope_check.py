"""Says above the question field what of its scope can't be read, with the ways out. Qt thread."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentsChanged, SourcesChanged
from desktop_rag.core.question_scope import ScopeItem
from desktop_rag.ui.composer.scope_bar import ScopeBar
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_SHOWN = 2


class ScopeCheck(QObject):
    """Checks a scope when it changes, and again when the library does.

    `library_requested` is one of the ways out.
    """

    library_requested = Signal()

    def __init__(
        self, bridge: Bridge, chat: "Chat", bar: ScopeBar, assistant_id: Callable[[], str]
    ) -> None:
        """`assistant_id` tells whom the question goes to: it may not be let into everything."""
        super().__init__(bar)
        self._bridge = bridge
        self._chat = chat
        self._bar = bar
        self._assistant_id = assistant_id
        self._is_running = self._is_due = False
        bar.changed.connect(self.check)
        bridge.posted.connect(self._on_posted)

    @Slot()
    def check(self) -> None:
        """Look again, once the look under way is over."""
        scope, assistant_id = self._bar.scope, self._assistant_id()
        self._is_due = self._is_running
        if self._is_running:
            return
        if not scope.is_limited:
            self._bar.show_notice("")
            return
        self._is_running = True
        self._bridge.run(
            self,
            lambda: self._chat.scopes.missing(scope, assistant_id),
            self._on_checked,
            lambda _error: self._on_checked(()),
        )

    def _on_checked(self, missing: Sequence[tuple[ScopeItem, str]]) -> None:
        self._is_running = False
        if self._is_due:
            self.check()
            return
        items = [item for item, _ in missing]
        said = [f"“{one_line(item.name)}”: {one_line(why)}." for item, why in missing[:_SHOWN]]
        if more := len(missing) - _SHOWN:
            said += [tr("And {more:,} more.", more=more)] * (more > 0)
        offers: list[tuple[str, Callable[[], None]]] = []
        if missing:
            offers.append((tr("Open the library"), self.library_requested.emit))
            words = tr("Leave it out") if len(items) == 1 else tr("Leave them out")
            offers.append((words, lambda: self._bar.remove(*items)))
        self._bar.show_notice(" ".join(said), *offers)

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if self._bar.scope.is_limited and isinstance(event, (DocumentsChanged, SourcesChanged)):
            self.check()
