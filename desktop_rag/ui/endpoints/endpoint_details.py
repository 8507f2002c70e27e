"""The fields for an endpoint's limits, prices and budget, and for its chat model. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QMargins, QModelIndex, QPersistentModelIndex, QSize, Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import ListedModel
from desktop_rag.core.language.translation import tr
from desktop_rag.models.endpoints.client.allowances import money_in_words
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, money_field, note, number_field
from desktop_rag.ui.widgets.value_form import ValueForm

_NO_LIMIT = tr("No limit")
_PER_MILLION = tr(" per million tokens")
_NOTE = tr(
    "At a rate limit, a question waits up to 20 seconds before it fails with an explanation. Enter"
    " prices as listed by your provider, in any currency. Without them, those of the endpoint's"
    " list of models count, where it has any; they are in US dollars. Runs of My questions and"
    " scheduled questions that may cost more than you set are not begun without you."
)
# The settings with the names of their fields.
_LIMITS = {
    "requests_per_minute": tr("Requests per minute"),
    "tokens_per_minute": tr("Tokens per minute"),
    "price_in": tr("Price per million input tokens"),
    "price_out": tr("Price per million output tokens"),
    "spend_per_day": tr("Daily budget"),
    "ask_above": tr("Ask before a run above"),
}
_RATE_WORDS = tr("too many requests, throttle, quota, 429, speed limit")
_PRICE_WORDS = tr("costs, money, dollars, fee, bill, per token")
_BUDGET_WORDS = tr("costs, money, spending limit, cap, expensive")


class EndpointLimits(QWidget):
    """Adds rows to a section, hidden until a limit is set or the button is pressed."""

    def __init__(self, bridge: Bridge, chat: Chat, section: ValueForm) -> None:
        super().__init__(section)
        self._bridge = bridge
        self._chat = chat
        self._base_url = ""
        self._job = Job()
        self._requests = number_field(0, 100_000, 1, tr(" requests per minute"))
        self._tokens = number_field(0, 100_000_000, 1000, tr(" tokens per minute"))
        self._price_in = money_field(100_000.0, _PER_MILLION)
        self._price_out = money_field(100_000.0, _PER_MILLION)
        self._spend = money_field(1_000_000.0)
        self._ask_above = money_field(1_000_000.0)
        self._spent = note()
        self._fields = (
            self._requests, self._tokens, self._price_in, self._price_out, self._spend,
            self._ask_above,
        )  # fmt: skip
        for (setting, name), field in zip(_LIMITS.items(), self._fields, strict=True):
            field.setAccessibleName(name)
            section.bind_field(setting, field)
        self._requests.setSpecialValueText(tr("No request limit"))
        self._tokens.setSpecialValueText(tr("No token limit"))
        self._spend.setSpecialValueText(_NO_LIMIT)
        self._ask_above.setSpecialValueText(tr("Never ask"))
        self._open = TextButton(
            tr("Set limits and prices"), kind="quiet", then=self._on_open_clicked
        )
        limits = section.add_row(tr("Limits"), self._open, words=_BUDGET_WORDS)
        self._closed = [limits, self._open]
        section.wanted.connect(self._on_wanted)
        explained = note(_NOTE)
        self._opened: list[QWidget] = [
            section.add_row(tr("Rate limit"), self._requests, words=_RATE_WORDS),
            section.add_row("", self._tokens, words=_RATE_WORDS),
            section.add_row(tr("Input price"), self._price_in, words=_PRICE_WORDS),
            section.add_row(tr("Output price"), self._price_out, words=_PRICE_WORDS),
            section.add_row(tr("Daily budget"), self._spend, self._spent, words=_BUDGET_WORDS),
            section.add_row(tr("Ask before a run above"), self._ask_above, words=_BUDGET_WORDS),
            *self._fields, explained, self._spent,
        ]  # fmt: skip
        section.add_note(explained)
        self._show_rows(False)

    @property
    def fields(self) -> Sequence[QWidget]:
        """The fields in Tab order."""
        return (self._open, *self._fields)

    def show_address(self, base_url: str) -> None:
        """Show what was spent at this address; the limits themselves are shown before."""
        if base_url != self._base_url:
            self._base_url = base_url
            self._show_rows(any(field.value() for field in self._fields))
            self._look_up_spending()

    def _look_up_spending(self) -> None:
        self._job.cancel()
        self._spent.clear()
        if base_url := self._base_url:
            self._job = self._bridge.run(
                self, lambda: self._chat.models.spent_today(base_url), self._show_spent
            )

    def _show_spent(self, spent: float) -> None:
        self._spent.setText(tr("Spent today: {spent}", spent=money_in_words(spent)))

    @Slot()
    def _on_open_clicked(self) -> None:
        self._show_rows(True)
        self._requests.setFocus()

    @Slot(object)
    def _on_wanted(self, field: QWidget) -> None:
        if field in self._opened:
            self._show_rows(True)

    def _show_rows(self, is_open: bool) -> None:
        for widget in self._opened:
            widget.setVisible(is_open)
        for widget in self._closed:
            widget.setVisible(not is_open)


_FACTS = Qt.ItemDataRole.UserRole
_LEAST_CHARS = 20
_ROW_MARGINS = QMargins(4, 3, 12, 3)


class ListedModelBox(DropDown):
    """An editable field for a chat model; `facts` is the note below on the entered one."""

    def __init__(self, bridge: Bridge, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._base_url = ""
        self._job = Job()
        self._listed: dict[str, ListedModel] = {}
        self.facts = note()
        self.edit = QLineEdit(placeholderText=tr("A name, or press Test for a list"))
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
        # Lists have hundreds of names.
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
        self.facts.say(tr("By the endpoint's list: {facts}.", facts=facts) if facts else "")


class _FactsDelegate(QStyledItemDelegate):
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
    """An amount with all significant digits, at least two decimals: `$2.50`, `$0.0375`."""
    whole, _, part = f"{amount:,.6f}".partition(".")
    return f"${whole}.{part.rstrip('0').ljust(2, '0')}"
