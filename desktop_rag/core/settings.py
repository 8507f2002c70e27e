"""The settings as one frozen value; `settings_file.py` has their file.

A change creates a new `Settings`, which is passed to the parts concerned; there is no global
instance. API keys are not settings: they are in the keyring (`models/system_keyring.py`).
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from urllib.parse import urlsplit

from desktop_rag.core.records import Share

# The context length assumed for an unknown model.
ASSUMED_CONTEXT_TOKENS = 8192
# The sizes of text that can be chosen, in percent of the desktop's own.
TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)
# Up to this many files are asked one by one without confirmation.
FEW_FILES = 25


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """An OpenAI-compatible endpoint; an empty `base_url` means excerpts only.

    The normalised address identifies it. `context_tokens` 0 means the measured context length.
    Limits of 0 are off; prices are per million tokens. An unattended run that may cost more than
    `ask_above` needs the person's consent first.
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
    ask_above: float = 0.0

    @property
    def label(self) -> str:
        """The name given by the person, else the host."""
        return self.name or urlsplit(self.base_url).netloc

    @property
    def is_set(self) -> bool:
        """True when an endpoint and a model are set."""
        return bool(self.base_url and self.model)


class LongReading(StrEnum):
    """What happens to pictures that take over an hour to read: ask first, read, or wait."""

    ASK = "ask"
    READ = "read"
    WAIT = "wait"


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
    long_pictures: LongReading = LongReading.ASK
    makes_windows: bool = True


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The engine that keeps the library; see `store/opening.py` for its names.

    For an engine on a server, `address` is its connection string without a password, and `library`
    the library's name there. Searches use the streaming replica at `read_address`, if set, while it
    is at most `read_lag_s` seconds behind.
    """

    engine: str = "duckdb"
    address: str = ""
    library: str = "desktop_rag"
    read_address: str = ""
    read_lag_s: float = 5.0


class TranscriptionDialect(StrEnum):
    """The kind of server that transcribes recordings."""

    OPENAI = "openai"
    WHISPER_CPP = "whisper.cpp"


@dataclass(frozen=True, slots=True)
class TranscriptionSettings:
    """The server that turns recordings into text; an empty `base_url` means none.

    `model` is for OpenAI-compatible servers only. `language` is a code such as `de`, "" to detect
    it. A request holds at most `max_upload_mb`, 0 for any size. `has_consent` permits sending
    recordings to a server on another computer.
    """

    base_url: str = ""
    model: str = "whisper-1"
    dialect: TranscriptionDialect = TranscriptionDialect.OPENAI
    language: str = ""
    max_upload_mb: int = 25
    timeout_s: float = 1800.0
    has_consent: bool = False

    @property
    def endpoint(self) -> EndpointSettings:
        """The server as the client for endpoints takes it."""
        return EndpointSettings(self.base_url, self.model, timeout_s=self.timeout_s)


class Encryption(StrEnum):
    """The encryption of the connection to a shared library, by PostgreSQL's names."""

    VERIFIED = "verify-full"
    UNVERIFIED = "require"
    NONE = "disable"


@dataclass(frozen=True, slots=True)
class SharedLibrarySettings:
    """A library on a PostgreSQL server that is searched beside the own one.

    `certificate` is the file of the authority that signed the server's certificate; "" trusts the
    system's. The password is in the keyring and never here.
    """

    host: str = ""
    port: int = 5432
    database: str = ""
    role: str = ""
    library: str = "desktop_rag"
    encryption: Encryption = Encryption.VERIFIED
    certificate: str = ""

    @property
    def is_set(self) -> bool:
        """True once there is enough to connect with."""
        return bool(self.host and self.database and self.role)

    @property
    def address(self) -> str:
        """The address for people, and for the password in the keyring; "" when it isn't set."""
        if not self.is_set:
            return ""
        return f"postgresql://{self.role}@{self.host}:{self.port}/{self.database}"


class LaterSources(StrEnum):
    """The origin of the sources for a follow-up question."""

    FRESH = "fresh"
    SAME = "same"
    BOTH = "both"


class Room(StrEnum):
    """How much of the documents a model reads for one answer."""

    FAST = "fast"
    BALANCED = "balanced"
    THOROUGH = "thorough"

    def tokens(self, context_tokens: int, read_per_s: float) -> int:
        """The tokens for sources, for a model with this context that reads so many a second.

        `read_per_s` is 0 where it is not known. A balanced prompt is read within ten seconds.
        """
        most, share = _MOST_SOURCES[self]
        tokens = min(most, int(context_tokens * share))
        if self is Room.BALANCED and read_per_s:
            tokens = min(tokens, int(_BALANCED_S * read_per_s))
        return max(tokens, LEAST_SOURCE_TOKENS)


# The least that is sent of the documents, which also fits into small contexts.
LEAST_SOURCE_TOKENS = 2_400
_BALANCED_S = 10.0
# The most tokens of the sources, and their share of the context.
_MOST_SOURCES = {
    Room.FAST: (LEAST_SOURCE_TOKENS, 0.25),
    Room.BALANCED: (16_000, 0.25),
    Room.THOROUGH: (64_000, 0.5),
}


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Settings for retrieval.

    `room` is for models; excerpts are chosen from a fixed number of passages. `lexical_weight`
    moves hybrid search towards meaning (0) or words (1); at 0.5 each question gets its own balance.
    `later_sources` applies to follow-up questions.
    """

    room: Room = Room.BALANCED
    lexical_weight: Share = 0.5
    later_sources: LaterSources = LaterSources.FRESH


class ModelCheck(StrEnum):
    """Whether a model checks the sentences of an answer too.

    ASK: one that runs nearby does; before another one is used for it, the person is asked.
    """

    ASK = "ask"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Settings for checking, extending and keeping an answer.

    `checks_claims` compares its sentences with the sources, on this computer; by `model_check` a
    model reads what words leave open. `hides_unsupported` hides an answer without a supported
    sentence until the person asks to see it. `suggests_questions` proposes follow-up questions,
    with one short request. `asks_few_files` has up to FEW_FILES files read in full when their
    passages don't tell. `uses_memory` stores answers and gives the model similar ones as examples.
    Without `stores_chats` a new chat ends with the app, and nothing of it is stored or remembered.
    """

    checks_claims: bool = True
    model_check: ModelCheck = ModelCheck.ASK
    hides_unsupported: bool = False
    suggests_questions: bool = True
    asks_few_files: bool = True
    uses_memory: bool = True
    stores_chats: bool = True


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


class ColourScheme(StrEnum):
    """The colours of the window; `SYSTEM` follows the desktop."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class AppearanceSettings:
    """The appearance of the window. `text_percent` is one of TEXT_SIZES, or the nearest is used.

    `language` is a code such as `de`, "" for the language of the system.
    """

    scheme: ColourScheme = ColourScheme.SYSTEM
    text_percent: int = 100
    language: str = ""

    def zoomed(self, steps: int) -> "AppearanceSettings":
        """With text so many sizes larger, or smaller if negative; 0 means the normal size."""
        if steps == 0:
            return replace(self, text_percent=100)
        place = TEXT_SIZES.index(nearest_text_size(self.text_percent)) + steps
        return replace(self, text_percent=TEXT_SIZES[max(0, min(place, len(TEXT_SIZES) - 1))])


class WhenClosed(StrEnum):
    """What closing the window does."""

    ASK = "ask"
    STAY = "stay"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class BackgroundSettings:
    """Settings for the app without its window.

    `hotkey` opens the quick ask, `selection_hotkey` with the text selected in another program; both
    like `Ctrl+Alt+Space`, "" for none. `asks_for_hotkeys` lets the desktop ask the person about
    them.
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
class ServerSettings:
    """The local server for other programs, off by default and for this computer alone.

    If `port` is taken, one after it is used; 0 means any. Beyond loopback, it answers to
    `host_names`. `certificate` and `certificate_key` are PEM files. Pages of the `origins` may use
    it with any token. `exposes_models` offers the endpoints' models without documents. `logs_text`
    puts questions and answers into the request log. `filters` of other packages, as `NAME` or
    `NAME=MODELS`, check requests. `public_address` is how others reach it behind a proxy.
    """

    is_on: bool = False
    port: int = 8642
    host: str = "127.0.0.1"
    host_names: tuple[str, ...] = ()
    certificate: str = ""
    certificate_key: str = ""
    origins: tuple[str, ...] = ()
    exposes_models: bool = False
    logs_text: bool = False
    filters: tuple[str, ...] = ()
    public_address: str = ""


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
    transcription: TranscriptionSettings = field(default_factory=TranscriptionSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    shared_library: SharedLibrarySettings = field(default_factory=SharedLibrarySettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    answers: AnswerSettings = field(default_factory=AnswerSettings)
    preferences: PreferenceSettings = field(default_factory=PreferenceSettings)
    appearance: AppearanceSettings = field(default_factory=AppearanceSettings)
    background: BackgroundSettings = field(default_factory=BackgroundSettings)
    activity: ActivitySettings = field(default_factory=ActivitySettings)
    server: ServerSettings = field(default_factory=ServerSettings)

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


def nearest_text_size(percent: int) -> int:
    """The size in TEXT_SIZES that is nearest to this one."""
    return min(TEXT_SIZES, key=lambda size: abs(size - percent))
