"""The verbs `serve`, `token` and `access`: the library for other programs, and who may ask it."""

import argparse
import os
import signal
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from desktop_rag.cli.terminal import not_empty, open_services, path_given, prints, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import (
    DEFAULT_REQUESTS_PER_MINUTE,
    Token,
    TokenBook,
    TokenScope,
    new_token,
)
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import (
    ALGORITHMS,
    USUAL_ALGORITHMS,
    AccessRule,
    TokenWish,
)
from desktop_rag.idle_memory import EVERY_S, SmallCollections
from desktop_rag.running_app import ask_running_app

_HIGHEST_PORT = 65_535
_LONGEST_END_S = 9.5


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    parser.set_defaults(run=_serve)
    parser.add_argument("--port", type=_port, help="listen on this port, or on the next free one")
    text = "listen on this address; 127.0.0.1 is for this computer alone"
    parser.add_argument("--host", type=not_empty, help=text)
    text = "a name by which the server may be asked; may be repeated"
    parser.add_argument("--host-name", action="append", default=[], metavar="NAME", help=text)
    parser.add_argument("--certificate", metavar="PEM", help="a certificate, for https")
    parser.add_argument("--certificate-key", metavar="PEM", help="its key, if in another file")
    text = "how others reach it where a proxy stands before it: https://rag.example"
    parser.add_argument("--public-address", type=_address, metavar="URL", help=text)
    text = "a web origin whose pages may use the server; may be repeated"
    parser.add_argument("--origin", action="append", default=[], help=text)
    text = "let the models of your endpoints be asked without documents"
    parser.add_argument("--expose-models", action="store_true", help=text)
    text = "keep questions and answers in the log of requests"
    parser.add_argument("--log-text", action="store_true", help=text)
    text = "a filter of an installed package that requests have to pass; may be repeated"
    parser.add_argument("--filter", action="append", default=[], metavar="NAME[=MODELS]", help=text)


def add_token(parser: argparse.ArgumentParser) -> None:
    """Add the verbs about tokens."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    added = actions.add_parser("add", help="Make a token. Its secret is shown once.")
    added.add_argument("name", type=not_empty, help="the program that will use it")
    text = "what it allows; may be repeated (ask)"
    scopes = [scope.value for scope in TokenScope]
    added.add_argument("--allow", action="append", default=[], choices=scopes, help=text)
    text = "only this collection; may be repeated"
    added.add_argument("--collection", action="append", default=[], metavar="NAME", help=text)
    text = "a web origin whose pages may use it; may be repeated"
    added.add_argument("--origin", action="append", default=[], help=text)
    text = f"the most requests in a minute, 0 for no limit ({DEFAULT_REQUESTS_PER_MINUTE})"
    added.add_argument("--rate", type=int, default=DEFAULT_REQUESTS_PER_MINUTE, help=text)
    text = "end answers with a list of their sources, for programs that show none"
    added.add_argument("--list-sources", action="store_true", help=text)
    text = "leave images and HTML in answers, for a program that makes them harmless itself"
    added.add_argument("--pass-markup", action="store_true", help=text)
    added.add_argument("--days", type=float, default=0.0, help="it expires after so many days")
    prints(added, _add_token, lambda row: [row["token"]])
    text = "who logs in with it: a confirmed e-mail address, claim=value, or * for all"
    added.add_argument("--login", action="append", default=[], metavar="PERSON", help=text)
    listed = actions.add_parser("list", help="List the tokens, without their secrets.")
    prints(listed, _list_tokens, _token_lines)
    revoked = actions.add_parser("revoke", help="Refuse a token from now on.")
    revoked.set_defaults(run=_revoke_token)
    revoked.add_argument("name", type=not_empty)


def _serve(arguments: argparse.Namespace) -> int:
    ended = threading.Event()

    def end() -> None:
        ended.set()
        # What waits for a database that hangs never ends.
        last = threading.Timer(_LONGEST_END_S, os._exit, [1])
        last.daemon = True
        last.start()

    if ask_running_app(find_home(), "nothing", {})[0]:
        hint = "Turn the local server on there, or end it first: desktop-rag quit"
        raise AppError("Another process of the app has the library open.", hint)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: end())
    from desktop_rag.cli.running import answer_others
    from desktop_rag.features.server.server import exposure

    with open_services() as services:
        said = _said(arguments)
        if warning := exposure(replace(services.settings.server, **said)):
            say(f"Warning: {warning}")
        services.library.start()
        services.chat.warm_up()
        services.wing(ServerSwitch).hold(said)
        if not TokenBook(services.home.tokens).all():
            say("There are no tokens yet: make one with “desktop-rag token add NAME”.")
        collections = SmallCollections()
        with closing(answer_others(services, end)), closing(collections):
            say(f"Serving at {services.wing(ServerSwitch).address}. Ctrl+C ends it.")
            # Streams would wait while all garbage is collected.
            collections.start()
            while not ended.wait(EVERY_S):
                collections.look()
            say("Ending…")
        services.chat.stop()
    return 0


def _said(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line says."""
    given = {
        "port": arguments.port,
        "host": arguments.host,
        "certificate": arguments.certificate,
        "certificate_key": arguments.certificate_key,
        "host_names": tuple(arguments.host_name) or None,
        "public_address": arguments.public_address,
        "origins": tuple(arguments.origin) or None,
        "exposes_models": arguments.expose_models or None,
        "logs_text": arguments.log_text or None,
        "filters": tuple(arguments.filter) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _add_token(arguments: argparse.Namespace) -> dict[str, Any]:
    collection_ids: list[str] = []
    if arguments.collection:
        with open_services() as services:
            find = services.library.collections.find
            collection_ids = [find(name).collection_id for name in arguments.collection]
    wish = TokenWish(
        arguments.name, tuple(arguments.allow) or ("ask",), tuple(collection_ids),
        tuple(arguments.origin), max(0, arguments.rate), arguments.days,
        arguments.list_sources, arguments.pass_markup, tuple(arguments.login),
    )  # fmt: skip
    token, secret = new_token(wish)
    TokenBook(find_home().tokens).add(token)
    say("This is shown once, and kept nowhere else:")
    return _token_json(token) | {"token": secret}


def _list_tokens(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    tokens, names = TokenBook(find_home().tokens).all(), dict[str, str]()
    if any(token.collection_ids for token in tokens):
        with open_services() as services:
            names = {c.collection_id: c.name for c in services.library.collections.all()}
    return [
        _token_json(token)
        | {"collections": [names.get(i, "a removed collection") for i in token.collection_ids]}
        for token in tokens
    ]


def _revoke_token(arguments: argparse.Namespace) -> int:
    book = TokenBook(find_home().tokens)
    book.revoke(book.named(arguments.name).token_id)
    say(f"“{arguments.name}” is refused from now on.")
    return 0


def _token_json(token: Token) -> dict[str, Any]:
    return {name: value for name, value in token.to_json().items() if name != "digest"}


def _token_lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{row['name']}: {', '.join(row['scopes'])}, {row['requests_per_minute']} a minute"
        + (f", until {_day(row['expires_at'])}" if row["expires_at"] else "")
        + (f", only {' and '.join(row['collections'])}" if row["collections"] else "")
        + (f", for the logins of {', '.join(row['logins'])}" if row["logins"] else "")
        for row in rows
    ]
    return lines or ["There are no tokens."]


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise argparse.ArgumentTypeError("must be an address such as https://rag.example")
    return text


def _port(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"must be a number up to {_HIGHEST_PORT}")
    return number


def add_access(parser: argparse.ArgumentParser) -> None:
    """Add the verbs about access."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    added = actions.add_parser("set", help="Let an application decide who may read a collection.")
    added.set_defaults(run=_set_access)
    added.add_argument("collection", type=not_empty)
    text = "the public key of the users' tokens: a PEM file or a JWKS"
    added.add_argument("--jwt-key", required=True, metavar="FILE", help=text)
    text = f"an algorithm of the tokens; may be repeated ({', '.join(USUAL_ALGORITHMS)})"
    added.add_argument("--algorithm", action="append", default=[], choices=ALGORITHMS, help=text)
    added.add_argument("--issuer", required=True, help="who issues the tokens (iss)")
    added.add_argument("--audience", required=True, help="whom they are for (aud)")
    text = "where the application is asked what a user may read: https, or http on this computer"
    added.add_argument("--address", required=True, metavar="URL", help=text)
    listed = actions.add_parser("list", help="List these collections and their applications.")
    prints(listed, _list_access, _access_lines)
    removed = actions.add_parser("remove", help="Let every token for a collection read it again.")
    removed.set_defaults(run=_remove_access)
    removed.add_argument("collection", type=not_empty)


def _set_access(arguments: argparse.Namespace) -> int:
    rule = AccessRule(
        _collection_id(arguments.collection),
        str(path_given(arguments.jwt_key)),
        tuple(dict.fromkeys(arguments.algorithm)) or USUAL_ALGORITHMS,
        arguments.issuer,
        arguments.audience,
        arguments.address,
    )
    AccessRules(find_home().access_rules).set(rule)
    say(f"“{arguments.collection}” is there for users of {rule.issuer} only, from now on.")
    say("Programs that ask for nobody don't see it.")
    return 0


def _list_access(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        names = {c.collection_id: c.name for c in services.library.collections.all()}
    return [
        rule.to_json() | {"collection": names.get(rule.collection_id, "")}
        for rule in AccessRules(find_home().access_rules).all()
    ]


def _remove_access(arguments: argparse.Namespace) -> int:
    AccessRules(find_home().access_rules).remove(_collection_id(arguments.collection))
    say(f"Every token for “{arguments.collection}” reads it again.")
    return 0


def _collection_id(name: str) -> str:
    with open_services() as services:
        return services.library.collections.find(name).collection_id


def _access_lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{row['collection'] or 'a collection that is gone'}: users of {row['issuer']} for"
        f" {row['audience']}, asked at {row['address']}"
        for row in rows
    ]
    return lines or ["Every token reads the collections that it is for."]
