"""The settings as one frozen value, each with its words; `settings_file.py` has their file.

A change creates a new `Settings`, which is passed to the parts concerned; there is no global
instance. API keys are not settings: they are in the keyring (`models/system_keyring.py`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

from desktop_rag.core.records import Share
from desktop_rag.core.setting_text import TEXT, SettingText, marked, setting
from desktop_rag.core.store_settings import SharedLibrarySettings, StoreSettings

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

    base_url: str = setting("", marked("Address"))
    model: str = setting("", marked("Model"))
    context_tokens: int = setting(
        0,
        marked("Context size"),
        words=marked("tokens, context window, memory of the model, context length"),
        empty=marked("Automatic"),
        unit=marked(" tokens"),
        most=2_000_000,
        step=1024,
    )
    timeout_s: float = setting(
        30.0,
        marked("Timeout"),
        words=marked("slow model, waits, takes too long, seconds"),
        about=marked(
            "The longest silence while an answer is made, nine times that on this computer and"
            " network: models there read long prompts without a word. Small tasks beside answers"
            " have less."
        ),
        unit=marked(" seconds"),
        least=1,
        most=3600,
        step=5,
    )
    name: str = setting("", marked("Name"), words=marked("title, rename the endpoint"))
    requests_per_minute: int = setting(0, marked("Rate limit"))
    tokens_per_minute: int = setting(0, marked("Rate limit"))
    price_in: float = setting(0.0, marked("Input price"))
    price_out: float = setting(0.0, marked("Output price"))
    spend_per_day: float = setting(0.0, marked("Daily budget"))
    ask_above: float = setting(0.0, marked("Ask before a run above"))

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
    """Settings for reading and embedding files. `embedding_threads` 0 means every core."""

    model_folder: str = setting(
        "", marked("Embedding model"), empty=marked("Built-in model"), waits=True
    )
    max_file_mb: int = setting(
        200,
        marked("Maximum file size"),
        words=marked("big files, large files, limit, too large, skipped"),
        about=marked("Larger files are skipped and listed in the library."),
        unit=" MB",
        least=1,
        most=10_000,
        step=50,
        waits=True,
    )
    embedding_threads: int = setting(
        0,
        marked("Processor threads"),
        words=marked("CPU, cores, slow computer, fan, speed of indexing, performance"),
        about=marked("Fewer threads leave more power for other apps."),
        empty=marked("Automatic"),
        unit=marked(" threads"),
        most=os.cpu_count() or 1,
    )
    database_memory_mb: int = 2048
    pauses_on_battery: bool = setting(
        default=False,
        name=marked("Pause indexing on battery power"),
        label=marked("Battery"),
        words=marked("laptop, energy, unplugged, save power, stop indexing"),
    )
    reads_pictures: bool = setting(
        default=True,
        name=marked("Read text in scanned pages and images"),
        label=marked("Text recognition"),
        words=marked("OCR, scans, photos, screenshots, pictures"),
        about=marked("Pictures are read when everything else is searchable."),
        waits=True,
    )
    long_pictures: LongReading = setting(
        LongReading.ASK,
        marked("Many pictures"),
        choices={
            LongReading.ASK: marked("Ask"),
            LongReading.READ: marked("Read them"),
            LongReading.WAIT: marked("Let them wait"),
        },
    )
    makes_windows: bool = setting(
        default=True,
        name=marked("Also search parts of long passages"),
        label=marked("Fine-grained search"),
        words=marked("details, sliding windows, overlap, disk space, precision"),
        about=marked(
            "Finds details in long passages that a search by meaning would miss. Indexing takes"
            " about twice as long, and the library about 10% more disk space. Takes effect at once:"
            " turning it on indexes long passages in the background, turning it off removes that"
            " data."
        ),
    )


class TranscriptionDialect(StrEnum):
    """The kind of server that transcribes recordings."""

    OPENAI = "openai"
    WHISPER_CPP = "whisper.cpp"


@dataclass(frozen=True, slots=True)
class TranscriptionSettings:
    """The server that turns recordings into text; an empty `base_url` means none.

    `model` is for OpenAI-compatible servers only. `has_consent` permits sending recordings to a
    server on another computer.
    """

    base_url: str = setting(
        "", marked("Server address"), words=marked("speech to text, whisper, URL, host, recordings")
    )
    model: str = setting(
        "whisper-1", marked("Speech model"), words=marked("whisper model, speech recognition, test")
    )
    dialect: TranscriptionDialect = setting(
        TranscriptionDialect.OPENAI,
        marked("Kind of server"),
        words=marked("API, protocol, whisper"),
        choices={
            TranscriptionDialect.OPENAI: marked("OpenAI-compatible"),
            TranscriptionDialect.WHISPER_CPP: "whisper.cpp",
        },
    )
    language: str = setting(
        "",
        marked("Spoken language"),
        words=marked("language of speech, recordings, accent"),
        about=marked("A code such as de or en."),
        empty=marked("Detected by the server"),
    )
    max_upload_mb: int = setting(
        25,
        marked("Largest request"),
        words=marked("upload limit, size of recordings, long recordings"),
        about=marked(
            "WAV files are sent in pieces. Larger files of other formats are skipped with the"
            " reason."
        ),
        empty=marked("Any size"),
        unit=" MB",
        most=10_000,
        step=5,
    )
    timeout_s: float = setting(1800.0, marked("Timeout"))
    has_consent: bool = setting(
        default=False,
        name=marked("Send my recordings to this server"),
        label=marked("Consent"),
        words=marked("permission, allow, upload recordings, privacy"),
    )

    @property
    def endpoint(self) -> EndpointSettings:
        """The server as the client for endpoints takes it."""
        return EndpointSettings(self.base_url, self.model, timeout_s=self.timeout_s)


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
    """Settings for retrieval; excerpts are chosen from a fixed number of passages.

    `lexical_weight` moves hybrid search towards meaning (0) or words (1); at 0.5 each question gets
    its own balance.
    """

    room: Room = setting(
        Room.BALANCED,
        marked("What a model reads"),
        words=marked("how many passages, context, number of sources, cost, speed, top k, tokens"),
        about=marked(
            "How much of your documents is sent with a question. Fast: about four pages. Balanced:"
            " up to a quarter of what the model can read, less for a slow one. Thorough: up to half"
            " of it; answers take longer and cost more."
        ),
        choices={
            Room.FAST: marked("Fast"),
            Room.BALANCED: marked("Balanced"),
            Room.THOROUGH: marked("Thorough"),
        },
    )
    lexical_weight: Share = setting(0.5, marked("Balance between words and meaning"), most=1)
    later_sources: LaterSources = setting(
        LaterSources.FRESH,
        marked("Follow-up questions"),
        words=marked("next question, conversation, same sources, search again"),
        about=marked(
            "Where the sources of a follow-up question come from. If you use a model, it first"
            " rewrites the question so that it makes sense on its own."
        ),
        choices={
            LaterSources.FRESH: marked("Search again"),
            LaterSources.SAME: marked("Keep the sources"),
            LaterSources.BOTH: marked("Both"),
        },
    )


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

    `asks_few_files` is for up to FEW_FILES files.
    """

    checks_claims: bool = setting(
        default=True,
        name=marked("Check each sentence against the sources"),
        label=marked("Checks"),
        words=marked(
            "verify, proof, badges, fact check, citations, correct, trust, hallucination, wrong"
            " answers, made up, unproven"
        ),
        about=marked(
            "Each sentence gets a badge. The check runs on this computer and compares words and"
            " numbers: it is a hint, not a proof."
        ),
    )
    model_check: ModelCheck = setting(
        ModelCheck.ASK,
        marked("Also check with the model"),
        label=marked("With the model"),
        words=marked("second opinion, judge, verify, proofread"),
        about=marked(
            "A model that is measured to judge well reads the sentences that words leave open, and"
            " says in one sentence what agrees and what differs: one request for each answer."
            " Online services are asked only after you agreed."
        ),
        choices={
            ModelCheck.ASK: marked("Models nearby"),
            ModelCheck.ALWAYS: marked("Always"),
            ModelCheck.NEVER: marked("Never"),
        },
    )
    suggests_questions: bool = setting(
        default=True,
        name=marked("Suggest follow-up questions"),
        label=marked("Suggestions"),
        words=marked("what to ask next, ideas"),
        about=marked(
            "Takes one short request after each answer. Without a model, headings are suggested."
        ),
    )
    asks_few_files: bool = setting(
        default=True,
        name=marked("Read few files in full when passages don't answer"),
        label=marked("Nothing found"),
        words=marked("whole files, full text, missed"),
        about=marked(
            "Where a question may find at most 25 files. Their text takes up to twelve requests to"
            " the model."
        ),
    )
    uses_memory: bool = setting(
        default=True,
        name=marked("Learn from earlier answers"),
        label=marked("Memory"),
        words=marked("remember, learning, history, examples, personalise, likes"),
        about=marked(
            "Shows the model up to three earlier answers to similar questions, best rated first, so"
            " that it matches the style you like. When off, new answers are not remembered."
        ),
    )
    stores_chats: bool = setting(
        default=True,
        name=marked("Store new chats"),
        label=marked("Chats"),
        words=marked(
            "stop remembering chats, save chats, chat history, incognito, private chat,"
            " temporary chat, forget my questions, don't save"
        ),
        about=marked(
            "When off, a new chat is kept in memory only: it ends when you quit the app or delete"
            " it, and nothing is learned from it. Chats that are stored already stay until you"
            " delete them."
        ),
    )


class AnswerLength(StrEnum):
    """The desired length of answers."""

    BRIEF = "brief"
    NORMAL = "normal"
    DETAILED = "detailed"


@dataclass(frozen=True, slots=True)
class PreferenceSettings:
    """The person's preferences for answers. `language` is a name such as `German`."""

    language: str = setting(
        "",
        marked("Language of answers"),
        label=marked("Language"),
        words=marked("reply in German, translate, answer in another language"),
        about=marked(
            "Choose a language or enter one: for what a model writes and what the app says in"
            " answers. Quotes keep the language of their file. A model's answer in another language"
            " than its sources can't be checked."
        ),
        empty=marked("Same as the question"),
    )
    length: AnswerLength = setting(
        AnswerLength.NORMAL,
        marked("Length of answers"),
        label=marked("Length"),
        words=marked("shorter, longer, short answers, long answers, brief, detailed"),
        choices={
            AnswerLength.BRIEF: marked("Brief"),
            AnswerLength.NORMAL: marked("Normal"),
            AnswerLength.DETAILED: marked("Detailed"),
        },
    )
    tone: str = setting(
        "",
        marked("Tone of answers"),
        label=marked("Tone"),
        words=marked("style, formal, friendly, voice, wording, how answers sound"),
        about=marked(
            "Choose a tone or describe one. Excerpts always keep the wording of the documents."
        ),
        empty=marked("Default"),
    )


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

    scheme: ColourScheme = setting(
        ColourScheme.SYSTEM,
        marked("Theme"),
        words=marked("dark mode, light mode, night, colours, brightness"),
        choices={
            ColourScheme.SYSTEM: marked("Same as system"),
            ColourScheme.LIGHT: marked("Light"),
            ColourScheme.DARK: marked("Dark"),
        },
    )
    text_percent: int = setting(
        100,
        marked("Text size"),
        words=marked("font, zoom, larger letters, bigger, small print, scaling"),
        about=marked("Ctrl and + or − change it everywhere in the window, Ctrl and 0 resets it."),
        least=TEXT_SIZES[0],
        most=TEXT_SIZES[-1],
    )
    language: str = setting(
        "",
        marked("Language"),
        words=marked("German, English, translation, menus, language of the window"),
        about=marked("The language of the window. For that of answers see the page Answers."),
        empty=marked("Same as system"),
        waits=True,
    )

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

    when_closed: WhenClosed = setting(
        WhenClosed.ASK,
        marked("Closing the window"),
        words=marked("quit, exit, tray, background, minimize"),
        about=marked(
            "While it runs, your folders are kept up to date and the quick ask opens at once."
        ),
        choices={
            WhenClosed.ASK: marked("Ask"),
            WhenClosed.STAY: marked("Keep running"),
            WhenClosed.QUIT: marked("Quit"),
        },
    )
    starts_at_login: bool = setting(
        default=False,
        name=marked("Start at login, in the background"),
        label=marked("Login"),
        words=marked("autostart, startup, boot, start with the computer"),
    )
    notifies: bool = setting(
        default=True,
        name=marked("Show notifications"),
        label=marked("Notifications"),
        words=marked("alerts, messages, popups, do not disturb"),
        about=marked(
            "When the first indexing is done, a folder goes offline, something needs you, or an"
            " answer is ready while you look elsewhere."
        ),
    )
    hotkey: str = setting(
        "Ctrl+Alt+Space",
        marked("Hotkey of the quick ask"),
        label=marked("Quick ask"),
        words=marked("shortcut, global hotkey, key combination, spotlight, popup"),
    )
    selection_hotkey: str = setting(
        "",
        marked("Hotkey to ask about selected text"),
        label=marked("With selected text"),
        words=marked("shortcut, selection, highlighted text, clipboard, other program"),
    )
    asks_for_hotkeys: bool = False


@dataclass(frozen=True, slots=True)
class ActivitySettings:
    """The event log on this computer. Without `is_recorded` nothing is added to it."""

    is_recorded: bool = setting(
        default=True,
        name=marked("Record what the app does"),
        label=marked("Event log"),
        words=marked("history, tracking, telemetry, logging, activity, stop recording"),
        about=marked(
            "Questions by their chat, requests to endpoints, changes of the index and errors, on"
            " this computer only, for 90 days at most. No text of documents, no answers, no keys."
            " See Data and health › Activity."
        ),
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The local server for other programs, off by default and for this computer alone.

    If `port` is taken, one after it is used; 0 means any. Beyond loopback, it answers to
    `host_names`. `certificate` and `certificate_key` are PEM files. Pages of the `origins` may use
    it with any token. `filters` are `NAME` or `NAME=MODELS`. Behind a proxy others reach it by the
    `public_address`. People log in to its own pages at `login_issuer`, where it is `login_client`.
    """

    is_on: bool = setting(default=False, name=marked("Let other programs ask"))
    port: int = setting(8642, marked("Port"), most=65_535)
    host: str = setting("127.0.0.1", marked("Reached by"))
    host_names: tuple[str, ...] = setting((), marked("Names"))
    certificate: str = setting("", marked("Certificate"))
    certificate_key: str = setting("", marked("Its key"))
    origins: tuple[str, ...] = setting((), marked("Web origins that may use every token"))
    exposes_models: bool = setting(
        default=False,
        name=marked("Expose the models of the endpoints"),
        about=marked("Without documents. Off, only tokens that name a model may ask them."),
    )
    logs_text: bool = setting(
        default=False,
        name=marked("Keep questions and answers in the log"),
        about=marked("For up to 90 days, with who asked when. Off, only their lengths are kept."),
    )
    filters: tuple[str, ...] = setting(
        (),
        marked("Filters of your own"),
        about=marked(
            "Of installed Python packages, separated by commas, in the order that requests pass"
            " them; NAME=collection:* is for collections only. They may do anything: name those"
            " that you trust. When one can't be loaded, nothing is served."
        ),
    )
    public_address: str = setting("", marked("Address behind a proxy"))
    login_issuer: str = setting("", marked("Provider of logins (OpenID Connect)"))
    login_client: str = setting("", marked("Client id of this server at the provider of logins"))
    login_secret_file: str = setting("", marked("File with its client secret"))


@dataclass(frozen=True, slots=True)
class HelperSettings:
    """The model for background tasks at one of the endpoints; empty means the chat model."""

    base_url: str = setting("", marked("Helper endpoint"))
    model: str = setting("", marked("Helper model"))

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


# By the key of the setting: `answers.checks_claims`.
SETTING_TEXTS: Mapping[str, SettingText] = {
    f"{section.name}.{each.name}": each.metadata[TEXT]
    for section in fields(Settings)
    if is_dataclass(value := getattr(Settings(), section.name))
    for each in fields(value)
    if TEXT in each.metadata
}
