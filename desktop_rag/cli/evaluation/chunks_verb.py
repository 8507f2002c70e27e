"""`eval chunks`: which chunk settings find most in the documents of a collection."""

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.experiments.chunk_advice import advice, comparison_json
from desktop_rag.core.experiments.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.core.paths import find_home
from desktop_rag.experiments.chunk_measurement import MOST_QUESTIONS, USUAL_QUESTIONS, ChunkPlan
from desktop_rag.experiments.chunk_trials import ChunkTrials
from desktop_rag.running_app import ask_running_app

_POLL_S = 0.5
_BEGIN, _STATE, _CANCEL, _RESULT, _USE = (
    f"eval_chunks_{name}" for name in ("begin", "state", "cancel", "result", "use")
)
_Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def add_chunks(added: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    added.set_defaults(run=_chunks)
    text = "a set of questions with sources; without it, questions are made from the documents"
    added.add_argument("set", metavar="SET", nargs="?", default="", help=text)
    text = "the collection whose folders are compared; needed where there are several"
    added.add_argument("--collection", default="", metavar="C", help=text)
    text = f"how many questions are made ({USUAL_QUESTIONS}, at most {MOST_QUESTIONS})"
    added.add_argument("--count", type=positive, default=USUAL_QUESTIONS, metavar="N", help=text)
    text = "make them from headings and sentences, even where a model is set"
    added.add_argument("--no-model", action="store_true", help=text)
    text = "use the settings that are recommended, if others than the present ones are"
    added.add_argument("--use", action="store_true", help=text)
    add_json(added)


def chunk_verbs() -> Mapping[str, app.Verb]:
    """The handlers of this verb in the running app."""
    return {
        _BEGIN: _begun,
        _STATE: lambda services, _: _state(_trials(services).progress),
        _CANCEL: lambda services, _: _cancelled(_trials(services)),
        _RESULT: lambda services, asked: _result(_trials(services), str(asked["collection"])),
        _USE: lambda services, asked: _used(_trials(services), str(asked["collection"])),
    }


def _chunks(arguments: argparse.Namespace) -> int:
    asked = {
        "set": arguments.set,
        "collection": arguments.collection,
        "count": arguments.count,
        "uses_model": not arguments.no_model,
    }
    is_answered, begun = ask_running_app(find_home(), _BEGIN, asked)
    if is_answered:
        done = _awaited(lambda verb, told: ask_running_app(find_home(), verb, told)[1], begun)
        if arguments.use and done["is_change"]:
            ask_running_app(find_home(), _USE, begun)
    else:
        with open_services() as services:
            begun = _begun(services, asked)
            verbs = chunk_verbs()
            done = _awaited(lambda verb, told: verbs[verb](services, told), begun)
            if arguments.use and done["is_change"]:
                services.library.start(watch=False)
                _used(_trials(services), begun["collection"])
                services.library.indexing.wait_until_idle()
    done["is_used"] = bool(arguments.use and done["is_change"])
    print_document(done, _lines, as_json=arguments.json)
    return 0


def _trials(services: app.Services) -> ChunkTrials:
    return services.run_worker.chunk_trials


def _begun(services: app.Services, asked: Mapping[str, Any]) -> dict[str, Any]:
    collections = services.library.collections
    every = collections.all()
    if asked["collection"]:
        chosen = collections.find(str(asked["collection"]))
    elif len(every) == 1:
        chosen = every[0]
    else:
        names = ", ".join(f"“{each.name}”" for each in every) or "none yet"
        raise AppError("Choose a collection with --collection.", f"There are: {names}.")
    name = str(asked["set"])
    question_set = services.run_worker.experiments.find(name) if name else None
    plan = ChunkPlan(
        chosen.collection_id, question_set, int(asked["count"]), bool(asked["uses_model"])
    )
    _trials(services).begin(plan)
    return {"collection": chosen.collection_id}


def _awaited(call: _Call, begun: dict[str, Any]) -> dict[str, Any]:
    """Wait for the comparison, telling how far it is; an interrupt cancels it."""
    told = ""
    try:
        while True:
            state = call(_STATE, {})
            if state["words"] != told:
                told = state["words"]
                say(told)
            if not state["is_under_way"]:
                break
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        call(_CANCEL, {})
        raise
    if state["stage"] == TrialStage.FAILED.value:
        raise AppError(state["error_title"], state["error_hint"])
    if state["stage"] != TrialStage.DONE.value:
        raise AppError("The comparison was cancelled.", "Nothing of it is kept.")
    return call(_RESULT, begun)


def _state(progress: ChunkTrialChanged) -> dict[str, Any]:
    counted = f" ({progress.done:,} of {progress.total:,})" if progress.total else ""
    return {
        "stage": progress.stage.value,
        "words": f"{progress.doing or progress.stage.value}{counted}",
        "is_under_way": progress.is_under_way,
        "error_title": progress.error_title,
        "error_hint": progress.error_hint,
    }


def _cancelled(trials: ChunkTrials) -> dict[str, Any]:
    trials.cancel()
    return {}


def _result(trials: ChunkTrials, collection_id: str) -> dict[str, Any]:
    found = trials.latest(collection_id)
    if found is None:
        raise AppError("The comparison is gone.", "Begin it again.")
    return comparison_json(found)


def _used(trials: ChunkTrials, collection_id: str) -> dict[str, Any]:
    if found := trials.latest(collection_id):
        trials.use(collection_id, advice(found).chunking)
    return {}


def _lines(done: dict[str, Any]) -> list[str]:
    width = max(len(row["words"]) for row in done["settings"])
    lines = [
        f"{row['words']:<{width}}  {row['found']:,} of {row['questions']:,} found"
        f"  {row['chunks']:,} chunks{'  (present)' if row['is_present'] else ''}"
        for row in done["settings"]
    ]
    lines += ["", done["advice"], done["worth"]]
    if done["worst"]:
        lines += ["", "The worst questions:"]
        lines += [f"  {row['question']}: {row['why']}" for row in done["worst"]]
    if done["is_used"]:
        lines += ["", "The documents are chunked so from now on."]
    return lines
