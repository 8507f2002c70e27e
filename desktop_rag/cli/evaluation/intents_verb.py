"""`eval rails`: how well intents are recognised by examples, and by a model where they don't do."""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json
from desktop_rag.cli.evaluation.kept_run import keep, written_later
from desktop_rag.cli.evaluation.scratch_home import in_scratch_home
from desktop_rag.cli.rails.opened_world import bundled_embeddings, completion
from desktop_rag.cli.terminal import print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.evaluate import intents, stored_runs
from desktop_rag.evaluate.intents import IntentFigures
from desktop_rag.models.endpoint_address import normalise_base_url


def add_intents(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.set_defaults(run=_measure)
    text = "a folder with examples.jsonl and tests.jsonl, rows of {text, intent}"
    parser.add_argument("dir", type=Path, help=text)
    text = "rows of {text} that have none of the intents"
    parser.add_argument("--out-of-scope", type=Path, metavar="FILE.jsonl", help=text)
    text = "also ask a model about what the examples don't settle"
    parser.add_argument("--endpoint", metavar="URL", default="", help=text)
    text = "the name of that model; without it, the one of the settings"
    parser.add_argument("--model", metavar="NAME", default="", help=text)
    text = "write what was recognised in each sentence"
    parser.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(parser)


def _measure(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.dir
    examples = intents.load_sentences(folder / "examples.jsonl")
    tests = intents.load_sentences(folder / "tests.jsonl")
    foreign = intents.load_texts(arguments.out_of_scope) if arguments.out_of_scope else []
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    tokens: dict[str, Any] = {}

    def measured(complete: Callable[[str], str] | None) -> IntentFigures:
        embed, _ = bundled_embeddings()
        return intents.evaluate(
            examples, tests, embed, say, out_of_scope=foreign, complete=complete
        )

    def with_model(services: app.Services) -> IntentFigures:
        figures = measured(completion(services))
        counted = services.chat.models.tokens_counted()
        tokens["tokens_a_turn"] = round((counted.asked + counted.answered) / len(tests), 1)
        return figures

    with written_later(arguments.per_query) as per_query:
        if arguments.endpoint:
            settings = _with_model(settings, arguments.endpoint, arguments.model)
            figures, _ = in_scratch_home(settings, with_model)
        else:
            figures = measured(None)
        if per_query:
            rows = figures.query_rows()
            per_query.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    results = figures.to_json()
    results[-1] |= tokens
    options = {"folder": str(folder.resolve())}
    seconds = time.monotonic() - began_at
    name = folder.resolve().name
    keep(stored_runs.run_of(figures, name, settings, options, results=results, seconds=seconds))
    print_document(results, _lines, as_json=arguments.json)
    return 0


def _with_model(settings: Settings, address: str, model: str) -> Settings:
    base_url = normalise_base_url(address)
    known = [e for e in settings.endpoints if e.base_url == base_url]
    chosen = known[0] if known else EndpointSettings(base_url)
    chosen = replace(chosen, model=model or chosen.model)
    if not chosen.is_set:
        raise AppError("There is no model to ask.", "Add --model NAME.")
    return replace(settings, endpoint=chosen, other_endpoints=(), helper=HelperSettings())


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    keys = list(rows[-1])
    table = [keys, *([_shown(row.get(key)) for key in keys] for row in rows)]
    widths = [max(len(cells[place]) for cells in table) + 2 for place in range(len(keys))]
    return [
        "".join(f"{text:>{width}}" for text, width in zip(cells, widths, strict=True))
        for cells in table
    ]


def _shown(value: object) -> str:
    return "" if value is None else str(value)
