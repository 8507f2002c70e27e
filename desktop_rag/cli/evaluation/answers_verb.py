"""`eval answers`: asks the questions of a set, and measures the answers."""

import argparse
import json
import time
from pathlib import Path

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.evaluation.kept_run import figure_lines, keep, written_later
from desktop_rag.cli.evaluation.scratch_home import in_scratch_home
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import Settings
from desktop_rag.evaluate import answers, stored_runs
from desktop_rag.evaluate.answer_set import AnswerSet, load_answer_set
from desktop_rag.evaluate.indexing import index_folder


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.set_defaults(run=_measure)
    text = "a .jsonl file of {question, answer}, or a folder of questions.jsonl and documents/"
    parser.add_argument("set", metavar="SET", help=text)
    text = "ask one collection of your library; a set with documents has a library of its own"
    parser.add_argument("--collection", default="", help=text)
    parser.add_argument("--limit", type=positive, help="ask only the first questions")
    text = "write the results of each question"
    parser.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(parser)


def _measure(arguments: argparse.Namespace) -> int:
    answer_set = load_answer_set(Path(arguments.set), arguments.limit)
    if answer_set.documents and arguments.collection:
        raise AppError("This set has documents of its own.", "Leave --collection out.")
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with written_later(arguments.per_query) as per_query:
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
    keep(run)
    print_document(results, figure_lines, as_json=arguments.json)
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
