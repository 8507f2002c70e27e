"""Profiles of models, and the list of models per endpoint, in a file. Any thread.

Not in the settings, as these were measured and may be deleted; not in the store, as they are needed
without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, cast

from desktop_rag.core.domain import ListedModel
from desktop_rag.core.files.own_files import read_object, write_object
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.records import encoded, readable, readable_rows

_Key = tuple[str, str]


class ProfileBook:
    """Profiles by normalised address and name of the model."""

    def __init__(self, path: Path | None = None) -> None:
        """Without a file they are kept until the app ends."""
        self._path = path
        self._lock = RLock()
        content = read_object(path) if path else {}
        self._profiles = _read_profiles(readable_rows(dict[str, Any], content.get("models")))
        self._offers = _read_offers(content.get("offered"))

    def get(self, base_url: str, model: str) -> ModelProfile:
        """The profile of the model; empty for an unknown one."""
        with self._lock:
            return self._profiles.get((base_url, model), ModelProfile())

    def learn(self, base_url: str, model: str, **facts: object) -> ModelProfile:
        """Update fields of the model's profile, and save it."""
        fields: dict[str, Any] = facts
        with self._lock:
            known = self.get(base_url, model)
            learned = replace(known, **fields)
            if learned != known:
                self.put(base_url, model, learned)
        return learned

    def forget_limit(self, base_url: str, model: str) -> ModelProfile:
        """Remove what was learned from a refusal, so that longer requests are tried again."""
        return self.learn(base_url, model, learned_limit=None)

    def put(self, base_url: str, model: str, profile: ModelProfile) -> None:
        """Replace the profile."""
        with self._lock:
            self._profiles[base_url, model] = profile
            self._save()

    def offer(self, base_url: str) -> tuple[ListedModel, ...]:
        """The models in the endpoint's last list."""
        with self._lock:
            return self._offers.get(base_url, ())

    def put_offer(self, base_url: str, models: tuple[ListedModel, ...]) -> None:
        """Store the endpoint's list of models."""
        with self._lock:
            if self._offers.get(base_url) != models:
                self._offers[base_url] = models
                self._save()

    def _save(self) -> None:
        if self._path:
            models = [*map(_row, self._profiles.items())]
            offers = encoded(self._offers)
            write_object(self._path, {"models": models, "offered": offers})


def _row(known: tuple[_Key, ModelProfile]) -> dict[str, Any]:
    (base_url, model), profile = known
    return {"base_url": base_url, "model": model, **profile.to_json()}


def _read_profiles(rows: Sequence[Mapping[str, object]]) -> dict[_Key, ModelProfile]:
    keys = [(str(row.get("base_url", "")), str(row.get("model", ""))) for row in rows]
    return dict(zip(keys, map(ModelProfile.from_json, rows), strict=True))


def _read_offers(offered: object) -> dict[str, tuple[ListedModel, ...]]:
    offers = cast("dict[str, Any]", offered) if isinstance(offered, dict) else {}
    return {
        base_url: tuple(_read_offer(row) for row in cast("list[Any]", rows))
        for base_url, rows in offers.items()
        if isinstance(rows, list)
    }


def _read_offer(row: object) -> ListedModel:
    """From a row, or from the name alone, as earlier versions wrote it."""
    return readable(ListedModel, row, mends=True) or ListedModel(
        "" if isinstance(row, dict) else str(row)
    )
