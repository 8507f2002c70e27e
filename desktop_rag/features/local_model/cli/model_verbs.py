"""The verbs about models on this computer: `model list`, `add`, `get`, `use` and `remove`."""

import argparse
import sys

from desktop_rag.features.local_model import model_child


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `model`."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    # Not for people: the app starts the process of a model so, wherever it is installed.
    verbs.add_parser("serve").set_defaults(run=_serve)


def _serve(_arguments: argparse.Namespace) -> int:
    sys.exit(model_child.main())
