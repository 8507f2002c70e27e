"""The settings as one frozen value, and their TOML file.

A change creates a new `Settings`, which is passed to the parts concerned; there is no global
instance. API keys are not settings: they are in the keyring (`models/endpoints/keys.py`).
"""

import dataclasses
import tomllib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

import tomlkit

from desktop_rag.core.atomic_file import write_atomically
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Section = TypeVar("_Section", bound="DataclassInstance")

# The context length assumed for an unknown model.
ASSUMED_CONTEXT_TOKENS = 8192
# Up to this many files are asked one by one without confirmation.
FEW_FILES = 25


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """An OpenAI-compatible endpoint; an empty `base_url` means excerpts only.

    The normalised address identifies it. `context_tokens` 0 means the measured context length.
    Limits of 0 are off; prices are per million tokens.
    """

    base_url: str = ""
    model: str = ""
    context_tokens: int = 0
    timeout_s: float = 30.0
    name: str = ""
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    price_in: float = 0.0
    price_out: float = 0.0
    spend_per_day: float = 0.0

    @property
    def label(self) -> str:
        """The name given by the person, else the host."""
        return self.name or urlsplit(self.base_url).netloc

    @property
    def is_set(self) -> bool:
        """True when an endpoint and a model are set."""
        return bool(self.base_url and self.model)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings for reading and embedding files. `embedding_threads` 0 means every core.

    `makes_windows` also embeds parts of long passages: better retrieval at about twice the
    embedding time and a tenth more disk.
    """

    model_folder: str = ""
    max_file_mb: int = 200
    embedding_threads: int = 0
    database_memory_mb: int = 2048
    pauses_on_battery: bool = False
    reads_pictures: bool = True
    makes_windows: bool = True


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The engine that keeps the library; see `store/opening.py` for its names."""

    engine: str = "duckdb"


class LaterSources(StrEnum):
    """The origin of the sources for a follow-up question."""

    FRESH = "fresh"
    SAME = "same"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Settings for retrieval.

    `lexical_weight` moves hybrid search towards meaning (0) or words (1); at 0.5 each question gets
    its own balance.

    An answer has up to `passages` sources of up to `source_tokens` in total. `later_sources`
    applies to follow-up questions.
    """

    passages: int = 8
    source_tokens: int = 2400
    lexical_weight: float = 0.5
    later_sources: LaterSources = LaterSources.FRESH


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Settings for checking and extending an answer.

    `checks_claims` compares its sentences with the sources, on this computer; `checks_with_model`
    also asks the endpoint about each of them. `hides_unsupported` hides an answer without a
    supported sentence until the person asks to see it. `suggests_questions` proposes follow-up
    questions, with one short request to the endpoint. `asks_few_files` asks each of up to FEW_FILES
    files when the library search finds nothing. `uses_memory` stores answers and gives the model
    similar ones as examples.
    """

    checks_claims: bool = True
    checks_with_model: bool = False
    hides_unsupported: bool = False
    suggests_questions: bool = True
    asks_few_files: bool = True
    uses_memory: bool = True


class AnswerLength(StrEnum):
    """The desired length of answers."""

    BRIEF = "brief"
    NORMAL = "normal"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class PreferenceSettings:
    """The person's preferences for written answers.

    `language` is a name such as `German`; empty means the language of the question. `tone` is in
    the person's own words.
    """

    language: str = ""
    length: AnswerLength = AnswerLength.NORMAL
    tone: str = ""


@dataclass(frozen=True, slots=True)
class AppearanceSettings:
    """The appearance of the window. `scheme` is `system`, `light` or `dark`."""

    scheme: str = "system"


class WhenClosed(StrEnum):
    """What closing the window does."""

    ASK = "ask"
    STAY = "stay"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class BackgroundSettings:
    """Settings for the app without its window.

    `hotkey` opens the quick ask, `selection_hotkey` with the text selected in another program; both
    as `Ctrl+Alt+Space`, "" for none. `asks_for_hotkeys` allows a question of the desktop about them
    at the start, where it asks.
    """

    when_closed: WhenClosed = WhenClosed.ASK
    starts_at_login: bool = False
    notifies: bool = True
    hotkey: str = "Ctrl+Alt+Space"
    selection_hotkey: str = ""
    asks_for_hotkeys: bool = False


@dataclass(frozen=True, slots=True)
class ActivitySettings:
    """The event log on this computer. Without `is_recorded` nothing is added to it."""

    is_recorded: bool = True


@dataclass(frozen=True, slots=True)
class HelperSettings:
    """The model for background tasks at one of the endpoints; empty means the chat model."""

    base_url: str = ""
    model: str = ""

    @property
    def is_set(self) -> bool:
        """True when a separate model is named."""
        return bool(self.base_url and self.model)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `endpoint` answers questions; `other_endpoints` are the alternatives."""

    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    other_endpoints: tuple[EndpointSettings, ...] = ()
    helper: HelperSettings = field(default_factory=HelperSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    answers: AnswerSettings = field(default_factory=AnswerSettings)
    preferences: PreferenceSettings = field(default_factory=PreferenceSettings)
    appearance: AppearanceSettings = field(default_factory=AppearanceSettings)
    background: BackgroundSettings = field(default_factory=BackgroundSettings)
    activity: ActivitySettings = field(default_factory=ActivitySettings)

    @property
    def endpoints(self) -> tuple[EndpointSettings, ...]:
        """All endpoints with an address, sorted by label."""
        known = [e for e in (self.endpoint, *self.other_endpoints) if e.base_url]
        return tuple(sorted(known, key=lambda e: (e.label.casefold(), e.base_url)))

    @property
    def helping_endpoint(self) -> EndpointSettings:
        """The endpoint and model for background tasks; by default the chat endpoint."""
        for endpoint in self.endpoints:
            if self.helper.is_set and endpoint.base_url == self.helper.base_url:
                return replace(endpoint, model=self.helper.model)
        return self.endpoint

    def with_endpoint(self, base_url: str, endpoint: EndpointSettings) -> "Settings":
        """The settings with the endpoint at an address replaced, or added if there is none.

        The first endpoint answers questions. An endpoint without an address is removed.
        """
        helper = self.helper
        if base_url and helper.base_url == base_url:
            helper = replace(helper, base_url=endpoint.base_url)
        if base_url == self.endpoint.base_url and (base_url or not self.other_endpoints):
            return replace(self, endpoint=endpoint, helper=helper)
        others = [endpoint if e.base_url == base_url else e for e in self.other_endpoints]
        if all(e.base_url != base_url for e in self.other_endpoints):
            others.append(endpoint)
        kept = tuple(other for other in others if other.base_url)
        return replace(self, other_endpoints=kept, helper=helper)

    def using(self, base_url: str, model: str = "") -> "Settings":
        """The settings with this endpoint and model as the chat model; "" for excerpts."""
        chosen = next((e for e in self.endpoints if e.base_url == base_url), EndpointSettings())
        others = tuple(e for e in self.endpoints if e.base_url != base_url)
        chosen = replace(chosen, model=model or chosen.model)
        return replace(self, endpoint=chosen, other_endpoints=others)

    def without(self, base_url: str) -> "Settings":
        """The settings without this endpoint; no other endpoint takes its place."""
        helper = HelperSettings() if self.helper.base_url == base_url else self.helper
        is_used = self.endpoint.base_url == base_url
        return replace(
            self,
            endpoint=EndpointSettings() if is_used else self.endpoint,
            other_endpoints=tuple(e for e in self.other_endpoints if e.base_url != base_url),
            helper=helper,
        )


def load_settings(path: Path) -> tuple[Settings, list[Notice]]:
    """Read the file, else its backup, else the defaults; the notices report problems.

    A value of the wrong type gets its default; the others are kept.
    """
    if not path.exists():
        return Settings(), []
    try:
        return _from_tables(_read(path), path)
    except (OSError, ValueError) as exc:
        notice = Notice("The settings file cannot be read.", f"{path}: {exc}")
    backup = _backup_of(path)
    try:
        settings, _ = _from_tables(_read(backup), backup)
    except (OSError, ValueError):
        return Settings(), [notice, Notice("Default settings are used.")]
    return settings, [notice, Notice("The settings as last saved before are used.")]


def save_settings(path: Path, settings: Settings) -> None:
    """Write the file atomically; unknown keys and comments are preserved.

    Raises AppError when writing fails; the file is then unchanged.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = tomlkit.parse(text)
    except (OSError, ValueError):
        text, document = "", tomlkit.document()
    _put_sections(document, settings)
    try:
        if text:
            write_atomically(_backup_of(path), text)
        write_atomically(path, tomlkit.dumps(document))
    except OSError as exc:
        raise AppError("The settings could not be saved.", f"{path}: {exc.strerror}.") from exc


def settings_to_text(settings: Settings) -> str:
    """The settings as TOML, with nothing else that their file may hold."""
    document = tomlkit.document()
    _put_sections(document, settings)
    return tomlkit.dumps(document)


def settings_from_text(text: str) -> Settings:
    """The inverse of `settings_to_text`; ValueError when a value is not of its kind."""
    settings, notices = _from_tables(tomllib.loads(text), Path())
    if notices:
        raise ValueError(notices[0].title)
    return settings


def _put_sections(document: tomlkit.TOMLDocument, settings: Settings) -> None:
    for section, values in dataclasses.asdict(settings).items():
        if isinstance(values, tuple):
            _put_tables(document, section, cast("tuple[dict[str, Any], ...]", values))
            continue
        table = document.get(section)
        if not isinstance(table, dict):
            document[section] = table = tomlkit.table()
        table.update(values)


def _put_tables(
    document: tomlkit.TOMLDocument, section: str, rows: tuple[dict[str, Any], ...]
) -> None:
    document.pop(section, None)
    if rows:
        tables = tomlkit.aot()
        for row in rows:
            table = tomlkit.table()
            table.update(row)
            tables.append(table)
        document[section] = tables


def _backup_of(path: Path) -> Path:
    return path.with_suffix(".toml.bak")


def _read(path: Path) -> dict[str, Any]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    if not tables:
        raise ValueError("the file is empty")
    return tables


def _from_tables(tables: dict[str, Any], path: Path) -> tuple[Settings, list[Notice]]:
    sections: dict[str, Any] = {}
    wrong: list[str] = []
    for section in dataclasses.fields(Settings):
        default = getattr(Settings(), section.name)
        given = tables.get(section.name)
        if not isinstance(default, tuple):
            sections[section.name] = _from_table(given, default, section.name, wrong)
            continue
        rows = cast("list[Any]", given) if isinstance(given, list) else []
        read = [_from_table(row, EndpointSettings(), section.name, wrong) for row in rows]
        sections[section.name] = tuple(endpoint for endpoint in read if endpoint.base_url)
    notices = [Notice(f"Settings of the wrong kind were ignored: {', '.join(wrong)}.", str(path))]
    return Settings(**sections), notices if wrong else []


def _from_table(table: object, default: _Section, name: str, wrong: list[str]) -> _Section:
    """Read one section; the names of values with the wrong type are added to `wrong`."""
    if table is not None and not isinstance(table, dict):
        wrong.append(name)
    given = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    values: dict[str, Any] = {f.name: getattr(default, f.name) for f in dataclasses.fields(default)}
    for field_name, fallback in values.items():
        value = given.get(field_name, fallback)
        if _has_type_of(value, fallback):
            values[field_name] = type(fallback)(value)
        else:
            wrong.append(f"{name}.{field_name}")
    return type(default)(**values)


def _has_type_of(value: object, example: object) -> bool:
    if isinstance(example, StrEnum):
        return value in list(type(example))
    if isinstance(example, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is type(example)
