"""The field for a chat model, with what the endpoint's list states about each. Qt thread.

The list of the last test is read through the bridge.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QMargins, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.domain import ListedModel
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.widgets.form_fields import note

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_FACTS = Qt.ItemDataRole.UserRole
_LEAST_CHARS = 20
_ROW_MARGINS = QMargins(4, 3, 12, 3)


class ListedModelBox(QComboBox):
    """An editable field; `facts` is the note below it, on the model that is entered."""

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._base_url = ""
        self._job: Job | None = None
        self._listed: dict[str, ListedModel] = {}
        self.facts = note()
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("A name, or press Test for a list"))
        self.edit.setAccessibleName(tr("Model"))
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMinimumContentsLength(_LEAST_CHARS)
        self.setLineEdit(self.edit)
        self.setItemDelegate(_FactsDelegate(self))
        self._complete_within_names()
        self.editTextChanged.connect(self._show_facts)
        self._show_facts()

    @property
    def name(self) -> str:
        """The name as entered."""
        return self.currentText().strip()

    def set_address(self, base_url: str) -> None:
        """List the models that the endpoint at this address offered last."""
        if base_url == self._base_url:
            return
        self._base_url = base_url
        if self._job:
            self._job.cancel()
        self.show_models(())
        if base_url:
            self._job = self._bridge.run(
                self, lambda: self._chat.models.offer(base_url), self.show_models
            )

    def show_models(self, listed: Sequence[ListedModel]) -> None:
        """List these models; the name that was entered stays."""
        chosen = self.currentText()
        self._listed = {model.name: model for model in listed}
        self.blockSignals(True)
        self.clear()
        for model in listed:
            self.addItem(model.name, facts_in_words(model))
        self.setCurrentIndex(self.findText(chosen))
        self.setEditText(chosen)
        self.blockSignals(False)
        bar_px = self.view().verticalScrollBar().sizeHint().width()
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + bar_px)
        self._show_facts()

    def _complete_within_names(self) -> None:
        """While typing, offer the names that contain what was typed: lists have hundreds."""
        completer = QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        popup = QListView()
        completer.setPopup(popup)
        # After the view was handed over: that replaces its delegate.
        popup.setItemDelegate(_FactsDelegate(popup))
        self.setCompleter(completer)

    def _show_facts(self) -> None:
        model = self._listed.get(self.name)
        facts = facts_in_words(model) if model else ""
        self.facts.setText(tr("By the endpoint's list: {facts}.", facts=facts) if facts else "")
        self.facts.setVisible(bool(facts))


class _FactsDelegate(QStyledItemDelegate):
    """Shows the facts behind the name."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if facts := index.data(_FACTS):
            option.text = f"{option.text}   ·   {facts}"

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return super().sizeHint(option, index).grownBy(_ROW_MARGINS)


def facts_in_words(model: ListedModel) -> str:
    """`131,072 tokens, $0.15 in and $0.60 out per million`; empty when nothing is stated."""
    facts = [tr("{n:,} tokens", n=model.context_tokens)] if model.context_tokens else []
    if model.price_in == model.price_out == 0:
        facts.append(tr("free"))
    elif model.price_in is not None and model.price_out is not None:
        prices = {"asked": dollars(model.price_in), "answered": dollars(model.price_out)}
        facts.append(tr("{asked} in and {answered} out per million", **prices))
    return ", ".join(facts)


def dollars(amount: float) -> str:
    """An amount with as many digits as tell it from nothing: `$2.50`, `$0.0375`."""
    whole, _, part = f"{amount:,.6f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"
