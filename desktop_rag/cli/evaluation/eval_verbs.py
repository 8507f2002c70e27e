"""The verbs that measure quality: `eval retrieval`, `eval runs`, and those of their own modules.

The search runs in a scratch home, which is removed; the figures are stored in the person's library.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.evaluation.answers_verb import add_answers
from desktop_rag.cli.evaluation.chunks_verb import add_chunks, chunk_verbs
from desktop_rag.cli.evaluation.feedback_verb import add_feedback_set, feedback_verbs
from desktop_rag.cli.evaluation.grounding_verb import add_grounding
from desktop_rag.cli.evaluation.intents_verb import add_intents
from desktop_rag.cli.evaluation.kept_run import ID_CHARS, keep, keep_file, written_later
from desktop_rag.cli.evaluation.run_verbs import add_runs, run_verbs
from desktop_rag.cli.evaluation.scratch_home import in_scratch_home
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.evaluate import pages, query_sets, retrieval, spans, stored_runs
from desktop_rag.evaluate.measurement import MODES, Measurements
from desktop_rag.running_app import ask_running_app

_INDEX_KEYS = ("index_seconds", "words_seconds", "passages", "index_bytes")
_MEGABYTE = 1 << 20
Measure = Callable[[app.Services], Measurements]


def add_evals(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `eval`."""
    evals = parser.add_subparsers(required=True)
    text = "nDCG@10, recall@5, MRR and times on a set"
    added = evals.add_parser("retrieval", help=text, description=text)
    added.set_defaults(run=_retrieval)
    added.add_argument("dir", help="a folder with corpus.jsonl, queries.jsonl and qrels.tsv")
    kinds = added.add_mutually_exclusive_group()
    text = "measure gold characters instead, with documents/, queries.jsonl and spans.jsonl"
    kinds.add_argument("--spans", action="store_true", help=text)
    text = "measure evidence pages instead, with files/, queries.jsonl and evidence.jsonl"
    kinds.add_argument("--pages", action="store_true", help=text)
    added.add_argument("--mode", choices=MODES, help="one mode only")
    added.add_argument("--limit", type=positive, help="ask only the first queries")
    counts = f"{retrieval.PASSAGES}, {spans.PASSAGES} by spans, {pages.PASSAGES} by pages"
    added.add_argument("-k", "--k", type=positive, help=f"passages for each query ({counts})")
    text = "write the results of each query and mode"
    added.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(added)
    text = "how well the checker separates supported from unsupported claims"
    added = evals.add_parser("grounding", help=text, description=text)
    add_grounding(added)
    text = "intents by examples: how many are right, and settled without a model"
    add_intents(evals.add_parser("rails", help=text, description=text))
    text = "answers to a set of questions: citations, support, correctness, times, tokens"
    added = evals.add_parser("answers", help=text, description=text)
    add_answers(added)
    text = "a set for `eval answers` from your feedback on answers; it stays on this computer"
    add_feedback_set(evals.add_parser("set-from-feedback", help=text, description=text))
    add_runs(lambda name, purpose: evals.add_parser(name, help=purpose, description=purpose))
    text = "which chunk settings find most in your own documents, with the worst questions and why"
    add_chunks(evals.add_parser("chunks", help=text, description=text))
    text = "List the stored measurements, or one with its queries."
    added = evals.add_parser("runs", help=text, description=text)
    added.set_defaults(run=_runs)
    added.add_argument("id", nargs="?", default="", help="the beginning of a run's id")
    add_json(added)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app."""
    return {
        **feedback_verbs(),
        **run_verbs(),
        **chunk_verbs(),
        "eval_runs": lambda services, asked: services.evaluation_runs.listed(str(asked["id"])),
        "eval_keep": lambda services, asked: keep_file(services, Path(str(asked["file"]))),
    }


# --- eval retrieval ----------------------------------------------------------------------------


def _retrieval(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.dir)
    measure = _chosen_measure(arguments, folder)
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with written_later(arguments.per_query) as per_query:
        measured, index_bytes = in_scratch_home(settings, measure)
        if per_query:
            rows = measured.query_rows()
            per_query.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    results = measured.to_json(index_bytes)
    options = {
        "folder": str(folder.resolve()),
        "limit": arguments.limit,
        "k": arguments.k,
    }
    run = stored_runs.run_of(
        measured,
        folder.resolve().name,
        settings,
        options,
        results=results,
        seconds=time.monotonic() - began_at,
    )
    keep(run)
    if measured.kind == "retrieval" and query_sets.has_spans(folder):
        say("This set has gold spans too; measure them with --spans.")
    print_document(results, _result_lines, as_json=arguments.json)
    return 0


def _chosen_measure(arguments: argparse.Namespace, folder: Path) -> Measure:
    """The measurement to run; reads the set now, so that a wrong folder fails at once."""
    modes = (arguments.mode,) if arguments.mode else MODES
    limit, k = arguments.limit, arguments.k
    if arguments.spans:
        span_set = query_sets.load_span_set(folder, limit)
        count = k or spans.PASSAGES
        return lambda s: spans.evaluate(span_set, modes, s.library, s.chat, say, passages=count)
    if arguments.pages:
        page_set = query_sets.load_page_set(folder, limit)
        count = k or pages.PASSAGES
        return lambda s: pages.evaluate(page_set, modes, s.library, s.chat, say, passages=count)
    ranked_set = query_sets.load_set(folder, limit)
    count = k or retrieval.PASSAGES
    return lambda s: retrieval.evaluate(
        ranked_set, modes, s.library, s.chat, s.home.root.parent, say, passages=count
    )


# --- runs --------------------------------------------------------------------------------------


def _runs(arguments: argparse.Namespace) -> int:
    is_answered, found = ask_running_app(find_home(), "eval_runs", {"id": arguments.id})
    if not is_answered:
        with open_services() as services:
            found = services.evaluation_runs.listed(arguments.id)
    print_document(found, _run_lines, as_json=arguments.json)
    return 0


# --- lines for people --------------------------------------------------------------------------


def _result_lines(rows: list[dict[str, Any]]) -> list[str]:
    keys = [key for key in rows[0] if key not in _INDEX_KEYS]
    widths = [max(10, len(key) + 2) for key in keys]
    table = [keys, *([str(row[key]) for key in keys] for row in rows)]
    lines = [
        "".join(f"{text:>{width}}" for text, width in zip(cells, widths, strict=True))
        for cells in table
    ]
    first = rows[0]
    size_mb = first["index_bytes"] / _MEGABYTE
    index = (
        f"{first['passages']:,} passages indexed in {first['index_seconds']} s,"
        f" by words after {first['words_seconds']} s; {size_mb:.1f} MB"
    )
    return [*lines, index]


def _run_lines(found: list[dict[str, Any]]) -> list[str]:
    if not found:
        return ["No runs yet. Make one with: desktop-rag eval retrieval DIR"]
    lines: list[str] = []
    for run in found:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run["created_at"]))
        name = f"{run['kind']} {run['name']}"
        lines.append(f"{run['evaluation_id'][:ID_CHARS]}  {made}  {name}  ({run['version']})")
        for row in run["results"]:
            left_out = ("mode", *_INDEX_KEYS)
            figures = ", ".join(f"{k} {v}" for k, v in row.items() if k not in left_out)
            lines.append(f"    {row.get('mode', ''):<8} {figures}")
        lines += [json.dumps(row, ensure_ascii=False) for row in run.get("queries", [])]
    return lines
