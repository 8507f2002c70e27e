"""Users of other applications: the rules that say who decides about readers. Qt thread."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.programs.access_rule import AccessRule
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.program_access import ProgramRecords
from desktop_rag.ui.programs.rule_dialogs import RemoveRuleQuestion, RuleDialog
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection

_INTRO = tr(
    "An application with users of its own, such as a wiki, can decide which documents of a"
    " collection each of them may read. Its requests carry a signed token of the user (JWT). For"
    " everybody else the collection does not exist."
)


class UsersSection(SettingsSection):
    """Lists the rules, and lets them be set, changed and removed."""

    def __init__(
        self, bridge: Bridge, records: ProgramRecords, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Users of other applications"), _INTRO, parent)
        self._bridge = bridge
        self._records = records
        self._collections: Mapping[str, str] = {}
        self._rules: Sequence[AccessRule] = ()
        listed = QWidget()
        self._rows = QVBoxLayout(listed)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(12)
        self._fault = PlainLabel(tone="danger", wrap=True)
        self._fault.hide()
        self._new = TextButton(tr("New rule…"))
        self._new.setEnabled(False)
        self.add_note(listed)
        self.add_note(self._fault)
        self.add_row("", self._new)
        self._new.clicked.connect(self._on_new_clicked)

    @Slot()
    def refresh(self) -> None:
        """Read the rules again."""
        records = self._records
        self._bridge.run(
            self,
            lambda: (records.collections(), records.access_rules()),
            lambda found: self._show(*found),
            self._on_failed,
        )

    def _show(self, collections: Mapping[str, str], rules: Sequence[AccessRule]) -> None:
        self._collections, self._rules = collections, rules
        while item := self._rows.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        for rule in rules:
            self._rows.addWidget(self._row_of(rule))
        if not rules:
            none = tr("Every token reads the collections that it is for.")
            self._rows.addWidget(PlainLabel(none, tone="muted", wrap=True))
        self._fault.hide()
        self._new.setEnabled(bool(self._without_rule()))

    def _on_failed(self, error: AppError) -> None:
        self._fault.setText(failure_in_words(error))
        self._fault.show()

    def _row_of(self, rule: AccessRule) -> QWidget:
        name = self._name_of(rule)
        row = QWidget(self)
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        line = QHBoxLayout()
        line.setSpacing(10)
        line.addWidget(ElidedLabel(name), 1)
        if rule.collection_id in self._collections:
            change = TextButton(tr("Change…"), kind="quiet")
            change.setAccessibleName(tr("Change the rule of {name}", name=name))
            change.clicked.connect(lambda: self._ask(rule))
            line.addWidget(change)
        remove = TextButton(tr("Remove…"), kind="quiet")
        remove.setAccessibleName(tr("Remove the rule of {name}", name=name))
        remove.clicked.connect(lambda: self._ask_to_remove(rule))
        line.addWidget(remove)
        column.addLayout(line)
        words = tr(
            "Users of {issuer} for {audience}, asked at {address}",
            issuer=one_line(rule.issuer),
            audience=one_line(rule.audience),
            address=one_line(rule.address),
        )
        column.addWidget(PlainLabel(words, tone="muted", scale="small", wrap=True))
        return row

    def _name_of(self, rule: AccessRule) -> str:
        return one_line(self._collections.get(rule.collection_id, tr("A collection that is gone")))

    def _without_rule(self) -> dict[str, str]:
        ruled = {rule.collection_id for rule in self._rules}
        return {key: name for key, name in self._collections.items() if key not in ruled}

    @Slot()
    def _on_new_clicked(self) -> None:
        self._open(RuleDialog(self._without_rule(), None, self))

    def _ask(self, rule: AccessRule) -> None:
        only = {rule.collection_id: self._name_of(rule)}
        self._open(RuleDialog(only, rule, self))

    def _open(self, dialog: RuleDialog) -> None:
        dialog.submitted.connect(lambda rule: self._set(dialog, rule))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _set(self, dialog: RuleDialog, rule: AccessRule) -> None:
        def done(_nothing: None) -> None:
            dialog.accept()
            self.refresh()

        keep = self._records.set_access_rule
        self._bridge.run(dialog, lambda: keep(rule), done, dialog.show_error)

    def _ask_to_remove(self, rule: AccessRule) -> None:
        question = RemoveRuleQuestion(self._name_of(rule), self)
        question.confirmed.connect(lambda: self._remove(rule))
        question.open()

    def _remove(self, rule: AccessRule) -> None:
        remove = self._records.remove_access_rule
        self._bridge.run(
            self, lambda: remove(rule.collection_id), lambda _: self.refresh(), self._on_failed
        )
