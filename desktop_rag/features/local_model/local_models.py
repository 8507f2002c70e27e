"""Models on this computer: found, given, fetched, used and removed. Worker threads.

The face of the wing, for the window and the command line.
"""

import logging
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.app import Services
from desktop_rag.core.errors import AppError, Cancelled, os_error_as
from desktop_rag.core.files.own_files import object_in
from desktop_rag.core.paths import Home
from desktop_rag.core.records import readable_rows
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.features.local_model.catalogue import Suggestion, suggested
from desktop_rag.features.local_model.downloads import Downloads
from desktop_rag.features.local_model.gguf_header import ModelHeader, is_later_part, read_header
from desktop_rag.features.local_model.model_list import ChosenModel
from desktop_rag.features.local_model.model_room import room_for, this_computer
from desktop_rag.features.local_model.model_server import ModelServer, is_installed
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.endpoint_check import LocalServer
from desktop_rag.registry import WingServices
from desktop_rag.settings_changes import SettingsChanges

log = logging.getLogger(__name__)

_DEEPEST = 6
_MOST_FILES = 20_000
_MOST_MODELS = 200
_LONGEST_MANIFEST_BYTES = 1 << 20
_MODEL_LAYER = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
OLLAMA = "Ollama"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model file of another program, by the name that it has there."""

    name: str
    path: Path
    program: str
    header: ModelHeader


def found_models(
    home: Path | None = None, environment: Mapping[str, str] = os.environ
) -> list[FoundModel]:
    """The whole models that write text, each file once, in the order of the programs."""
    found: dict[Path, FoundModel] = {}
    for name, path, program in _files(home or Path.home(), environment):
        if len(found) == _MOST_MODELS:
            break
        try:
            real = Path(os.path.realpath(path))  # unlike `resolve`, it bears circles
            header = read_header(real)
        except (AppError, OSError) as error:
            log.info("a file of %s is passed over: %s", program, type(error).__name__)
            continue
        if header.writes_text:
            found.setdefault(real, FoundModel(name, real, program, header))
    return list(found.values())


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Path, str]]:
    """The name, file and program of all that may be a model."""
    for program, folders in _folders(home, environment).items():
        for folder in folders:
            if program == OLLAMA:
                yield from _of_ollama(folder)
                continue
            for path in _below(folder):
                if path.suffix.casefold() == ".gguf" and not is_later_part(path):
                    yield path.stem, path, program


def _folders(home: Path, environment: Mapping[str, str]) -> dict[str, list[Path]]:
    data, cache, config = _system_folders(home, environment)

    def named(variable: str, *below: str) -> list[Path]:
        value = environment.get(variable)
        return [Path(value, *below)] if value else []

    return {
        "LM Studio": [home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"],
        OLLAMA: named("OLLAMA_MODELS")
        or [home / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models")],
        "Jan": [
            data / "Jan" / "data" / "llamacpp" / "models", data / "Jan" / "data" / "models",
            config / "Jan" / "data" / "llamacpp" / "models", home / "jan" / "models",
        ],
        "GPT4All": [data / "nomic.ai" / "GPT4All"],
        "llama.cpp": named("LLAMA_CACHE") or [cache / "llama.cpp"],
        "Hugging Face": named("HF_HUB_CACHE")
        or named("HF_HOME", "hub")
        or [home / ".cache" / "huggingface" / "hub"],
    }  # fmt: skip


def _system_folders(home: Path, environment: Mapping[str, str]) -> tuple[Path, Path, Path]:
    """The folders for data, caches and settings of programs."""
    if sys.platform == "darwin":
        support = home / "Library" / "Application Support"
        return support, home / "Library" / "Caches", support
    if sys.platform == "win32":
        roaming = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
        local = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return local, local, roaming
    return (
        Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share"),
        Path(environment.get("XDG_CACHE_HOME") or home / ".cache"),
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config"),
    )


def _of_ollama(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """The models in Ollama's manifests: registry, owner, model and tag are folders and a file."""
    manifests = folder / "manifests"
    for path in _below(manifests):
        parts = path.relative_to(manifests).parts
        if len(parts) < 2 or not (digest := _model_digest(path)):  # noqa: PLR2004
            continue
        owned = parts[-3:-1] if len(parts) > 3 and parts[-3] != "library" else parts[-2:-1]  # noqa: PLR2004
        yield f"{'/'.join(owned)}:{parts[-1]}", folder / "blobs" / f"sha256-{digest}", OLLAMA


def _model_digest(manifest: Path) -> str:
    try:
        with manifest.open("rb") as file:
            content = object_in(file.read(_LONGEST_MANIFEST_BYTES))
    except (OSError, ValueError):
        return ""
    rows = readable_rows(dict[str, object], content.get("layers"))
    layers = [row for row in rows if row.get("mediaType") == _MODEL_LAYER]
    named = _DIGEST.fullmatch(str(layers[0].get("digest"))) if layers else None
    return named[1] if named else ""


def _below(folder: Path) -> Iterator[Path]:
    """The files below a folder, sorted within each; none where it is missing or closed."""
    left, depth = _MOST_FILES, len(folder.parts)
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(folders) if len(Path(place).parts) - depth < _DEEPEST else []
        for name in sorted(files):
            if not (left := left - 1):
                return
            yield Path(place, name)


# What a model needs to be worth offering by itself.
_LEAST_PARAMETERS = 2_500_000_000


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A whole model file on this computer.

    `program` is the one that keeps it, "" for a file that was given, and `is_fetched` marks those
    that this app fetched. It reads `context_tokens` at once, fewer than it could where memory is
    short. The speeds are in tokens a second on the `device`, 0 before it was first loaded.
    """

    name: str
    path: Path
    program: str
    header: ModelHeader
    fits: bool
    context_tokens: int
    is_fetched: bool = False
    is_used: bool = False
    read_per_s: float = 0.0
    written_per_s: float = 0.0
    device: str = ""

    @property
    def makes_things_up(self) -> bool:
        """True for a model that is known to be too small to be recommended."""
        return 0 < self.header.parameters < _LEAST_PARAMETERS

    @property
    def is_good(self) -> bool:
        """True when it can be offered without a doubt: it fits, converses, and is not tiny."""
        can_converse = self.header.has_template and self.header.writes_text
        return self.fits and can_converse and self.header.parameters >= _LEAST_PARAMETERS


class LocalModels:
    """Everything about models on this computer, over the models and settings of the app."""

    def __init__(self, home: Home, models: ChatModels, settings: SettingsChanges) -> None:
        self._models = models
        self._settings = settings
        assert isinstance(models.own_server, ModelServer)
        self.server = models.own_server
        self._chosen = self.server.models
        self._folder = home.local_models
        self.downloads = Downloads(home.local_models, models.changes)
        self._closing = Event()

    @property
    def is_installed(self) -> bool:
        """True when this installation can run models."""
        return is_installed()

    @property
    def used(self) -> str:
        """The name of the model that answers; "" when another endpoint does, or none."""
        endpoint = self._models.settings.endpoint
        return endpoint.model if endpoint.base_url == OWN_ADDRESS else ""

    def all(self) -> tuple[LocalModel, ...]:
        """Every model on this computer: chosen, fetched, and found. Reads disks; sends nothing."""
        known: dict[Path, LocalModel] = {}
        for chosen in self._chosen.all():
            self._add(known, chosen.name, chosen.path, "")
        for path in sorted(self._folder.glob("*.gguf")):
            self._add(known, path.stem, path, "")
        free_bytes, used = this_computer().free_bytes, self.used
        for found in found_models():
            earlier = known.get(found.path)
            name = earlier.name if earlier else found.name
            known[found.path] = _found(name, found, free_bytes)
        return tuple(self._with_state(model, used) for model in known.values())

    def suggestion(self) -> Suggestion:
        """The model to fetch on this computer, with the reason."""
        return suggested(this_computer())

    def add(self, path: Path) -> LocalModel:
        """Take a model file into the list, where it is. AppError when it is none."""
        path = path.expanduser().resolve()
        header = read_header(path)
        if not header.writes_text:
            raise AppError(
                f"“{path.name}” is a model that writes no text.",
                "Choose a model for conversations; their names often end in “Instruct” or “it”.",
            )
        name = next((m.name for m in self._chosen.all() if m.path == path), "")
        name = name or self._chosen.free_name(path.stem, path)
        self._chosen.put(replace(self._at(path), name=name))
        added: dict[Path, LocalModel] = {}
        self._add(added, name, path, "")
        return self._with_state(added[path], self.used)

    def use(self, name: str) -> LocalModel:
        """Have this model answer from now on, and load it; its speed is measured once.

        Returns before it is loaded, see `loading`. AppError when there is no such model or nothing
        can be run.
        """
        model = self.find(name)
        self._chosen.put(replace(self._at(model.path), name=model.name, path=model.path))
        self._settings.change(lambda settings: _using(settings, model.name))
        self.load()
        return replace(model, is_used=True)

    def load(self) -> None:
        """Load the model that answers, if one of this computer does. Returns at once."""
        if name := self.used:
            threading.Thread(
                target=self._load, args=(name,), name="model-loading", daemon=True
            ).start()

    def remove(self, name: str) -> int:
        """Take a model off the list; a fetched file is deleted. Returns the bytes that are free.

        AppError when there is no such model, or its file can't be deleted.
        """
        model = self.find(name)
        if model.is_used:
            self._settings.change(lambda settings: settings.without(OWN_ADDRESS))
        if self.server.loaded == model.name:
            self.server.let_go()
        self._chosen.remove(model.name)
        if not model.is_fetched:
            return 0
        with os_error_as(f"“{model.path.name}” could not be deleted."):
            model.path.unlink(missing_ok=True)
        return model.header.size_bytes

    def find(self, name: str) -> LocalModel:
        """The model of this name, or the only one whose name contains it. AppError otherwise."""
        wanted, known = name.strip().casefold(), self.all()
        same = [model for model in known if model.name.casefold() == wanted]
        near = [model for model in known if wanted and wanted in model.name.casefold()]
        if len(found := same or near) == 1:
            return found[0]
        names = ", ".join(f"“{model.name}”" for model in near or known)
        title = f"There is no single model “{name}” on this computer."
        raise AppError(title, f"There are {names}." if names else "Add or fetch one first.")

    def servers(self) -> Sequence[LocalServer]:
        """The programs on this computer that answer at the usual addresses and have a model."""
        return [server for server in self._models.running_servers() if server.models]

    def use_server(self, server: LocalServer) -> None:
        """Have the first model of another program answer from now on."""
        base_url = server.base_url

        def using(settings: Settings) -> Settings:
            if all(endpoint.base_url != base_url for endpoint in settings.endpoints):
                settings = settings.with_endpoint("", EndpointSettings(base_url))
            return settings.using(base_url, server.models[0])

        self._settings.change(using)

    def close(self) -> None:
        """End what is in progress. Idempotent."""
        self._closing.set()
        self.downloads.close()

    def loading(self, name: str, cancel: Event) -> Iterator[str]:
        """What is waited for, until a model is loaded. AppError when it can't be."""
        for delta in self.server.begin(name, cancel):
            yield delta.status
        self.server.end()

    def _load(self, name: str) -> None:
        try:
            for _ in self.loading(name, self._closing):
                pass
        except AppError as error:
            log.info("the model is not loaded: %s", error.title)  # the event and a question say so
        except Cancelled:
            log.info("loading the model was cancelled")

    def _add(self, known: dict[Path, LocalModel], name: str, path: Path, program: str) -> None:
        """Add a model if its file is whole; a broken one is not there."""
        with suppress(AppError, OSError):
            path = path.resolve()
            if path not in known:
                found = FoundModel(name, path, program, read_header(path))
                known[path] = _found(name, found, this_computer().free_bytes)

    def _at(self, path: Path) -> ChosenModel:
        """The chosen model of this file, or a new one."""
        return next((m for m in self._chosen.all() if m.path == path), ChosenModel("", path))

    def _with_state(self, model: LocalModel, used: str) -> LocalModel:
        chosen = self._at(model.path)
        return replace(
            model,
            is_fetched=model.path.parent == self._folder.resolve(),
            is_used=bool(used) and used == chosen.name,
            read_per_s=chosen.read_per_s,
            written_per_s=chosen.written_per_s,
            device=chosen.device,
        )


def _found(name: str, found: FoundModel, free_bytes: int) -> LocalModel:
    room = room_for(found.header, free_bytes)
    tokens = room.context_tokens if room else 0
    return LocalModel(name, found.path, found.program, found.header, bool(room), tokens)


def _using(settings: Settings, name: str) -> Settings:
    known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
    before = known.get(OWN_ADDRESS, EndpointSettings(OWN_ADDRESS, name="This computer"))
    place = OWN_ADDRESS if OWN_ADDRESS in known else ""
    return settings.with_endpoint(place, replace(before, model=name)).using(OWN_ADDRESS)


class LocalModelServices(WingServices):
    """`models` is the face of the wing."""

    def __init__(self, services: Services) -> None:
        self.models = LocalModels(services.home, services.chat.models, services.settings_changes)

    def stop(self) -> None:
        """Stop loading and fetching."""
        self.models.close()

    def release_memory(self) -> None:
        """Let the model go, unless it is answering."""
        self.models.server.release()
