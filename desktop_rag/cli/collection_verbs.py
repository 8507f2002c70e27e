"""The verbs about collections: `collection list`, `allow-hosts` and `set-model`."""

import argparse
import time
from typing import Any

from desktop_rag import app
from desktop_rag.cli import output, terminal
from desktop_rag.core.domain import EMBEDDED_ELSEWHERE, Collection
from desktop_rag.core.errors import AppError
from desktop_rag.models.embedding.remote_embedder import is_address


def add_collections(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `collection`."""
    verbs = parser.add_subparsers(required=True)
    added = terminal.add_verb(
        verbs, "list", "List the collections with the embedding model of each."
    )
    terminal.prints(added, _list, output.collection_lines)
    text = (
        "Let the links of a collection name these hosts outside the public internet, in place of"
        " those allowed before. The app then reaches what only this computer can reach."
    )
    _add_allow_hosts(terminal.add_verb(verbs, "allow-hosts", text, "Allow intranet hosts."))
    text = (
        "Embed the documents of a collection with another model and wait until that is done. Until"
        " then the previous model answers; the next run continues an interrupted one."
    )
    added = terminal.add_verb(verbs, "set-model", text, "Choose a collection's model.")
    added.add_argument("name", help="the collection")
    chosen = added.add_mutually_exclusive_group(required=True)
    text = (
        "a folder with an ONNX model as sentence-transformers saves it, or an endpoint, for example"
        f" http://localhost:11434/v1#nomic-embed-text. {EMBEDDED_ELSEWHERE}"
    )
    chosen.add_argument("model", nargs="?", help=text)
    text = "the model of the settings, which is the default"
    chosen.add_argument("--default", action="store_true", help=text)
    terminal.prints(added, _set_model, output.set_model_lines)


def _add_allow_hosts(added: argparse.ArgumentParser) -> None:
    added.add_argument("name", help="the collection, which is made if there is none")
    text = (
        "host, host:port, either followed by the network its addresses must be in (quoted), or a"
        " network; none to allow public addresses only"
    )
    added.add_argument("host", nargs="*", help=text)
    terminal.prints(added, _allow_hosts, output.collection_lines)


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with terminal.open_services() as services:
        return [_row(services, collection) for collection in services.library.collections.all()]


def _allow_hosts(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with terminal.open_services() as services:
        collections = services.library.collections
        chosen = collections.find_or_add(arguments.name)
        kept = collections.set_intranet_hosts(chosen.collection_id, arguments.host)
        return [_row(services, kept)]


def _set_model(arguments: argparse.Namespace) -> dict[str, Any]:
    model = _spec(arguments.model or "")
    began_at = time.monotonic()
    with terminal.open_services() as services, terminal.waiting_for(services.library) as waiting:
        library = services.library
        embedded_before = library.indexing.embedded_chunks
        chosen = library.collections.find(arguments.name)
        if is_address(model):
            terminal.say(EMBEDDED_ELSEWHERE)
        library.collections.set_embedder(chosen.collection_id, model)
        terminal.begin_reading(services)
        waiting.until_idle()
        return _row(services, library.collections.find(arguments.name)) | {
            "embedded_chunks": library.indexing.embedded_chunks - embedded_before,
            "seconds": round(time.monotonic() - began_at, 2),
        }


def _spec(model: str) -> str:
    """The model as stored: an address or an absolute folder. AppError for no folder."""
    if not model or is_address(model):
        return model
    folder = terminal.path_given(model).resolve()
    if not folder.is_dir():
        hint = "Give the folder of a model, or the address of an endpoint, which begins with http."
        raise AppError(f"There is no folder {folder}.", hint)
    return str(folder)


def _row(services: app.Services, collection: Collection) -> dict[str, Any]:
    library = services.library
    sources = [s for s in library.sources.all() if s.collection_id == collection.collection_id]
    model = library.collections.answering_model(collection.collection_id)
    counts = [library.documents.counts(source.source_id) for source in sources]
    return output.collection_json(collection, model, counts)
