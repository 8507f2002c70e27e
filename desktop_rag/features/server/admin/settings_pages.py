"""Admin pages for endpoints with their keys, and for the settings of the server. Worker threads."""

from dataclasses import replace

from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.features.server.admin import page_parts as parts
from desktop_rag.features.server.admin.page_parts import Answer, Moved, Shown, Visit, page
from desktop_rag.features.server.filters.filter_chain import installed_filters, own_filters
from desktop_rag.features.server.html_writer import Child, joined, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.kept_endpoints import address_of
from desktop_rag.models.endpoints.providers import programs, services

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


_SERVER = "/admin/server"
_SWITCHES = {
    "exposes_models": "every token may ask the models of the endpoints, without documents",
    "logs_text": "questions and answers are kept in the log",
}
_LISTS = {
    "host_names": ("Names by which it is asked", "rag.example; any other name is refused"),
    "origins": ("Web origins that may use every token", "https://wiki.example"),
    "filters": ("Filters of installed packages, in their order", "NAME or NAME=MODELS"),
}
_COMMAND_LINE = "What `desktop-rag serve` was started with goes before what is stored here."


class ServerAdmin(parts.AdminPages):
    """Changes the settings of the running server that need no new start."""

    @page(_SERVER)
    def _show(self, visit: Visit) -> Shown:
        settings = self._serving.settings()
        on = [name for name in _SWITCHES if getattr(settings, name)]
        lists = [
            parts.text_area(label, name, "\n".join(getattr(settings, name)), hint=hint, rows=2)
            for name, (label, hint) in _LISTS.items()
        ]
        installed = ", ".join(installed_filters()) or "none"
        body = parts.form(
            visit, _SERVER,
            parts.ticks("", "switches", _SWITCHES, on),
            lists,
            parts.note(f"Installed filters: {installed}."),
            parts.form_field("How others reach it behind a proxy", "public_address",
                             settings.public_address, maxlength=1000),
            parts.note(_COMMAND_LINE),
            tag("p", parts.button("Save")),
        )  # fmt: skip
        return Shown("Server", body)

    @page(_SERVER, "POST")
    def _save(self, visit: Visit) -> Moved:
        switches, address = visit.sent_all("switches"), visit.sent("public_address")
        # One that can't be used would end the server.
        own_filters(visit.sent_lines("filters"))
        if address and not address.startswith(("https://", "http://")):
            raise Refusal(400, "The address begins with https:// or http://.")
        changed = {name: name in switches for name in _SWITCHES} | {
            name: visit.sent_lines(name) for name in _LISTS
        }

        def change(settings: Settings) -> Settings:
            server: ServerSettings = replace(settings.server, public_address=address, **changed)
            return replace(settings, server=server)

        self._serving.endpoints.changes.change(change)
        return Moved(_SERVER, "It is used from now on.")
