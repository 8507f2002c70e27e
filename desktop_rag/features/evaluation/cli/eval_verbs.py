"""The verbs below `eval`; those that measure search, claims, rails and evidence are here.

Searches run in a scratch home, which is removed; the figures are stored in the person's library.
"""

import argparse
import json
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, path_given, positive, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.features.evaluation.cli.run_verbs import ID_CHARS, INDEX_KEYS, add_runs
from desktop_rag.features.evaluation.measures import grounding, intents, query_sets, search
from desktop_rag.features.evaluation.values.measurement import Measurement, app_version, runs_of
from desktop_rag.features.rails.cli.opened_world import bundled_embeddings, completion
from desktop_rag.models.endpoint_address import normalise_base_url
from desktop_rag.scratch_library import scratch_library
from desktop_rag.store.opening import library_bytes

T = TypeVar("T")
Row = dict[str, Any]

_PER = 1_000_000
_MEGABYTE = 1 << 20
# Settings that do not affect search.
_LEFT_OUT = ("endpoint", "other_endpoints", "helper", "appearance")


def add_evals(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `eval`."""
    evals = parser.add_subparsers(required=True)

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        return evals.add_parser(name, help=purpose, description=purpose)

    added = add("retrieval", "nDCG@10, recall@5, MRR and times on a set")
    added.set_defaults(run=_retrieval)
    text = "a folder with corpus.jsonl, queries.jsonl and qrels.tsv"
    added.add_argument("dir", type=path_given, help=text)
    kinds = added.add_mutually_exclusive_group()
    text = "measure gold characters instead, with documents/, queries.jsonl and spans.jsonl"
    kinds.add_argument("--spans", action="store_true", help=text)
    text = "measure evidence pages instead, with files/, queries.jsonl and evidence.jsonl"
    kinds.add_argument("--pages", action="store_true", help=text)
    added.add_argument("--mode", choices=search.MODES, help="one mode only")
    added.add_argument("--limit", type=positive, help="ask only the first queries")
    ranked, spans, pages = search.PASSAGES.values()
    text = f"passages for each query ({ranked}, {spans} by spans, {pages} by pages)"
    added.add_argument("-k", "--k", type=positive, help=text)
    add_json(added)
    _add_grounding(add("grounding", "how well the checker separates supported claims from others"))
    added = add("evidence", "the evidence that a model would be sent for questions; asks none")
    added.set_defaults(run=_evidence)
    text = "a folder with files/ and questions.jsonl of {id, question, evidence}, or evidence pages"
    added.add_argument("dir", type=path_given, help=text)
    added.add_argument("--limit", type=positive, help="only the first questions")
    text = f"the context of the model in tokens ({search.CONTEXT_TOKENS})"
    added.add_argument("--context", type=positive, default=search.CONTEXT_TOKENS, help=text)
    add_json(added)
    _add_intents(add("rails", "intents by examples: how many are right, and need no model"))
    add_runs(add)


# --- one measurement -----------------------------------------------------------------------------


def in_scratch_home(settings: Settings, measure: Callable[[app.Services], T]) -> tuple[T, int]:
    """The result of `measure` for a new, empty library, and the size of its file in bytes.

    The size is taken after the library is closed, when everything is in one file.
    """
    with scratch_library(app.build_services, find_home(), settings) as services:
        for notice in services.notices:
            say(f"{notice.title} {notice.hint}")
        result = measure(services)
        services.close()
        return result, library_bytes(services.home, services.settings)


def _measure(
    arguments: argparse.Namespace,
    place: Path,
    measure: Callable[[Settings], Measurement],
    *options: str,
    is_table: bool = False,
) -> int:
    """Measure, store the figures with these `options` of the verb, and print them."""
    settings, _ = load_settings(find_home().settings)
    began_at, place = time.monotonic(), place.resolve()
    measured = measure(settings)
    # Sets of claims often have the same file name in folders that differ.
    name = place.name if place.is_dir() else f"{place.parent.name}/{place.name}"
    chosen = {key: value for key, value in asdict(settings).items() if key not in _LEFT_OUT}
    chosen |= {"folder": str(place), **{key: getattr(arguments, key) for key in options}}
    seconds = time.monotonic() - began_at
    _keep(
        replace(
            measured, evaluation_id=uuid.uuid4().hex, name=name, created_at=time.time(),
            seconds=seconds, version=app_version(), settings=chosen,
        )
    )  # fmt: skip
    if is_table:
        print_document(measured.results, _table_lines, as_json=arguments.json)
    else:
        print_document(measured.results[0], _figure_lines, as_json=arguments.json)
    return 0


def _keep(measured: Measurement) -> None:
    """Store it in the person's library, whichever process holds that; say so on failure."""
    from desktop_rag.cli.running import run_verb

    try:
        with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
            # Too long for a request; the file belongs to this user, like the library.
            file = Path(scratch) / "run.json"
            file.write_text(json.dumps(asdict(measured)), encoding="utf-8")
            run_verb(["eval", "keep", str(file)])
    except AppError as error:
        say(f"This run was not stored. {error}")
    else:
        ids = ", ".join(run.run_id[:ID_CHARS] for run, _ in runs_of(measured))
        say(f"Stored as run {ids}.")


def _figure_lines(figures: Row) -> list[str]:
    """The figures of a measurement, one a line."""
    width = max(map(len, figures))
    return [f"{key:<{width}}  {value}" for key, value in figures.items()]


def _table_lines(rows: list[Row]) -> list[str]:
    """A line for each mode or number of examples; below it what indexing took."""
    last = rows[-1]
    keys = [key for key in last if key not in INDEX_KEYS]
    shown = [["" if (v := row.get(key)) is None else str(v) for key in keys] for row in rows]
    table = [keys, *shown]
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    lines = [
        "".join(f"{text:>{width}}" for text, width in zip(cells, widths, strict=True))
        for cells in table
    ]
    if "index_seconds" in last:
        lines.append(
            f"{last['passages']:,} passages indexed in {last['index_seconds']} s, by words after"
            f" {last['words_seconds']} s; {last['index_bytes'] / _MEGABYTE:.1f} MB"
        )
    return lines


# --- search and evidence -------------------------------------------------------------------------


def _retrieval(arguments: argparse.Namespace) -> int:
    kind = "spans" if arguments.spans else "pages" if arguments.pages else "retrieval"
    # Read now, so that a wrong folder fails at once.
    known = query_sets.load_set(arguments.dir, arguments.limit, kind)
    modes = (arguments.mode,) if arguments.mode else search.MODES

    def measured(settings: Settings) -> Measurement:
        found, index_bytes = in_scratch_home(
            settings, lambda s: search.search(known, s, say, modes=modes, passages=arguments.k)
        )
        sized = [{**row, "index_bytes": index_bytes} for row in found.results]
        return replace(found, results=sized)

    _measure(arguments, arguments.dir, measured, "limit", "k", is_table=True)
    if kind == "retrieval" and query_sets.has_spans(arguments.dir):
        say("This set has gold spans too; measure them with --spans.")
    return 0


def _evidence(arguments: argparse.Namespace) -> int:
    known = query_sets.load_set(arguments.dir, arguments.limit, "evidence")

    def measured(settings: Settings) -> Measurement:
        context = arguments.context
        return in_scratch_home(settings, lambda s: search.evidence(known, s, say, context))[0]

    return _measure(arguments, arguments.dir, measured, "context")


# --- rails ---------------------------------------------------------------------------------------


def _add_intents(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_intents)
    text = "a folder with examples.jsonl and tests.jsonl, rows of {text, intent}"
    parser.add_argument("dir", type=path_given, help=text)
    text = "rows of {text} that have none of the intents"
    parser.add_argument("--out-of-scope", type=path_given, metavar="FILE.jsonl", help=text)
    text = "also ask a model about what the examples don't settle"
    parser.add_argument("--endpoint", metavar="URL", default="", help=text)
    text = "the name of that model; without it, the one of the settings"
    parser.add_argument("--model", metavar="NAME", default="", help=text)
    add_json(parser)


def _intents(arguments: argparse.Namespace) -> int:
    examples = query_sets.load_sentences(arguments.dir / "examples.jsonl")
    tests = query_sets.load_sentences(arguments.dir / "tests.jsonl")
    foreign: list[str] = []
    if arguments.out_of_scope:
        rows = query_sets.load_sentences(arguments.out_of_scope, needs_intent=False)
        foreign = [row.text for row in rows]

    def measured(complete: Callable[[str], str] | None) -> Measurement:
        embed, _ = bundled_embeddings()
        asked = intents.evaluate(
            examples, tests, embed, say, out_of_scope=foreign, complete=complete
        )
        return intents.measured(asked)

    def with_model(services: app.Services) -> Measurement:
        found = measured(completion(services))
        counted = services.chat.models.tokens_counted()
        tokens = round((counted.asked + counted.answered) / len(tests), 1)
        found.results[-1]["tokens_a_turn"] = tokens
        return found

    def chosen(settings: Settings) -> Measurement:
        if not arguments.endpoint:
            return measured(None)
        settings = _with_endpoint(settings, arguments, "Add --model NAME.")
        return in_scratch_home(settings, with_model)[0]

    return _measure(arguments, arguments.dir, chosen, is_table=True)


def _with_endpoint(settings: Settings, arguments: argparse.Namespace, hint: str) -> Settings:
    """The settings with only the model and endpoint of the verb, "" for the helper's.

    AppError for none, with this hint.
    """
    chosen = settings.helping_endpoint
    if arguments.endpoint:
        base_url = normalise_base_url(arguments.endpoint)
        known = (e for e in settings.endpoints if e.base_url == base_url)
        chosen = next(known, EndpointSettings(base_url))
    chosen = replace(chosen, model=arguments.model or chosen.model)
    if not chosen.is_set:
        raise AppError("There is no model to ask.", hint)
    return replace(settings, endpoint=chosen, other_endpoints=(), helper=HelperSettings())


# --- claims --------------------------------------------------------------------------------------


def _add_grounding(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_grounding)
    text = "a .jsonl file of rows {source, claim, label}"
    parser.add_argument("file", type=path_given, help=text)
    add_json(parser)


def _grounding(arguments: argparse.Namespace) -> int:
    claims = query_sets.load_claims(arguments.file)

    def measured(_: Settings) -> Measurement:
        checker = app.make_claim_checker()
        checked = grounding.checked_claims(claims, checker, say)
        return grounding.check_figures(checked, checker.threshold)

    return _measure(arguments, arguments.file, measured)
