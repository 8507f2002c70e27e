"""Runs of sets of questions: `eval run`, `compare`, `report`, `runs` and `chunks`."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from threading import Event
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import (
    Terminal,
    begin_reading,
    here,
    open_services,
    path_given,
    positive,
    prints,
    say,
)
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.experiments.document_questions import (
    USUAL_QUESTIONS,
    made_questions,
    questions_of_feedback,
    write_questions,
)
from desktop_rag.features.evaluation.experiments.experiments import Experiments
from desktop_rag.features.evaluation.experiments.reports import raw_rows, write_report
from desktop_rag.features.evaluation.experiments.set_files import (
    is_set_file,
    read_set,
    read_set_ups,
)
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.found_places import CHUNKINGS, DEPTH, in_words
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.evaluation.values.run import (
    QuestionSet,
    Run,
    RunAnswer,
    RunState,
    RunWentOn,
    SetUp,
)
from desktop_rag.features.evaluation.values.run_summary import (
    compare_runs,
    compared_with_first,
    summary,
)
from desktop_rag.features.evaluation.values.scoring import RunScores, SetResults

Row = dict[str, Any]
Add = Callable[[str, str], argparse.ArgumentParser]

_POLL_S = 1.0
_WORST = 10
ID_CHARS = 8
# The cost of indexing, told once for all modes.
INDEX_KEYS = ("index_seconds", "words_seconds", "passages", "index_bytes")
_TOLD_ONCE = ("mode", *INDEX_KEYS)


def add_runs(add: Add) -> None:
    """Add the verbs; `add` makes the parser of one, by its name and purpose."""
    text = "ask a set of questions with several set-ups; everything is stored and compared"
    added = add("run", text)
    text = (
        "the name of a set, a .csv, .jsonl or .xlsx file of questions, or a folder of"
        " questions.jsonl and documents/, which becomes one"
    )
    added.add_argument("set", metavar="SET", help=text)
    text = "a .json list or .toml file of set-ups; without it, one with the settings as they are"
    added.add_argument("--setups", type=path_given, metavar="FILE", help=text)
    text = "ask one collection; a set with documents has a library of its own"
    added.add_argument("--collection", default="", metavar="C", help=text)
    added.add_argument("--limit", type=positive, metavar="N", help="ask only the first questions")
    text = "write no answers: does search find what is known to answer each question?"
    added.add_argument("--search", action="store_true", help=text)
    text = "begin though it may cost more than the sum above which the endpoint asks first"
    added.add_argument("--yes", action="store_true", help=text)
    text = "only say what it may take"
    added.add_argument("--estimate", action="store_true", help=text)
    prints(added, _run, _lines, is_ok=_is_done)
    text = "whether one run of a set is better than another, by a bootstrap and a sign test"
    added = add("compare", text)
    text = "the name of a set-up, of which the latest run counts, or the beginning of a run's id"
    added.add_argument("first", metavar="A", help=text)
    added.add_argument("second", metavar="B", help="another one of the same set")
    text = "the set, where set-ups of several have the name"
    added.add_argument("--set", default="", metavar="SET", help=text)
    prints(added, _compare, lambda row: [str(row["words"])])
    text = "write the runs of a set as a report (.html) or as raw data (.csv, .jsonl)"
    added = add("report", text)
    added.add_argument("set", metavar="SET", help="the name of the set")
    added.add_argument(
        "file", type=path_given, metavar="FILE", help="its ending says what is written"
    )
    prints(added, _report, lambda row: [f"Written: {row['file']}"])
    text = "list the stored runs and measurements, or one with its queries"
    added = add("runs", text)
    added.add_argument("id", nargs="?", default="", help="the beginning of a run's id")
    prints(added, _runs, _listed_lines)
    _add_stored(add)
    _add_chunks(add)


def _add_stored(add: Add) -> None:
    # For the other verbs, whose figures come into the library by it.
    added = add("keep", "store the figures in a file")
    added.add_argument("file", type=path_given)
    added.set_defaults(run=_keep)
    text = "a set for `eval run` from your feedback on answers; it stays on this computer"
    added = add("set-from-feedback", text)
    added.add_argument("file", type=path_given, metavar="FILE.jsonl", help="a new file")
    prints(added, _feedback_set, _feedback_lines)


def _experiments(services: app.Services) -> Experiments:
    return services.wing(EvaluationServices).experiments


# --- run ---------------------------------------------------------------------------------------


def _is_done(done: Row) -> bool:
    return all(run["state"] == RunState.DONE.value for run in done["runs"])


def _run(arguments: argparse.Namespace) -> Row:
    """Begin the runs and wait for their answers; a running app goes on if nobody waits."""
    with open_services() as services:
        experiments = _experiments(services)
        question_set = _set(services, arguments.set)
        set_ups = [SetUp(services.chat.models.endpoint.model or "excerpts")]
        if arguments.setups:
            set_ups = read_set_ups(arguments.setups, lambda kind, name: _id(services, kind, name))
        if arguments.collection:
            if question_set.documents:
                raise AppError("This set has documents of its own.", "Leave --collection out.")
            collection_id = _id(services, "collection", arguments.collection)
            set_ups = [replace(each, collection_id=collection_id) for each in set_ups]
        if arguments.search:
            set_ups = [replace(each, only_searches=True) for each in set_ups]
        question_set = replace(question_set, questions=question_set.questions[: arguments.limit])
        estimate = experiments.estimate(question_set, set_ups).in_words()
        say(estimate)
        if arguments.estimate:
            return {"estimate": estimate, "runs": [], "comparisons": []}
        return _done(services, question_set, set_ups, has_consent=arguments.yes)


def _done(
    services: app.Services, question_set: QuestionSet, set_ups: Sequence[SetUp], has_consent: bool
) -> Row:
    """Begin the runs, and wait for them."""
    experiments = _experiments(services)
    runs = experiments.begin(question_set, set_ups, has_consent=has_consent)
    run_ids = [run.run_id for run in runs]
    if services.is_running:
        _wait_for(experiments, run_ids)
    else:
        stop_hearing = services.changes.hear(RunWentOn, partial(_tell, here()))
        services.wing(EvaluationServices).work_off(lambda run: run.run_id in run_ids)
        stop_hearing()
    return _state(experiments, question_set.set_id, run_ids)


def _set(services: app.Services, name: str) -> QuestionSet:
    """The set of this name; that of a file is made or brought up to date."""
    experiments, documents = _experiments(services), services.library.documents
    if not is_set_file(path_given(name)):
        return experiments.find(name)
    path = path_given(name).resolve()
    read = read_set(path, lambda each: documents.parsed(each, cancel=Event()))
    known = [each for each in experiments.sets() if each.name == read.name]
    if not known:
        return experiments.add(read.name, read.questions, read.documents)
    changed = replace(known[0], questions=read.questions, documents=read.documents)
    return known[0] if changed == known[0] else experiments.change(changed)


def _id(services: app.Services, kind: str, name: str) -> str:
    if kind == "assistant":
        return services.chat.assistants.find(name).assistant_id
    return services.library.collections.find(name).collection_id


def _tell(terminal: Terminal, event: RunWentOn) -> None:
    terminal.say(event.doing or f"{event.answered:,} of {event.total:,} answered")


def _wait_for(experiments: Experiments, run_ids: Sequence[str]) -> None:
    """Say how far the worker is with these runs, until none waits any longer."""
    told = ""
    while True:
        here().go_on()
        runs = [run for run in experiments.store.all(Run) if run.run_id in run_ids]
        count = sum(len(experiments.store.all(RunAnswer, run.run_id)) for run in runs)
        words = f"{count:,} of {sum(len(run.questions) for run in runs):,} answered"
        if words != told:
            say(words)
        told = words
        if all(run.state is not RunState.WAITING for run in runs):
            return
        time.sleep(_POLL_S)


def _state(experiments: Experiments, set_id: str, run_ids: Sequence[str]) -> Row:
    results = experiments.results(set_id)
    runs = [scores for scores in results.runs if scores.run.run_id in run_ids]
    compared = compared_with_first(runs, results.judgements)
    rows = [_row(results, scores) for scores in runs]
    return {"runs": rows, "comparisons": [each.to_json() for each in compared]}


def _row(results: SetResults, scores: RunScores) -> Row:
    """A run without its answers."""
    run = scores.run
    return {
        **asdict(summary(scores)), "kind": run.kind, "set": results.question_set.name,
        "created_at": run.made_at, "version": run.app_version, "settings": dict(run.settings),
        "figures": dict(run.figures), "error": run.error_title, "hint": run.error_hint,
    }  # fmt: skip


def _lines(done: Row) -> list[str]:
    lines = [_run_line(run) for run in done["runs"]]
    lines += [comparison["words"] for comparison in done["comparisons"]]
    return lines or [done.get("estimate", "")]


def _run_line(run: Row) -> str:
    known = {
        "score": run["score"], "preferred": run["preferred"], "seconds": run["seconds"],
        "backed by sources": run["supported"], "cited": run["cited"], "tokens": run["tokens"],
        "cost": run["cost"], "failed": run["failed"] or None,
    }  # fmt: skip
    known |= {key: value for key, value in run["figures"].items() if key not in _TOLD_ONCE}
    figures = [f"{key} {value}" for key, value in known.items() if value is not None]
    answered = f"{run['answered']} of {run['questions']} answered"
    error = f" ({run['error']} {run['hint']})" if run["error"] else ""
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run["created_at"]))
    name = f"{run['run_id'][:ID_CHARS]}  {made}  {run['set']}: {run['name']}"
    return f"{name}: {', '.join([run['state'], answered, *figures])}{error}"


# --- compare and report ------------------------------------------------------------------------


def _compare(arguments: argparse.Namespace) -> Row:
    with open_services() as services:
        experiments = _experiments(services)
        sets = [experiments.find(arguments.set)] if arguments.set else experiments.sets()
        every = [experiments.results(each.set_id) for each in sets]
        of_set, first = _named(every, arguments.first)
        _, second = _named([of_set], arguments.second)
        return compare_runs(first, second, of_set.judgements).to_json()


def _named(sets: Sequence[SetResults], name: str) -> tuple[SetResults, RunScores]:
    """The latest run whose set-up or which itself has this name, or whose id begins with it."""
    runs = [(results, scores) for results in sets for scores in results.runs]
    found = [pair for pair in runs if pair[1].run.set_up.name == name]
    found = found or [pair for pair in runs if pair[1].name == name]
    found = found or [pair for pair in runs if name and pair[1].run.run_id.startswith(name)]
    if found:
        return found[-1]
    names = ", ".join(dict.fromkeys(f"“{scores.name}”" for _, scores in runs)) or "none yet"
    raise AppError(f"There is no run “{name}”.", f"There are: {names}.")


def _report(arguments: argparse.Namespace) -> Row:
    with open_services() as services:
        experiments = _experiments(services)
        results = experiments.results(experiments.find(arguments.set).set_id)
        write_report(results, arguments.file)
    return {"file": str(arguments.file)}


# --- runs --------------------------------------------------------------------------------------


def _runs(arguments: argparse.Namespace) -> list[Row]:
    with open_services() as services:
        return listed_runs(_experiments(services), arguments.id)


def listed_runs(experiments: Experiments, beginning: str = "") -> list[Row]:
    """All runs without their answers, the newest first.

    With the beginning of an id only that one, with its answers; AppError unless exactly one is
    meant.
    """
    every = [experiments.results(each.set_id) for each in experiments.sets()]
    found = [
        (_row(results, scores), scores)
        for results in every
        for scores in results.runs
        if scores.run.run_id.startswith(beginning)
    ]
    if beginning and len(found) != 1:
        title = f"{'More than one' if found else 'No'} run begins with {beginning}."
        raise AppError(title, "List them: desktop-rag eval runs")
    if beginning:
        [(row, scores)] = found
        measured = [each for answer in scores.answers.values() for each in answer.rows]
        row["answers"] = measured or raw_rows(scores)
    return sorted((row for row, _ in found), key=lambda row: -row["created_at"])


def _listed_lines(found: list[Row]) -> list[str]:
    lines: list[str] = []
    for run in found:
        answers = (json.dumps(row, ensure_ascii=False) for row in run.get("answers", []))
        lines += [_run_line(run), *answers]
    return lines or ["No runs yet. Make one with: desktop-rag eval run SET"]


def _keep(arguments: argparse.Namespace) -> int:
    """Store the measurement in a file."""
    try:
        kept = Measurement(**json.loads(arguments.file.read_bytes()))
    except (OSError, ValueError, TypeError) as exc:
        raise AppError("The run could not be read.", str(exc)) from exc
    with open_services() as services:
        _experiments(services).keep(kept)
    return 0


# --- a set from feedback -------------------------------------------------------------------------


def _feedback_set(arguments: argparse.Namespace) -> Row:
    file = arguments.file
    with open_services() as services:
        questions = questions_of_feedback(services.chat)
        write_questions(questions, file)
    expected = sum(bool(each.expected) for each in questions)
    wrong = sum(bool(each.wrong) for each in questions)
    return {"file": str(file), "questions": len(questions), "expected": expected, "wrong": wrong}


def _feedback_lines(told: Row) -> list[str]:
    held = f"{told['questions']:,} questions, {told['expected']:,} with expected answers"
    return [
        f"{told['file']}: {held}, {told['wrong']:,} with answers you called wrong.",
        f"It holds your questions and answers. Ask them with: desktop-rag eval run {told['file']}",
    ]


# --- chunks ------------------------------------------------------------------------------------


def _add_chunks(add: Add) -> None:
    text = "which chunk settings find most in your own documents, with the worst questions and why"
    added = add("chunks", text)
    text = "a set of questions with sources; without it, questions are made from the documents"
    added.add_argument("set", metavar="SET", nargs="?", default="", help=text)
    text = "the collection whose folders are compared; needed where there are several"
    added.add_argument("--collection", default="", metavar="C", help=text)
    text = f"how many questions are made ({USUAL_QUESTIONS})"
    added.add_argument("--count", type=positive, default=USUAL_QUESTIONS, metavar="N", help=text)
    text = "make them from headings and sentences, even where a model is set"
    added.add_argument("--no-model", action="store_true", help=text)
    text = "use the settings that find most, if others than the present ones do"
    added.add_argument("--use", action="store_true", help=text)
    prints(added, _chunks, chunk_lines, is_ok=_is_done)


def _chunks(arguments: argparse.Namespace) -> Row:
    """Compare the present settings of a collection, which come first, with others."""
    with open_services() as services:
        experiments, library = _experiments(services), services.library
        collection = _collection(services, arguments.collection)
        if arguments.set:
            asked = experiments.find(arguments.set)
        else:
            sources = [
                s for s in library.sources.all() if s.collection_id == collection.collection_id
            ]
            among = [d for s in sources for d in library.documents.all(source_id=s.source_id)]
            say("Making questions from the documents")
            made = made_questions(
                library, services.chat, arguments.count, Event(), among,
                uses_model=not arguments.no_model,
            )  # fmt: skip
            asked = experiments.put_in(f"From {collection.name}", list(made))
        chunkings = dict.fromkeys((collection.chunking, *CHUNKINGS))
        set_ups = [
            SetUp(
                in_words(each), collection_id=collection.collection_id, chunking=each,
                only_searches=True,
            )
            for each in chunkings
        ]  # fmt: skip
        done = _done(services, asked, set_ups, has_consent=True)
        by_name = {each.name: each for each in experiments.results(asked.set_id).runs}
        done |= {"worst": worst(by_name[done["runs"][0]["name"]]), "is_used": False}
        best = next(iter(done["comparisons"]), None)
        if arguments.use and best and best["difference"] > 0:
            chunking = by_name[best["second"]].run.set_up.chunking or ChunkSettings()
            begin_reading(services)
            experiments.use_chunks({collection.collection_id: chunking})
            if here().services is None:
                library.indexing.wait_until_idle()
            done["is_used"] = True
        return done


def _collection(services: app.Services, name: str) -> Collection:
    collections = services.library.collections
    if name:
        return collections.find(name)
    every = collections.all()
    if len(every) == 1:
        return every[0]
    names = ", ".join(f"“{each.name}”" for each in every) or "none yet"
    raise AppError("Choose a collection with --collection.", f"There are: {names}.")


def worst(present: RunScores) -> list[Row]:
    """The questions that found least with the present settings: missed ones, then late ones."""
    texts = {each.question_id: each.text for each in present.run.questions}
    poor = [each for each in present.answers.values() if each.rows and each.rows[0]["rank"] != 1]
    poor.sort(key=lambda each: (each.measured, -(each.rows[0]["rank"] or DEPTH + 1)))
    return [{"question": texts[a.question_id], "why": a.text, **a.rows[0]} for a in poor[:_WORST]]


def chunk_lines(done: Row) -> list[str]:
    """What a person is told of compared chunks."""
    lines = _lines(done)
    if not any(each["difference"] > 0 for each in done["comparisons"]):
        lines.append("Keep the present chunks: no others that were tried find more.")
    if done["worst"]:
        lines += ["", "The worst questions:"]
        lines += [f"  {row['question']}: {row['why']}" for row in done["worst"]]
    if done["is_used"]:
        lines += ["", "The documents are chunked so from now on."]
    return lines
