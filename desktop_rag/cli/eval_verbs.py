"""The verbs that measure quality: `eval retrieval`, `eval grounding`, `eval answers`, `eval runs`.

The search runs in a scratch home, which is removed; the figures are stored in the person's library.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, TypeVar

from desktop_rag import app, upkeep
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.core.files.settings_file import load_settings, save_settings
from desktop_rag.core.paths import Home, find_home
from desktop_rag.core.settings import Settings
from desktop_rag.evaluate import (
    answers,
    grounding,
    pages,
    query_sets,
    retrieval,
    spans,
    stored_runs,
)
from desktop_rag.evaluate.answer_set import AnswerSet, load_answer_set
from desktop_rag.evaluate.indexing import index_folder
from desktop_rag.evaluate.measurement import MODES, Measurements
from desktop_rag.running_app import ask_running_app

_INDEX_KEYS = ("index_seconds", "words_seconds", "passages", "index_bytes")
_MEGABYTE = 1 << 20
_ID_CHARS = 8
T = TypeVar("T")
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
    added.set_defaults(run=_grounding)
    added.add_argument("file", help="a .jsonl file of rows {source, claim, label}")
    add_json(added)
    text = "answers to a set of questions: citations, support, correctness, times, tokens"
    added = evals.add_parser("answers", help=text, description=text)
    added.set_defaults(run=_answers)
    text = "a .jsonl file of {question, answer}, or a folder of questions.jsonl and documents/"
    added.add_argument("set", metavar="SET", help=text)
    text = "ask one collection of your library; a set with documents has a library of its own"
    added.add_argument("--collection", default="", help=text)
    added.add_argument("--limit", type=positive, help="ask only the first questions")
    text = "write the results of each question"
    added.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(added)
    text = "List the stored measurements, or one with its queries."
    added = evals.add_parser("runs", help=text, description=text)
    added.set_defaults(run=_runs)
    added.add_argument("id", nargs="?", default="", help="the beginning of a run's id")
    add_json(added)


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app."""
    return {
        "eval_runs": lambda services, asked: services.evaluation_runs.listed(str(asked["id"])),
        "eval_keep": lambda services, asked: _keep_file(services, Path(str(asked["file"]))),
    }


def in_scratch_home(settings: Settings, measure: Callable[[app.Services], T]) -> tuple[T, int]:
    """The result of `measure` for a new, empty library, and the size of its file in bytes.

    The size is taken after the library is closed, when everything is in one file.
    """
    # The caller waits for the result.
    settings = replace(settings, index=replace(settings.index, pauses_on_battery=False))
    with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
        home = Home(Path(scratch) / "home")
        home.create()
        save_settings(home.settings, settings)
        # Model profiles and spending limits apply here too.
        own = find_home()
        _copy(own.model_profiles, home.model_profiles)
        _copy(own.spending, home.spending)
        services = app.build_services(home)
        try:
            for notice in services.notices:
                say(f"{notice.title} {notice.hint}")
            services.library.start(watch=False)
            result = measure(services)
        finally:
            services.close()
            _copy(home.spending, own.spending)
        return result, upkeep.library_size(home)


def _copy(file: Path, to: Path) -> None:
    """Copy a small file, if it exists."""
    if file.exists():
        shutil.copyfile(file, to)


# --- eval retrieval ----------------------------------------------------------------------------


def _retrieval(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.dir)
    measure = _chosen_measure(arguments, folder)
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with _written_later(arguments.per_query) as per_query:
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
    _keep(run)
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


@contextmanager
def _written_later(path: Path | None) -> Generator[TextIO | None]:
    """The file, opened before the work, so that an unwritable one fails at once."""
    if path is None:
        yield None
        return
    try:
        with persons_mask():
            file = path.open("w", encoding="utf-8")
    except OSError as exc:
        raise AppError(f"{path} cannot be written.", str(exc.strerror)) from exc
    with file:
        yield file


# --- eval grounding ----------------------------------------------------------------------------


def _grounding(arguments: argparse.Namespace) -> int:
    file = Path(arguments.file)
    claims = grounding.load_claims(file)
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    figures = grounding.evaluate(claims, app.make_claim_checker(), say)
    results = figures.to_json()
    # Sets of claims often have the same file name in folders that differ.
    path = file.resolve()
    run = stored_runs.run_of(
        figures,
        f"{path.parent.name}/{path.name}",
        settings,
        {"file": str(path)},
        results=[results],
        seconds=time.monotonic() - began_at,
    )
    _keep(run)
    print_document(results, _figure_lines, as_json=arguments.json)
    return 0


# --- eval answers ------------------------------------------------------------------------------


def _answers(arguments: argparse.Namespace) -> int:
    answer_set = load_answer_set(Path(arguments.set), arguments.limit)
    if answer_set.documents and arguments.collection:
        raise AppError("This set has documents of its own.", "Leave --collection out.")
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with _written_later(arguments.per_query) as per_query:
        figures = _answered(answer_set, arguments.collection, settings)
        if per_query:
            rows = figures.query_rows()
            per_query.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    results = figures.to_json()
    options = {
        "set": str(Path(arguments.set).resolve()),
        "collection": arguments.collection,
        "limit": arguments.limit,
    }
    run = stored_runs.run_of(
        figures,
        answer_set.name,
        settings,
        options,
        results=[results],
        seconds=time.monotonic() - began_at,
    )
    _keep(run)
    print_document(results, _figure_lines, as_json=arguments.json)
    return 0


def _answered(answer_set: AnswerSet, collection: str, settings: Settings) -> answers.AnswerFigures:
    """Ask the set of its own documents, or of the person's library if no window has it open."""
    questions, documents = answer_set.questions, answer_set.documents
    if documents is None:
        with open_services() as services:
            found = services.library.collections.find(collection) if collection else None
            collection_id = found.collection_id if found else ""
            return answers.evaluate(questions, services.chat, say, collection_id=collection_id)

    def measure(services: app.Services) -> answers.AnswerFigures:
        index_folder(services.library, documents, say)
        return answers.evaluate(questions, services.chat, say)

    figures, _ = in_scratch_home(settings, measure)
    return figures


# --- runs --------------------------------------------------------------------------------------


def _runs(arguments: argparse.Namespace) -> int:
    is_answered, found = ask_running_app(find_home(), "eval_runs", {"id": arguments.id})
    if not is_answered:
        with open_services() as services:
            found = services.evaluation_runs.listed(arguments.id)
    print_document(found, _run_lines, as_json=arguments.json)
    return 0


def _keep(run: dict[str, Any]) -> None:
    """Store the run, through the window if it has the library open; say so on failure."""
    try:
        with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
            # Too long for a request; the file belongs to this user, like the library.
            file = Path(scratch) / "run.json"
            file.write_text(json.dumps(run), encoding="utf-8")
            is_kept, _ = ask_running_app(find_home(), "eval_keep", {"file": str(file)})
        if not is_kept:
            with open_services() as services:
                services.evaluation_runs.add(run)
    except AppError as error:
        say(f"This run was not stored. {error.title} {error.hint}")
    else:
        say(f"Stored as run {run['evaluation_id'][:_ID_CHARS]}.")


def _keep_file(services: app.Services, path: Path) -> None:
    try:
        run = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise AppError("The run could not be read.", str(exc)) from exc
    services.evaluation_runs.add(run)


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


def _figure_lines(figures: dict[str, Any]) -> list[str]:
    width = max(map(len, figures))
    return [f"{key:<{width}}  {value}" for key, value in figures.items()]


def _run_lines(found: list[dict[str, Any]]) -> list[str]:
    if not found:
        return ["No runs yet. Make one with: desktop-rag eval retrieval DIR"]
    lines: list[str] = []
    for run in found:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run["created_at"]))
        name = f"{run['kind']} {run['name']}"
        lines.append(f"{run['evaluation_id'][:_ID_CHARS]}  {made}  {name}  ({run['version']})")
        for row in run["results"]:
            left_out = ("mode", *_INDEX_KEYS)
            figures = ", ".join(f"{k} {v}" for k, v in row.items() if k not in left_out)
            lines.append(f"    {row.get('mode', ''):<8} {figures}")
        lines += [json.dumps(row, ensure_ascii=False) for row in run.get("queries", [])]
    return lines
