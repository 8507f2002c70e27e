"""The files and folders of the app. Nothing is created before `Home.create`."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import close_to_others

HOME_VARIABLE = "DESKTOP_RAG_HOME"
APP_NAME = "desktop-rag"


class _Below:
    """An attribute of `Home`: a path below its root."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __get__(self, home: "Home", _owner: type) -> Path:
        return home.root / self.path


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds every file the app writes."""

    root: Path

    settings = _Below("settings.toml")
    """The settings file, TOML."""
    model_profiles = _Below("models.json")
    """Measured capabilities of chat models, JSON; measured again if lost."""
    local_models = _Below("local-models")
    """Fetched models that the app runs itself; created with the first."""
    local_model_list = _Below("local_models.json")
    """The models on this computer that were chosen, JSON."""
    spending = _Below("spending.json")
    """Today's spending and the last minute's requests per endpoint, JSON."""
    logs = _Below("logs")
    """Log files; they never hold document text, prompts or keys."""
    activity = _Below("activity")
    """The event log, JSON lines; created with the first event."""
    backups = _Below("backups")
    """The only folder the database engine may write to, apart from its own file."""
    snapshots = _Below("snapshots")
    """A backup for each of the last days on which something changed."""
    pages = _Below("pages")
    """Fetched web pages, one folder per source of links."""
    transcripts = _Below("transcripts")
    """Transcripts of recordings, by content hash; created with the first."""
    pictures = _Below("pictures")
    """Texts read from pictures, by file hash; created with the first."""
    sent = _Below("sent")
    """Documents that other programs sent, one folder per source; created with the first."""
    rewrites = _Below("rewrites")
    """Answers written by the person, as Markdown files; created with the first one."""
    prompts = _Below("prompts")
    """The person's saved prompts, as Markdown files; created on first use."""
    notes = _Below("notes.json")
    """Where the person keeps their notes, JSON."""
    rails = _Below("rails")
    """Folders of rails written in the window; created with the first."""
    rail_vectors = _Below("rail-vectors.bin")
    """Vectors of the rails' example sentences, without their texts; made again if lost."""
    commands = _Below("commands.json")
    """Proposed commands and their outcome, JSON."""
    programs = _Below("programs.json")
    """The registered programs, JSON; not part of a backup."""
    program_work = _Below("work")
    """Working folders of registered programs that name none; created on first run."""
    repair_request = _Below("repair-at-start")
    """A file that requests a repair of the library at the next start of the window."""
    password_list = _Below("passwords.json")
    """The files and folders whose password is in the keyring, JSON; no passwords."""
    socket = _Below("app.sock")
    """The socket on which a running app answers the command line."""
    tokens = _Below("server/tokens.json")
    """The tokens of the local server, JSON, without their secrets."""
    token_uses = _Below("server/token_uses.json")
    """When each token was used last, to the minute, JSON."""
    link_key = _Below("server/link.key")
    """The key that signs the local server's links to sources."""
    access_rules = _Below("server/access.json")
    """The collections whose readers another application decides on, JSON."""
    matrix = _Below("matrix")
    """Data of the bot for Matrix rooms: settings, encrypted keys, message ids."""
    requests = _Below("server/requests")
    """The log of requests to the local server, JSON lines; created with the first request."""
    window = _Below("window.json")
    """The size and place of the window, the quick ask, and the document beside the chat, JSON."""
    shared_library = _Below("shared_library.json")
    """The last known collection names of the shared library."""

    def create(self) -> None:
        """Create the folders and close them to other users.

        AppError on failure, unless the home exists: a library can be read where nothing can be
        written.
        """
        is_new = not self.root.exists()
        try:
            for folder in (self.root, self.logs, self.backups, self.pages):
                folder.mkdir(mode=0o700, parents=folder is self.root, exist_ok=True)
                close_to_others(folder)
        except OSError as exc:
            if not is_new and self.root.is_dir() and os.access(self.root, os.R_OK | os.X_OK):
                return
            raise AppError(
                "The app's folder cannot be used.",
                f"{self.root}: {exc.strerror}. {HOME_VARIABLE} names another.",
            ) from exc

    def files(self) -> list[Path]:
        """The files that the app writes as a whole, whether they exist or not."""
        found = [self.root / below.path for below in vars(Home).values() if type(below) is _Below]
        return [path for path in found if path.suffix and path != self.socket]


def find_home() -> Home:
    """DESKTOP_RAG_HOME if set, else the platform's folder for user data."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Home(Path(chosen).expanduser().absolute())
    return Home(Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)))


def resources_dir() -> Path:
    """Models, themes, icons and the demo library, inside the installed package or the checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"
