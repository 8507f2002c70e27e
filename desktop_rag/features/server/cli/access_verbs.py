"""The verb `access`: collections whose readers another application decides about."""

import argparse
from typing import Any

from desktop_rag.cli.terminal import not_empty, open_services, path_given, prints, say
from desktop_rag.core.paths import find_home
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.values.access_values import (
    ALGORITHMS,
    USUAL_ALGORITHMS,
    AccessRule,
)


def add_access(parser: argparse.ArgumentParser) -> None:
    """Add the verbs about access."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    added = actions.add_parser("set", help="Let an application decide who may read a collection.")
    added.set_defaults(run=_set)
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
    prints(listed, _list, _lines)
    removed = actions.add_parser("remove", help="Let every token for a collection read it again.")
    removed.set_defaults(run=_remove)
    removed.add_argument("collection", type=not_empty)


def _set(arguments: argparse.Namespace) -> int:
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


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        names = {c.collection_id: c.name for c in services.library.collections.all()}
    return [
        rule.to_json() | {"collection": names.get(rule.collection_id, "")}
        for rule in AccessRules(find_home().access_rules).all()
    ]


def _remove(arguments: argparse.Namespace) -> int:
    AccessRules(find_home().access_rules).remove(_collection_id(arguments.collection))
    say(f"Every token for “{arguments.collection}” reads it again.")
    return 0


def _collection_id(name: str) -> str:
    with open_services() as services:
        return services.library.collections.find(name).collection_id


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{row['collection'] or 'a collection that is gone'}: users of {row['issuer']} for"
        f" {row['audience']}, asked at {row['address']}"
        for row in rows
    ]
    return lines or ["Every token reads the collections that it is for."]
