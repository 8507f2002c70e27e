"""The endpoints of the settings, looked after by verbs, the server's REST API and its admin page.

Worker threads.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoint_address import normalise_base_url
from desktop_rag.models.endpoints.providers import (
    blank_in,
    find_provider,
    model_at,
    programs,
    provider_at,
    services,
)
from desktop_rag.settings_changes import SettingsChanges


class KeptEndpoints(NamedTuple):
    """The chat models, and changes of their settings. AppError for what can't be done."""

    models: ChatModels
    changes: SettingsChanges

    def rows(self) -> list[dict[str, Any]]:
        """What is known of each endpoint; a key is not told, only that there is one."""
        return [self._row(self.models.settings, known) for known in self.models.settings.endpoints]

    def add(
        self, base_url: str, *, model: str = "", name: str = "", key: str = "", is_used: bool
    ) -> dict[str, Any]:
        """Add an endpoint, or change the one at this address; the first one answers from then on.

        The row says whether a keyring keeps the key, or it is known until the app ends.
        """

        def add(settings: Settings) -> Settings:
            known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
            provider = provider_at(base_url)
            new = EndpointSettings(base_url, name=provider.name if provider else "")
            before = known.get(base_url, new)
            endpoint = replace(
                before, model=model or before.model or model_at(base_url), name=name or before.name
            )
            place = base_url if base_url in known else ""
            changed = settings.with_endpoint(place, endpoint)
            return changed.using(base_url) if is_used else changed

        is_key_kept = self.models.save_key(base_url, key) if key else True
        return self._row_at(self.changes.change(add), base_url) | {"is_key_kept": is_key_kept}

    def use(self, named: str, model: str = "") -> dict[str, Any]:
        """Have an endpoint answer from now on."""
        chosen = ""

        def use(settings: Settings) -> Settings:
            nonlocal chosen
            endpoint = find_endpoint(settings, named)
            if not (model or endpoint.model):
                hint = "Name one with --model. `desktop-rag endpoint test` lists what it offers."
                raise AppError(f"No model is chosen for {endpoint.label}.", hint)
            chosen = endpoint.base_url
            return settings.using(chosen, model)

        return self._row_at(self.changes.change(use), chosen)

    def remove(self, named: str, *, forgets_key: bool) -> dict[str, Any]:
        """Remove an endpoint from the settings, and its key from the keyring if it is to go."""
        settings = self.models.settings
        row = self._row(settings, endpoint := find_endpoint(settings, named))
        self.changes.change(lambda settings: settings.without(endpoint.base_url))
        if forgets_key:
            self.models.save_key(endpoint.base_url, "")
        return {"name": row["name"], "base_url": row["base_url"], "was_used": row["is_used"],
                "keeps_key": row["has_key"] and not forgets_key}  # fmt: skip

    def test(self, named: str) -> dict[str, Any]:
        """Ask an endpoint for its models and a few words; without a name the one in use."""
        settings = self.models.settings
        endpoint = find_endpoint(settings, named) if named else settings.endpoint
        report = self.models.test_endpoint(endpoint)
        return {
            "name": endpoint.label,
            "base_url": endpoint.base_url,
            "model": endpoint.model,
            "is_ok": report.is_ok,
            "is_reached": report.is_ok or report.is_reached,
            "title": report.title,
            "hint": report.hint,
            "seconds": round(report.seconds, 2),
            "models": list(report.models),
        }

    def _row_at(self, settings: Settings, base_url: str) -> dict[str, Any]:
        known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
        return self._row(settings, known[base_url])

    def _row(self, settings: Settings, endpoint: EndpointSettings) -> dict[str, Any]:
        base_url, has_key = endpoint.base_url, self.models.has_key(endpoint.base_url)
        provider = provider_at(base_url)
        listed = next((m for m in self.models.offer(base_url) if m.name == endpoint.model), None)
        is_keyless = not has_key and provider is not None and not provider.is_program
        return {
            "name": endpoint.label,
            "base_url": base_url,
            "provider": provider.name if provider else "",
            "model": endpoint.model,
            "is_used": base_url == settings.endpoint.base_url,
            "state": "no model" if not endpoint.model else "no key" if is_keyless else "ready",
            "has_key": has_key,
            "context_tokens": listed.context_tokens if listed else 0,
            "price_in": endpoint.price_in or (listed.price_in if listed else None),
            "price_out": endpoint.price_out or (listed.price_out if listed else None),
        }


def address_of(named: str) -> str:
    """The normalised address of a provider by its name, or the address itself."""
    provider = find_provider(named)
    address = provider.address if provider else named
    if not provider and not any(sign in named for sign in ".:/") and named != "localhost":
        raise AppError(f"There is no provider “{named}”.", _similar(named))
    if blank := blank_in(address):
        raise AppError(
            f"The address of {provider.name if provider else named} has a part that only you know.",
            f"Give it instead of the name, with {blank} replaced: {address}",
        )
    return normalise_base_url(address)


def _similar(named: str) -> str:
    known = (*services(), *programs())
    near = [p.name for p in known if named.casefold() in p.name.casefold()]
    return f"Known are {', '.join(near or [p.name for p in known])}. Or give an address."


def find_endpoint(settings: Settings, named: str) -> EndpointSettings:
    """The endpoint with this name or address, or the only one that contains it; else AppError."""
    wanted, known = named.strip().casefold(), settings.endpoints
    same = [e for e in known if wanted in (e.label.casefold(), e.base_url.casefold())]
    near = [e for e in known if wanted in f"{e.label} {e.base_url}".casefold()]
    found = same or near
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"“{endpoint.label}”" for endpoint in found or known)
    if not known:
        raise AppError("There is no endpoint yet.", "Add one: desktop-rag endpoint add NAME")
    problem = "Several endpoints are called" if found else "There is no endpoint called"
    raise AppError(f"{problem} “{named}”.", f"Endpoints: {names}.")
