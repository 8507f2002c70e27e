"""Admin pages for endpoints with their keys, and for settings. Worker threads."""

from dataclasses import replace
from typing import Any

from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Answer, Moved, Shown, Visit, page
from desktop_rag.features.server.html_writer import Child, Html, joined, tag
from desktop_rag.features.server.rest.assistant_calls import OF_SOCKET, SettingCalls, SettingChange
from desktop_rag.kept_endpoints import address_of
from desktop_rag.models.endpoints.providers import programs, services
from desktop_rag.settings_changes import settings_listed

_PATH = "/admin/endpoints"
_KEY = "Kept in the keyring and shown to nobody; left empty, the one that is known stays."
_ADDRESS = "A known provider, or an address such as http://localhost:11434/v1"
_KEPT_HERE = "There is no keyring: the key is known until the server ends."


class EndpointAdmin(parts.AdminPages):
    """Adds, tests, uses and removes endpoints."""

    @page(_PATH)
    def _list(self, visit: Visit) -> Shown:
        rows = [
            (each["name"], tag("code", each["base_url"]), each["model"] or "none",
             "yes" if each["has_key"] else "no", self._acts(visit, each))
            for each in self._serving.endpoints.rows()
        ]  # fmt: skip
        known = tag("datalist", [tag("option", value=p.name) for p in (*services(), *programs())],
                    id="providers")  # fmt: skip
        added = parts.form(
            visit, _PATH,
            parts.form_field("Provider or address", "endpoint", required=True, maxlength=2000,
                             list="providers", hint=_ADDRESS),
            known,
            parts.form_field("Model", "model", maxlength=300),
            parts.form_field("Key", "key", kind="password", autocomplete="off", maxlength=10_000,
                             hint=_KEY),
            parts.ticks("", "is_used", {"yes": "answers from now on"}),
            tag("p", parts.button("Save")),
        )  # fmt: skip
        heads = ("Endpoint", "Address", "Model", "Key", "")
        listed = parts.table(heads, rows, empty="None: answers are excerpts of documents.")
        return Shown("Endpoints", joined(listed, parts.section("Add or change one", added)))

    def _acts(self, visit: Visit, row: dict[str, str]) -> Child:
        named = tag("input", type="hidden", name="endpoint", value=row["base_url"])
        acts = {"Test": f"{_PATH}/test", "Remove": f"{_PATH}/remove"}
        acts |= {} if row["is_used"] else {"Use": _PATH}
        used = tag("input", type="hidden", name="is_used", value="yes")
        buttons = [
            parts.form(visit, path, named, used, parts.button(act, about=row["name"]))
            for act, path in acts.items()
        ]
        return ["answers" if row["is_used"] else "", *buttons]

    @page(_PATH, "POST")
    def _add(self, visit: Visit) -> Moved:
        row = self._serving.endpoints.add(
            address_of(visit.sent("endpoint")), model=visit.sent("model"), key=visit.sent("key"),
            is_used=bool(visit.sent("is_used")),
        )  # fmt: skip
        said = f"“{row['name']}” was saved."
        return Moved(_PATH, said if row["is_key_kept"] else f"{said} {_KEPT_HERE}")

    @page(f"{_PATH}/test", "POST")
    def _test(self, visit: Visit) -> Shown:
        report = self._serving.endpoints.test(visit.sent("endpoint"))
        models = [tag("li", tag("code", name)) for name in report["models"]]
        body = joined(
            tag("p", f"{report['title']} {report['hint']}"),
            parts.section("Its models", tag("ul", models)) if models else None,
            tag("p", tag("a", "Back to the endpoints", href=_PATH)),
        )
        return Shown(report["name"], body)

    @page(f"{_PATH}/remove", "POST")
    def _remove(self, visit: Visit) -> Answer:
        """Asks first; the second form confirms."""
        named = visit.sent("endpoint")
        if visit.sent("sure"):
            row = self._serving.endpoints.remove(named, forgets_key=True)
            return Moved(_PATH, f"“{row['name']}” and its key were removed.")
        sure = tag("button", "Remove", type="submit", class_="danger", name="sure", value="yes")
        body = parts.form(
            visit, f"{_PATH}/remove",
            tag("p", f"Remove {named} and its key?"),
            tag("input", type="hidden", name="endpoint", value=named),
            tag("p", sure, " ", tag("a", "Cancel", href=_PATH)),
        )  # fmt: skip
        return Shown("Remove an endpoint", body)


_SETTINGS = "/admin/settings"
# The others are of the window alone.
_SECTIONS = ("server", "index", "retrieval", "answers", "preferences", "helper", "transcription")
_COMMAND_LINE = (
    "What `desktop-rag serve` was started with goes before what is stored here. Lists are written"
    " with commas."
)


class SettingsAdmin(parts.AdminPages):
    """Changes the settings that need no new start of the server, one at a time."""

    @page(_SETTINGS)
    def _show(self, visit: Visit) -> Shown:
        models, running = self._serving.endpoints.models, self._serving.settings()
        settings = replace(models.settings, server=running)
        rows = [
            (tag("strong", row["name"]), tag("code", row["key"]),
             joined(self._field(visit, row), tag("small", row["about"]),
                    tag("small", "From the next start on.") if row["waits_for_start"] else None))
            for row in settings_listed(settings, visit.asked("words"))
            if row["key"].partition(".")[0] in _SECTIONS and row["key"] not in OF_SOCKET
        ]  # fmt: skip
        sought = parts.filters(visit, parts.form_field("Words", "words", visit.asked("words")))
        listed = parts.table(("Setting", "Key", "Value"), rows, empty="No setting has these words.")
        return Shown("Settings", joined(sought, parts.note(_COMMAND_LINE), listed))

    def _field(self, visit: Visit, row: dict[str, Any]) -> Html:
        value, choices = row["value"], row["choices"]
        if isinstance(value, bool):
            value, choices = "on" if value else "off", {"on": "on", "off": "off"}
        said = ", ".join(value) if isinstance(value, tuple) else str(value)
        box = (
            parts.select("", "value", choices, said) if choices
            else parts.form_field("", "value", said, maxlength=2000, aria_label=row["name"])
        )  # fmt: skip
        key = tag("input", type="hidden", name="key", value=row["key"])
        return parts.form(visit, _SETTINGS, key, box, parts.button("Save", about=row["name"]))

    @page(_SETTINGS, "POST")
    def _save(self, visit: Visit) -> Moved:
        key, change = visit.sent("key"), SettingChange(value=visit.sent("value"))
        calls = SettingCalls(self._serving.endpoints)
        calls.change_setting(Caller(visit.session.token), key, change)
        return Moved(_SETTINGS, f"{key} is “{change.value}”.")
