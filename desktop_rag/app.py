"""The composition root: builds the services in order and shuts them down in reverse order.

The only module that imports every room below the window. `build_services` builds what each entry
point needs; `window_app` adds the window.
"""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

from desktop_rag.activity.activity import Activity
from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.recorder import LibraryRecorder, Recorder
from desktop_rag.answer.answer_service import AnswerService, AnswerWrap, FinishedAnswer
from desktop_rag.answer.chat import Chat
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.answer.checking.disputes import ClaimChecks, Insistence
from desktop_rag.answer.conversations.assistants import Assistants
from desktop_rag.answer.conversations.personal import (
    COLLECTION,
    Memory,
    Personal,
    PromptLibrary,
    Rewrites,
)
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.search.candidates import AnsweringIndex, FilenameMatcher
from desktop_rag.answer.search.fusion import FusionModel
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import AnswerEvent
from desktop_rag.core.files.own_files import set_aside_damaged
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import IndexSettings, Settings
from desktop_rag.idle_memory import IdleMemory, idle_memory_of
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.ingest.indexing.late_texts import LateTexts
from desktop_rag.ingest.library import Library
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from desktop_rag.ingest.pipeline import Findable, LibraryStores
from desktop_rag.ingest.read.foundation.format_names import is_worth_reading
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.watching.watcher import WatchTimes
from desktop_rag.kept_endpoints import KeptEndpoints
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.connection_states import Connection, Facts, connections
from desktop_rag.models.embedding.joined_embedding import EmbedderOpener, bundled_folders
from desktop_rag.models.embedding.remote_embedder import is_address
from desktop_rag.models.endpoints.client.allowances import Allowances, ProfileBook
from desktop_rag.models.system_keyring import FilePasswords, KeyStore
from desktop_rag.registry import WingServices, hooks
from desktop_rag.running_app import Asker
from desktop_rag.settings_changes import SettingsChanges
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import LibraryInUse, open_engine, opening_notices

log = logging.getLogger(__name__)

_MEGABYTE = 1 << 20
W = TypeVar("W", bound=WingServices)


@dataclass
class Services:
    """The two faces over one open store, and the services of the wings over them.

    `notices` report faults during the start. `engine` is for the composition root and the wings.
    `in_use` is the library that questions search. `recorder` writes the event log that `activity`
    reads. All of them publish to `changes`. `now` gives the local time. A wing that is open puts
    its own `take` for its `KeptFile` into `file_takers`, by name.
    """

    home: Home
    settings: Settings
    engine: Engine
    in_use: LibraryInUse
    embedders: EmbedderRegistry
    library: Library
    chat: Chat
    retriever: Retriever
    keys: KeyStore
    notices: tuple[Notice, ...]
    settings_notices: tuple[Notice, ...]
    changes: Changes
    recorder: Recorder
    activity: Activity
    idle_memory: IdleMemory
    now: Callable[[], datetime]
    settings_changes: SettingsChanges = field(init=False)
    is_running: bool = False

    def __post_init__(self) -> None:
        self.file_takers: dict[str, Callable[[str], int]] = {}
        self._wings: dict[type[WingServices], WingServices] = {}
        self._lock = RLock()
        appliers = [self.library.apply, self.chat.apply, self.follow]
        self.settings_changes = SettingsChanges(
            self.home.settings, lambda: self.chat.models.settings, appliers, self.recorder
        )

    def wing(self, kind: "Callable[[Services], W]") -> W:
        """The services of a wing, made on first use. Any thread."""
        with self._lock:
            if kind not in self._wings:
                self._wings[cast("type[W]", kind)] = kind(self)
            return cast("W", self._wings[cast("type[W]", kind)])

    def has_opened(self, wing: str) -> bool:
        """True when the services of the wing of this name are made."""
        prefix = f"desktop_rag.features.{wing}."
        return any(kind.__module__.startswith(prefix) for kind in self._wings)

    def run(self) -> None:
        """Start background work. Once, on a worker thread."""
        self.library.start()
        self.is_running = True
        self.follow(self.chat.models.settings)

    def begin_keeping(self, notify: Callable[[Notice], None]) -> None:
        """Have the wings keep the library safe while it is open; `notify` is told of faults."""
        for hook in hooks("keep").values():
            hook(self, notify)

    def follow(self, settings: Settings) -> None:
        """Have each wing follow the settings. Worker thread."""
        for hook in hooks("follow").values():
            hook(self, settings)

    def release_memory(self) -> None:
        """Have the wings free what can be loaded again."""
        for opened in self._opened():
            opened.release_memory()

    def connections(self) -> tuple[Connection, ...]:
        """Every connection the app can make, with its present state. Worker threads."""
        rights = tuple(a for opened in self._opened() for a in opened.rights_addresses)
        settings = self.chat.models.settings
        for opened in self._opened():
            server = replace(settings.server, **opened.said_of_server)
            settings = replace(settings, server=server)
        return connections(
            Facts(
                settings, self.library.sources.all(),
                self.library.collections.all(), self.chat.assistants.all(),
                self.settings.index.model_folder, rights,
            )
        )  # fmt: skip

    def stop(self) -> None:
        """Cancel what the wings have in progress."""
        for opened in self._opened():
            opened.stop()

    def close(self) -> None:
        """Stop the wings and indexing, close connections, then the store."""
        self.stop()
        for opened in self._opened():
            opened.close()
        self.idle_memory.close()
        self.library.close()
        self.chat.close()
        self.engine.close()
        self.recorder.close()

    def _opened(self) -> list[WingServices]:
        """The services of the wings, the last opened first."""
        with self._lock:
            return [*reversed(self._wings.values())]


# What a wing answers to another one.
Verb = Callable[[Services, dict[str, Any]], Any]
# Runs a verb of the command line for another process; returns its exit code.
RunVerb = Callable[[Services, dict[str, Any], Asker], int]


def build_services(
    home: Home, *, times: WatchTimes | None = None, now: Callable[[], datetime] = datetime.now
) -> Services:
    """Open the store and build the services over it; nothing runs until `library.start`.

    `now` gives local time. AppError when the store can't be opened; a missing model is a notice.
    """
    settings, notices = settings_of(home)
    engine, changes = open_engine(home, settings), Changes()
    event_log = EventLog(EventFiles(home.activity), changes)
    recorder = Recorder(event_log, is_on=settings.activity.is_recorded)
    try:
        lost = [notice for fill in hooks("restore_lost").values() for notice in fill(home, engine)]
        if lost:
            settings, notices = load_settings(home.settings)
        in_use, priority, keys = LibraryInUse(engine), AnswerPriority(), KeyStore()
        opener = embedder_opener(keys, recorder)
        dense = _make_dense(engine, settings.index, opener, in_use)
        stores = _library_stores(home, in_use, keys, recorder)
        library = _make_library(home, settings, stores, dense, priority, times, recorder, changes)
        retriever = _make_retriever(in_use, dense, priority, library)
        models = _make_models(home, settings, keys, recorder, changes)
        checker = ClaimChecker(dense.bundled)
        wrap = _WrapOnDemand() if hooks("wrap_answer") else None
        personal = _make_personal(home, engine, library, dense)
        chat = _make_chat(in_use.engine, retriever, dense, models, personal, checker, wrap)
        faults = _faults(dense, [*opening_notices(engine), *lost], recorder)
    except BaseException:
        engine.close()
        recorder.close()
        raise

    def release_wings() -> None:
        services.release_memory()

    history = chat.history
    releases = [opener.release, checker.release, engine.storage.release, release_wings]
    services = Services(
        home, settings, engine, in_use, dense, library, chat, retriever, keys,
        (*notices, *faults), tuple(notices), changes, recorder,
        Activity(event_log, history.feedback.newest_first, history.titles, history.messages),
        idle_memory_of(library, chat, priority, opener.prepare, releases), now,
    )  # fmt: skip
    if wrap:
        [open_wrap] = hooks("wrap_answer").values()
        wrap.open = partial(open_wrap, services)
    services.follow(settings)
    return services


class _WrapOnDemand:
    """The wrap of a wing around answers, opened for the first assistant that has rails."""

    open: Callable[[], AnswerWrap]

    def check(self, rails: str) -> None:
        """As `AnswerWrap.check`."""
        if rails:
            self.open().check(rails)

    def answer(
        self, request: AnswerRequest, service: AnswerService
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        """As `AnswerWrap.answer`."""
        return self.open().answer(request, service)


def settings_of(home: Home) -> tuple[Settings, list[Notice]]:
    """The settings of a home, which is made if need be; the notices tell what was damaged there."""
    home.create()
    # Without the rules of access nobody would know what is protected.
    damaged = set_aside_damaged(path for path in home.files() if path != home.access_rules)
    settings, notices = load_settings(home.settings)
    if damaged:
        hint = f"They are kept beside the new ones: {', '.join(map(str, damaged))}."
        notices.append(Notice("Damaged files were set aside.", hint))
    return settings, notices


@contextmanager
def opened_models(home: Home) -> Generator[KeptEndpoints]:
    """The chat models with their settings, without the library."""
    settings, _ = settings_of(home)
    log = EventLog(EventFiles(home.activity))
    recorder = Recorder(log, is_on=settings.activity.is_recorded)
    models = _make_models(home, settings, KeyStore(), recorder)
    try:
        changes = SettingsChanges(home.settings, lambda: models.settings, [models.apply], recorder)
        yield KeptEndpoints(models, changes)
    finally:
        models.stop()
        models.close()
        recorder.close()


def _make_chat(  # noqa: PLR0917  each is made once, in this order
    engine: Engine,
    retriever: Retriever,
    dense: EmbedderRegistry,
    models: ChatModels,
    personal: Personal,
    checker: ClaimChecker,
    wrap: AnswerWrap | None,
) -> Chat:
    # Extractive answers embed sentence by sentence: too many requests for an endpoint.
    embedder = None if is_address(models.settings.index.model_folder) else dense.embedder
    chat = Chat(
        engine, retriever, embedder, models, personal,
        assistants=Assistants(
            engine.assistants, engine.sources.collections, wrap.check if wrap else None
        ),
        checks=ClaimChecks(checker.check, Insistence(dense.bundled).dispute_of), wrap=wrap,
    )  # fmt: skip
    chat.store_cut_answers()
    return chat


# The checker of claims against their sources; it needs no store.
make_claim_checker = ClaimChecker


def _make_retriever(
    in_use: LibraryInUse, dense: EmbedderRegistry, priority: AnswerPriority, library: Library
) -> Retriever:
    engine = in_use.engine

    def answering() -> list[AnsweringIndex]:
        search = engine.models.search
        return [
            AnsweringIndex(
                a.index.embedder, search(a.index.vectors.model_id), a.collection_ids, a.questions
            )
            for a in dense.answering()
        ]

    fusion = FusionModel.load(resources_dir() / "retrieval" / "fusion.toml")
    names = FilenameMatcher(engine.names)
    return Retriever(
        engine.lexical, answering, priority, names, fusion, in_use.missed,
        not_ready=library.readiness.missing, embed_first=library.readiness.embed_first,
    )  # fmt: skip


def _faults(dense: EmbedderRegistry, repairs: list[Notice], recorder: Recorder) -> list[Notice]:
    for notice in repairs:
        recorder.repair(notice.title, notice.hint)
    return [*(Notice(error.title, error.hint) for error in (dense.fault,) if error), *repairs]


def _make_models(
    home: Home, settings: Settings, keys: KeyStore, recorder: Recorder,
    changes: Changes | None = None,
) -> ChatModels:  # fmt: skip
    profiles, allowances = ProfileBook(home.model_profiles), Allowances(home.spending)
    changes = changes or Changes()
    own = next((h(home, changes, profiles) for h in hooks("own_server").values()), None)
    return ChatModels(keys, settings, profiles, allowances, recorder, changes, own_server=own)


def _make_personal(
    home: Home, engine: Engine, library: Library, dense: EmbedderRegistry
) -> Personal:
    rewrites = Rewrites(home.rewrites, partial(_make_searchable, library))
    return Personal(
        rewrites,
        Memory(engine.interactions, dense.embedder, rewrites.text_of),
        PromptLibrary(home.prompts, resources_dir() / "prompts"),
    )


def _make_dense(
    engine: Engine, settings: IndexSettings, opener: EmbedderOpener, in_use: LibraryInUse
) -> EmbedderRegistry:
    return EmbedderRegistry(
        engine.models, engine.chunks, engine.sources.collections, opener.open,
        default=settings.model_folder, threads=settings.embedding_threads, elsewhere=in_use.models,
    )  # fmt: skip


def _make_searchable(library: Library, rewrites: Path) -> None:
    """Add the folder of the person's rewrites as a source, once."""
    if all(source.path != rewrites for source in library.sources.all()):
        collection = library.collections.find_or_add(COLLECTION)
        library.sources.add(rewrites, collection.collection_id)


def _library_stores(
    home: Home, in_use: LibraryInUse, keys: KeyStore, recorder: Recorder
) -> LibraryStores:
    own, joined, late = in_use.own, in_use.engine, hooks("late_texts").values()
    return LibraryStores(
        own.documents, own.sources, own.storage, own.tags, own.upkeep,
        pages=home.pages, sent=home.sent.absolute(),
        late=next((h(home.transcripts, keys.get, recorder) for h in late), LateTexts()),
        pictures=home.pictures,
        joined=Findable(joined.documents, joined.sources),
        server=own.server,
    )  # fmt: skip


def _make_library(  # noqa: PLR0917  each is made once, in this order
    home: Home,
    settings: Settings,
    stores: LibraryStores,
    dense: EmbedderRegistry,
    priority: AnswerPriority,
    times: WatchTimes | None,
    recorder: Recorder,
    changes: Changes,
) -> Library:
    max_bytes = settings.index.max_file_mb * _MEGABYTE
    passwords = FilePasswords(home.password_list)
    library = Library(
        stores, dense, priority, parser_maker(settings.index, passwords),
        rules=IgnoreRules(is_worth_reading, max_bytes, home.root.absolute()),
        times=times, passwords=passwords, changes=changes,
    )  # fmt: skip
    library.apply(settings)
    sources = library.sources
    LibraryRecorder(recorder, changes, lambda: {s.source_id: s.name for s in sources.all()})
    return library


def parser_maker(settings: IndexSettings, passwords: FilePasswords) -> Callable[[], ParserProcess]:
    """A function that makes parser processes with the limits of the settings."""
    return partial(
        ParserProcess,
        limits=Limits(file_bytes=settings.max_file_mb * _MEGABYTE),
        uses_ocr=settings.reads_pictures,
        passwords_for=passwords.candidates,
    )


def embedder_opener(keys: KeyStore, recorder: Recorder | None = None) -> EmbedderOpener:
    """Opens embedding models: the bundled one unless another is named."""
    return EmbedderOpener(bundled_folders(), keys.get, recorder)
