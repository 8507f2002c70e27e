"""The files and folders of the app. Nothing is created before `Home.create`."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import close_to_others

HOME_VARIABLE = "DESKTOP_RAG_HOME"
APP_NAME = "desktop-rag"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds every file the app writes."""

    root: Path

    @property
    def settings(self) -> Path:
        """The settings file, TOML."""
        return self.root / "settings.toml"

    @property
    def model_profiles(self) -> Path:
        """Measured capabilities of chat models, JSON; measured again if lost."""
        return self.root / "models.json"

    @property
    def spending(self) -> Path:
        """Today's spending and the last minute's requests per endpoint, JSON."""
        return self.root / "spending.json"

    @property
    def logs(self) -> Path:
        """Log files; they never hold document text, prompts or keys."""
        return self.root / "logs"

    @property
    def activity(self) -> Path:
        """The event log, JSON lines; created with the first event."""
        return self.root / "activity"

    @property
    def backups(self) -> Path:
        """The only folder the database engine may write to, apart from its own file."""
        return self.root / "backups"

    @property
    def snapshots(self) -> Path:
        """A backup for each of the last days on which something changed."""
        return self.root / "snapshots"

    @property
    def pages(self) -> Path:
        """Fetched web pages, one folder per source of links."""
        return self.root / "pages"

    @property
    def transcripts(self) -> Path:
        """What is said in recordings, by the hash of their content; created with the first."""
        return self.root / "transcripts"

    @property
    def pictures(self) -> Path:
        """What is written in pictures, by the hash of their file; created with the first."""
        return self.root / "pictures"

    @property
    def sent(self) -> Path:
        """Documents that other programs sent, one folder per source; created with the first."""
        return self.root / "sent"

    @property
    def rewrites(self) -> Path:
        """Answers written by the person, as Markdown files; created with the first one."""
        return self.root / "rewrites"

    @property
    def prompts(self) -> Path:
        """The person's saved prompts, as Markdown files; created on first use."""
        return self.root / "prompts"

    @property
    def notes(self) -> Path:
        """Where the notes are, JSON; the notes themselves are the person's own files."""
        return self.root / "notes.json"

    @property
    def rails(self) -> Path:
        """Folders of rails that the person writes in the window; created with the first."""
        return self.root / "rails"

    @property
    def rail_vectors(self) -> Path:
        """Vectors of the example sentences of rails, without their texts; made again if lost."""
        return self.root / "rail-vectors.bin"

    @property
    def commands(self) -> Path:
        """What the app was to change for the person and what came of it, JSON."""
        return self.root / "commands.json"

    @property
    def programs(self) -> Path:
        """The programs that the person registered, JSON; no backup holds them."""
        return self.root / "programs.json"

    @property
    def program_work(self) -> Path:
        """A folder for each registered program that has none; created when it first runs."""
        return self.root / "work"

    @property
    def repair_request(self) -> Path:
        """There when the person wants the library repaired at the next start of the window."""
        return self.root / "repair-at-start"

    @property
    def password_list(self) -> Path:
        """The paths of files and folders whose password is in the keyring, JSON; no passwords."""
        return self.root / "passwords.json"

    @property
    def socket(self) -> Path:
        """The socket on which a running app answers the command line."""
        return self.root / "app.sock"

    @property
    def tokens(self) -> Path:
        """The tokens of the local server, JSON, without their secrets."""
        return self.root / "server" / "tokens.json"

    @property
    def token_uses(self) -> Path:
        """When each token was used last, to the minute, JSON."""
        return self.root / "server" / "token_uses.json"

    @property
    def link_key(self) -> Path:
        """The key that signs the local server's links to sources."""
        return self.root / "server" / "link.key"

    @property
    def access_rules(self) -> Path:
        """The collections whose readers another application decides about, JSON."""
        return self.root / "server" / "access.json"

    @property
    def matrix(self) -> Path:
        """What the bot for Matrix rooms keeps: settings, encrypted keys, ids of messages."""
        return self.root / "matrix"

    @property
    def requests(self) -> Path:
        """The log of requests to the local server, JSON lines; created with the first request."""
        return self.root / "server" / "requests"

    @property
    def window(self) -> Path:
        """The size and place of the window."""
        return self.root / "window.json"

    @property
    def shared_library(self) -> Path:
        """The names of the collections that the shared library last had."""
        return self.root / "shared_library.json"

    @property
    def popup(self) -> Path:
        """The size of the quick ask."""
        return self.root / "popup.json"

    @property
    def reading(self) -> Path:
        """The width of the document beside the chat."""
        return self.root / "reading.json"

    def create(self) -> None:
        """Create the folders, and close those that others can enter. AppError when that fails."""
        try:
            for folder in (self.root, self.logs, self.backups, self.pages):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                close_to_others(folder)
        except OSError as exc:
            raise AppError(
                "The app's folder cannot be used.",
                f"{self.root}: {exc.strerror}. {HOME_VARIABLE} names another.",
            ) from exc
        if not os.access(self.root, os.W_OK) or not os.access(self.logs, os.W_OK):
            hint = f"You may not write to {self.root}. {HOME_VARIABLE} names another."
            raise AppError("The app's folder cannot be written.", hint)


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
