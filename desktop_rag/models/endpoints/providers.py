"""The services and programs with an OpenAI-compatible API. Any thread.

The table is `resources/endpoints/providers.toml`, read once; a mistake in it is a bug of ours.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from desktop_rag.core.model_profile import LengthField
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.records import AsObject, checked
from desktop_rag.models.endpoint_address import MODEL_SLOT, normalise_base_url

# A part of an address that only the person knows.
_BLANK = re.compile(r"YOUR-[A-Z]+")
_ANY_PART = r"[^/?#]+"
_THIS_COMPUTER = re.compile(r"^(https?://)(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)")


class Auth(StrEnum):
    """How a key is sent: as a bearer token, or in a header of this name."""

    BEARER = "bearer"
    API_KEY = "api-key"
    X_API_KEY = "x-api-key"


class Quirk(StrEnum):
    """A known difference from the usual API."""

    NO_STREAMING = "no-streaming"
    NO_STREAM_OPTIONS = "no-stream-options"
    NO_SYSTEM_ROLE = "no-system-role"
    ALTERNATING_TURNS = "alternating-turns"
    MAX_COMPLETION_TOKENS = "max-completion-tokens"


_FACTS: dict[Quirk, dict[str, Any]] = {
    Quirk.NO_STREAMING: {"streams": False},
    Quirk.NO_STREAM_OPTIONS: {"counts_usage": False},
    Quirk.NO_SYSTEM_ROLE: {"takes_system": False},
    Quirk.ALTERNATING_TURNS: {"must_alternate": True},
    Quirk.MAX_COMPLETION_TOKENS: {"length_field": LengthField.MAX_COMPLETION_TOKENS},
}


@dataclass(frozen=True, slots=True)
class ListShape:
    """The list of models: where it is, and the fields of an entry as `outer.inner`."""

    path: str = "models"  # "" for none; with a leading slash it starts at the host
    auth: Auth | None = None  # None means that of the provider
    headers: Annotated[tuple[tuple[str, str], ...], AsObject] = ()
    name: str = ""
    context: str = ""  # "" means the usual fields
    price_in: str = ""
    price_out: str = ""
    dollars: float = 1.0  # factor from a price to US dollars per million tokens


USUAL_LIST = ListShape()


@dataclass(frozen=True, slots=True)
class Provider:
    """A row of the table. A service has a `key_page`; a program on this computer a `start`.

    `address` may contain blanks for the person to fill in, MODEL_SLOT, and a query.
    """

    name: str
    address: str
    also: tuple[str, ...] = ()
    auth: Auth = Auth.BEARER
    key_page: str = ""
    start: str = ""
    note: str = ""
    quirks: tuple[Quirk, ...] = ()
    list: ListShape = USUAL_LIST

    @property
    def is_program(self) -> bool:
        """True for a program that serves models on this computer."""
        return bool(self.start)

    @property
    def blank(self) -> str:
        """The part of the address that the person must replace; empty if it is complete."""
        return blank_in(self.address)


def blank_in(address: str) -> str:
    """The first part of an address that is still to be replaced; empty if there is none."""
    found = _BLANK.search(address)
    return found[0] if found else ""


def services() -> tuple[Provider, ...]:
    """The services on the network, by name."""
    found = (provider for provider in _providers() if not provider.is_program)
    return tuple(sorted(found, key=lambda provider: provider.name.casefold()))


def programs() -> tuple[Provider, ...]:
    """The programs on this computer, the most common first."""
    return tuple(provider for provider in _providers() if provider.is_program)


@cache
def provider_at(base_url: str) -> Provider | None:
    """The provider with this normalised address, the first of those that share it."""
    bare = _bare(base_url)
    matches = (p for p in _providers() if any(t.fullmatch(bare) for t in _templates(p)))
    return next(matches, None)


def model_at(base_url: str) -> str:
    """The model that a normalised address names in its path; empty if it names none."""
    provider = provider_at(base_url)
    found = (t.fullmatch(_bare(base_url)) for t in _templates(provider)) if provider else ()
    named = (match.groupdict().get("model") for match in found if match)
    return next((name for name in named if name and name != MODEL_SLOT), "")


def find_provider(name: str) -> Provider | None:
    """The provider with this name, or the only one whose name contains it; case doesn't matter."""
    wanted = _folded(name)
    known = {_folded(provider.name): provider for provider in _providers()}
    containing = [provider for folded, provider in known.items() if wanted and wanted in folded]
    return known.get(wanted) or (containing[0] if len(containing) == 1 else None)


def list_shape_at(base_url: str) -> ListShape:
    """The shape of the list of models at a normalised address."""
    provider = provider_at(base_url)
    return provider.list if provider else USUAL_LIST


def quirks_at(base_url: str) -> dict[str, Any]:
    """What is known of every model at this address: values of a `ModelProfile` by name."""
    provider = provider_at(base_url)
    facts = [_FACTS[quirk] for quirk in (provider.quirks if provider else ())]
    return {name: value for known in facts for name, value in known.items()}


def read_providers(path: Path) -> tuple[Provider, ...]:
    """The rows of a table.

    Raises:
        ValueError: naming the row and what is wrong with it.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    rows: list[Provider] = []
    for kind, tables in content.items():
        if kind not in ("service", "program"):
            raise ValueError(f"{path.name}: there are services and programs, but no “{kind}”")
        rows += [_read_row(table, f"{path.name}, {kind} {n}") for n, table in enumerate(tables, 1)]
        if missing := [row.name for row in rows if row.is_program == bool(row.key_page)]:
            raise ValueError(f"{path.name}: {missing}: either a key_page or how to start it")
    names = [_folded(row.name) for row in rows]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path.name}: named more than once: {', '.join(sorted(twice))}")
    return tuple(rows)


@cache
def _providers() -> tuple[Provider, ...]:
    return read_providers(resources_dir() / "endpoints" / "providers.toml")


def _read_row(table: Mapping[str, Any], where: str) -> Provider:
    where = f"{where} ({table.get('name', 'without a name')})"
    row = checked(Provider, table, where)
    for address in (row.address, *row.also):
        if normalise_base_url(address).casefold() != address.casefold():
            raise ValueError(f"{where}: {address} is not a normalised address")
    return row


@cache
def _templates(provider: Provider) -> Sequence[re.Pattern[str]]:
    return [_template(address) for address in (provider.address, *provider.also)]


def _template(address: str) -> re.Pattern[str]:
    """Matches the addresses that this one stands for, without their query."""
    pattern = re.escape(_bare(address)).replace(r"\*", _ANY_PART)
    pattern = pattern.replace(re.escape(MODEL_SLOT), f"(?P<model>{_ANY_PART})")
    return re.compile(_BLANK.sub(_ANY_PART, pattern.replace(r"YOUR\-", "YOUR-")), re.IGNORECASE)


def _bare(base_url: str) -> str:
    """The address without its query, this computer under its usual name."""
    return _THIS_COMPUTER.sub(r"\1localhost", urlsplit(base_url)._replace(query="").geturl())


def _folded(name: str) -> str:
    return re.sub(r"\W+", "", name.casefold())
