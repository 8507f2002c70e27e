"""What is known of models, and which an endpoint has, remembered by its address. Any thread.

A file of its own beside the settings: the settings are what a person chose, this was measured and
may be thrown away; and it is needed before, and without, the store.
"""

from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, cast

from desktop_rag.core.atomic_file import read_object, write_object
from desktop_rag.core.model_profile import ModelProfile

_Key = tuple[str, str]


class ProfileBook:
    """Profiles by normalised address and name of the model."""

    def __init__(self, path: Path | None = None) -> None:
        """Without a file they are known until the app ends."""
        self._path = path
        self._lock = RLock()
        content = read_object(path) if path else {}
        self._profiles = _read_profiles(content.get("models"))
        self._offers = _read_offers(content.get("offered"))

    def get(self, base_url: str, model: str) -> ModelProfile:
        """What is known of the model; an empty profile for one never met."""
        with self._lock:
            return self._profiles.get((base_url, model), ModelProfile())

    def learn(self, base_url: str, model: str, **facts: object) -> ModelProfile:
        """Take in what was found out, fields of ModelProfile, and keep it."""
        fields: dict[str, Any] = facts
        with self._lock:
            known = self.get(base_url, model)
            learned = replace(known, **fields)
            if learned != known:
                self.put(base_url, model, learned)
        return learned

    def put(self, base_url: str, model: str, profile: ModelProfile) -> None:
        """Keep this in place of what was known."""
        with self._lock:
            self._profiles[base_url, model] = profile
            self._save()

    def offer(self, base_url: str) -> tuple[str, ...]:
        """The models that the endpoint last said it has."""
        with self._lock:
            return self._offers.get(base_url, ())

    def put_offer(self, base_url: str, models: tuple[str, ...]) -> None:
        """Keep which models the endpoint says it has."""
        with self._lock:
            if self._offers.get(base_url) != models:
                self._offers[base_url] = models
                self._save()

    def _save(self) -> None:
        if self._path:
            models = [*map(_row, self._profiles.items())]
            write_object(self._path, {"models": models, "offered": self._offers})


def _row(known: tuple[_Key, ModelProfile]) -> dict[str, Any]:
    (base_url, model), profile = known
    return {"base_url": base_url, "model": model, **profile.to_json()}


def _read_profiles(rows: object) -> dict[_Key, ModelProfile]:
    profiles: dict[_Key, ModelProfile] = {}
    for row in cast("list[Any]", rows) if isinstance(rows, list) else []:
        if isinstance(row, dict):
            fields = cast("dict[str, object]", row)
            key = str(fields.get("base_url", "")), str(fields.get("model", ""))
            profiles[key] = ModelProfile.from_json(fields)
    return profiles


def _read_offers(offered: object) -> dict[str, tuple[str, ...]]:
    offers = cast("dict[str, Any]", offered) if isinstance(offered, dict) else {}
    return {
        base_url: tuple(str(name) for name in cast("list[Any]", names))
        for base_url, names in offers.items()
        if isinstance(names, list)
    }
