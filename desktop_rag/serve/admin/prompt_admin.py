"""Saved prompts: added, changed, deleted. Worker threads."""

from collections.abc import Sequence

from desktop_rag.answer.chat import Chat
from desktop_rag.core.saved_prompts import LONGEST_NAME, SavedPrompt
from desktop_rag.serve.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.serve.admin.page_parts import (
    button,
    field,
    form,
    note,
    question,
    section,
    stacked,
    table,
    text_area,
)
from desktop_rag.serve.html_writer import Html, tag
from desktop_rag.serve.refusals import Refusal

_PATH = "/admin/prompts"
_PREVIEW = 160


class PromptAdmin:
    """The prompts that people and programs use by name."""

    def __init__(self, chat: Chat) -> None:
        self._prompts = chat.prompts

    def handlers(self) -> Sequence[Handled]:
        """The list, one prompt, and what can be done."""
        one = f"{_PATH}/{{name}}"
        return [
            (_PATH, "GET", self._list),
            (_PATH, "POST", self._save),
            (one, "GET", self._show),
            (f"{one}/delete", "GET", self._ask_to_delete),
            (f"{one}/delete", "POST", self._delete),
        ]

    def _list(self, visit: Visit) -> Shown:
        rows = [
            (tag("a", f"/{p.name}", href=f"{_PATH}/{p.name}"), _preview(p.text))
            for p in self._prompts.all()
        ]
        body = stacked(
            table(("Name", "Text"), rows, empty="There are no prompts."),
            section("New prompt", _form(visit, SavedPrompt("", ""))),
        )
        return Shown("Prompts", body)

    def _show(self, visit: Visit) -> Shown:
        prompt = self._of(visit)
        body = stacked(
            _form(visit, prompt),
            tag("p", tag("a", "Delete this prompt…", href=f"{_PATH}/{prompt.name}/delete")),
        )
        return Shown(f"/{prompt.name}", body)

    def _save(self, visit: Visit) -> Moved:
        given = SavedPrompt(visit.sent("name"), visit.sent("text").replace("\r\n", "\n"))
        saved = self._prompts.save(given, former=visit.sent("former"))
        return Moved(_PATH, f"/{saved.name} was saved.")

    def _ask_to_delete(self, visit: Visit) -> Shown:
        path = f"{_PATH}/{self._of(visit).name}"
        said = f"Delete /{self._of(visit).name} for good?"
        return Shown("Delete a prompt", question(visit, f"{path}/delete", said, "Delete", path))

    def _delete(self, visit: Visit) -> Moved:
        name = self._of(visit).name
        self._prompts.delete(name)
        return Moved(_PATH, f"/{name} was deleted.")

    def _of(self, visit: Visit) -> SavedPrompt:
        for prompt in self._prompts.all():
            if prompt.name == visit.parts["name"]:
                return prompt
        raise Refusal(404, "There is no such prompt.")


def _form(visit: Visit, prompt: SavedPrompt) -> Html:
    return form(
        visit, _PATH,
        tag("input", type="hidden", name="former", value=prompt.name),
        field("Name", "name", prompt.name, required=True, maxlength=LONGEST_NAME),
        text_area("Text", "text", prompt.text, rows=8),
        note("A word in double braces, as {{topic}}, is asked for when the prompt is used."),
        tag("p", button("Save")),
    )  # fmt: skip


def _preview(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:_PREVIEW]} …" if len(line) > _PREVIEW else line
