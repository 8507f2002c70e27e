"""Admin pages for assistants: which collections, model and rails each has. Worker threads."""

from typing import Any

from desktop_rag.core.assistant import LONGEST_NAME
from desktop_rag.features.rails.assistants.rail_names import BUILT_IN
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Answer, Moved, Shown, Visit, page
from desktop_rag.features.server.html_writer import Html, joined, tag
from desktop_rag.features.server.rest.assistant_calls import (
    AssistantAnswer,
    AssistantCalls,
    AssistantChange,
    NewAssistant,
)
from desktop_rag.features.server.serving import Serving

_PATH = "/admin/assistants"
_ONE = f"{_PATH}/{{id}}"
_OPEN, _MEMORY = "is_open", "uses_memory"
_ANSWERS = {
    _OPEN: "may answer from the model's knowledge where no document is relevant",
    _MEMORY: "use liked answers as examples",
}
_NEW = AssistantAnswer(
    id="", name="", instructions="", endpoint="", model="", collections=[], filters="", rails="",
    is_open=False, uses_memory=True,
)  # fmt: skip


class AssistantAdmin(parts.AdminPages):
    """Makes, changes and deletes assistants, by the operations that programs have."""

    def __init__(self, serving: Serving) -> None:
        super().__init__(serving)
        self._calls = AssistantCalls(serving.chat, serving.library, serving.links.link)

    @page(_PATH)
    def _list(self, visit: Visit) -> Shown:
        names = parts.collection_names(self._library)
        rows = [
            (
                tag("a", each.name, href=f"{_PATH}/{each.id}"),
                each.model or "as in the settings",
                ", ".join(names.get(i, "") for i in each.collections) or "all",
                each.rails or "none",
            )
            for each in self._all(visit)
        ]
        listed = parts.table(
            ("Assistant", "Model", "Collections", "Rails"), rows, empty="None yet."
        )
        added = parts.section("New assistant", self._form(visit, _PATH))
        return Shown("Assistants", joined(listed, added))

    @page(_ONE)
    def _show(self, visit: Visit) -> Shown:
        assistant = self._of(visit)
        path = f"{_PATH}/{assistant.id}"
        deleted = tag("p", tag("a", "Delete this assistant…", href=f"{path}/delete"))
        return Shown(assistant.name, joined(self._form(visit, path, assistant), deleted))

    @page(_PATH, "POST")
    def _add(self, visit: Visit) -> Moved:
        made = self._calls.make_assistant(_caller(visit), NewAssistant.checked(_sent(visit)))
        return Moved(_PATH, f"“{made.name}” was made.")

    @page(_ONE, "POST")
    def _change(self, visit: Visit) -> Moved:
        kept = self._calls.change_assistant(
            _caller(visit), self._of(visit).id, AssistantChange.checked(_sent(visit))
        )
        return Moved(_PATH, f"“{kept.name}” was saved.")

    @page(f"{_ONE}/delete", "GET", "POST")
    def _delete(self, visit: Visit) -> Answer:
        assistant = self._of(visit)
        if not visit.is_post:
            said = f"Delete “{assistant.name}”? Its chats and documents stay."
            return parts.question(
                visit, "Delete an assistant", said, "Delete", f"{_PATH}/{assistant.id}"
            )
        self._calls.delete_assistant(_caller(visit), assistant.id)
        return Moved(_PATH, f"“{assistant.name}” was deleted.")

    def _form(self, visit: Visit, action: str, known: AssistantAnswer = _NEW) -> Html:
        endpoints = self._chat.models.settings.endpoints
        choices = {"": "as in the settings"} | {e.base_url: e.label for e in endpoints}
        on = [name for name in _ANSWERS if getattr(known, name)]
        return parts.form(
            visit, action,
            parts.form_field("Name", "name", known.name, required=True, maxlength=LONGEST_NAME),
            parts.text_area("Instructions", "instructions", known.instructions, rows=6),
            parts.select("Endpoint", "endpoint", choices, known.endpoint),
            parts.form_field("Model (that of the endpoint if empty)", "model", known.model),
            parts.ticks("Asks only these collections (none: all)", "collection",
                        parts.collection_names(self._library), known.collections),
            parts.form_field("Filters of every question", "filters", known.filters,
                             hint="such as type:pdf after:2024"),
            parts.select("Rails", "rails", self._rails(), known.rails),
            parts.ticks("It may", "answers", _ANSWERS, on),
            tag("p", parts.button("Save" if known.id else "Make assistant")),
        )  # fmt: skip

    def _rails(self) -> dict[str, str]:
        """The app's sets, and the folders that assistants use."""
        used = {each.rails: each.rails for each in self._chat.assistants.all() if each.rails}
        return {"": "none"} | used | {known.name: known.title for known in BUILT_IN}

    def _all(self, visit: Visit) -> list[AssistantAnswer]:
        return self._calls.list_assistants(_caller(visit)).assistants

    def _of(self, visit: Visit) -> AssistantAnswer:
        return visit.one_of(self._all(visit), "id", "There is no such assistant.")


def _caller(visit: Visit) -> Caller:
    return Caller(visit.session.token)


def _sent(visit: Visit) -> dict[str, Any]:
    """The fields of the form as those of the operation."""
    texts = ("name", "instructions", "endpoint", "model", "filters", "rails")
    answers = visit.sent_all("answers")
    return {
        **{name: visit.sent(name).replace("\r\n", "\n") for name in texts},
        "collections": list(visit.sent_all("collection")),
        **{name: name in answers for name in _ANSWERS},
    }
