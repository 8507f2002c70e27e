"""`eval run`, `compare` and `report`, and the storage of the figures of all measurements."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, TextIO

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, open_services, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.paths import find_home
from desktop_rag.features.evaluation.experiments.experiments import Experiments
from desktop_rag.features.evaluation.experiments.reports import write_report
from desktop_rag.features.evaluation.experiments.set_files import (
    WORKBOOKS,
    read_questions,
    read_set_ups,
)
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.experiment_events import RunWentOn
from desktop_rag.features.evaluation.values.run import QuestionSet, RunState, SetUp
from desktop_rag.features.evaluation.values.run_summary import compare_runs, summary
from desktop_rag.features.evaluation.values.scoring import RunScores
from desktop_rag.running_app import ask_running_app

_POLL_S = 1.0
_RUN, _STATE, _COMPARE, _REPORT = (f"eval_{name}" for name in ("run", "state", "compare", "report"))
_FILES = (".csv", ".jsonl", ".json", *WORKBOOKS)


def add_runs(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the verbs; `add` makes the parser of one, by its name and purpose."""
    text = "ask a set of questions with several set-ups; everything is stored and compared"
    added = add("run", text)
    added.set_defaults(run=_run)
    text = "the name of a set, or a .csv, .jsonl or .xlsx file of questions, which becomes one"
    added.add_argument("set", metavar="SET", help=text)
    text = "a .json list or .toml file of set-ups; without it, one with the settings as they are"
    added.add_argument("--setups", type=Path, metavar="FILE", help=text)
    text = "begin though it may cost more than the sum above which the endpoint asks first"
    added.add_argument("--yes", action="store_true", help=text)
    text = "only say what it may take"
    added.add_argument("--estimate", action="store_true", help=text)
    add_json(added)
    text = "whether one run of a set is better than another, by a bootstrap and a sign test"
    added = add("compare", text)
    added.set_defaults(run=_compare)
    text = "the name of a set-up, of which the latest run counts, or the beginning of a run's id"
    added.add_argument("first", metavar="A", help=text)
    added.add_argument("second", metavar="B", help="another one of the same set")
    text = "the set, where set-ups of several have the name"
    added.add_argument("--set", default="", metavar="SET", help=text)
    add_json(added)
    text = "write the runs of a set as a report (.html) or as raw data (.csv, .jsonl)"
    added = add("report", text)
    added.set_defaults(run=_report)
    added.add_argument("set", metavar="SET", help="the name of the set")
    added.add_argument("file", type=Path, metavar="FILE", help="its ending says what is written")
    add_json(added)


def run_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app, whose worker answers."""
    return {
        _RUN: _begun,
        _STATE: lambda s, asked: _state(_experiments(s), list(asked["runs"])),
        _COMPARE: lambda s, asked: _compared(_experiments(s), asked),
        _REPORT: lambda s, asked: _reported(_experiments(s), asked),
    }


def answered(verb: str, asked: dict[str, Any], verbs: Mapping[str, app.Verb]) -> Any:  # noqa: ANN401  a JSON value
    """The result of a verb in the running app, else in this process."""
    is_answered, result = ask_running_app(find_home(), verb, asked)
    if not is_answered:
        with open_services() as services:
            result = verbs[verb](services, asked)
    return result


def _experiments(services: app.Services) -> Experiments:
    return services.wing(EvaluationServices).worker.experiments


def _run(arguments: argparse.Namespace) -> int:
    asked = {
        "set": str(Path(arguments.set).resolve()) if _is_file(arguments.set) else arguments.set,
        "setups": str(arguments.setups.resolve()) if arguments.setups else "",
        "estimate": arguments.estimate,
        "yes": arguments.yes,
    }
    is_answered, begun = ask_running_app(find_home(), _RUN, asked)
    if is_answered:
        say(begun["estimate"])
        done = _awaited(begun["runs"])
    else:
        with open_services() as services:
            begun = _begun(services, asked)
            say(begun["estimate"])
            done = _worked_off(services, begun["runs"])
    if arguments.estimate:
        done = {"estimate": begun["estimate"], "runs": [], "comparisons": []}
    print_document(done, _lines, as_json=arguments.json)
    return 0 if all(run["state"] == RunState.DONE.value for run in done["runs"]) else 1


def _is_file(name: str) -> bool:
    return Path(name).suffix.casefold() in _FILES and Path(name).is_file()


def _begun(services: app.Services, asked: Mapping[str, Any]) -> dict[str, Any]:
    experiments = _experiments(services)
    question_set = _set(services, str(asked["set"]))
    set_ups = [SetUp(services.chat.models.endpoint.model or "excerpts")]
    if asked["setups"]:
        set_ups = read_set_ups(Path(str(asked["setups"])), lambda kind, n: _id(services, kind, n))
    said = experiments.estimate(question_set, set_ups).in_words()
    if asked["estimate"]:
        return {"estimate": said, "runs": []}
    runs = experiments.begin(question_set, set_ups, has_consent=bool(asked["yes"]))
    return {"estimate": said, "runs": [run.run_id for run in runs]}


def _set(services: app.Services, name: str) -> QuestionSet:
    """The set of this name; that of a file is made or brought up to date."""
    experiments, documents = _experiments(services), services.library.documents
    if not _is_file(name):
        return experiments.find(name)
    questions = read_questions(Path(name), lambda path: documents.parsed(path, cancel=Event()))
    known = [each for each in experiments.sets() if each.name == Path(name).stem]
    if not known:
        return experiments.add(Path(name).stem, questions)
    if known[0].questions == tuple(questions):
        return known[0]
    return experiments.change(replace(known[0], questions=tuple(questions)))


def _id(services: app.Services, kind: str, name: str) -> str:
    if kind == "assistant":
        return services.chat.assistants.find(name).assistant_id
    return services.library.collections.find(name).collection_id


def _awaited(run_ids: list[str]) -> dict[str, Any]:
    """Wait for the running app and report progress; an interrupt leaves the runs."""
    told = ""
    while True:
        _, state = ask_running_app(find_home(), _STATE, {"runs": run_ids})
        answered = sum(run["answered"] for run in state["runs"])
        words = f"{answered:,} of {sum(run['questions'] for run in state['runs']):,} answered"
        if words != told:
            say(words)
        told = words
        if all(run["state"] != RunState.WAITING.value for run in state["runs"]):
            return state
        time.sleep(_POLL_S)


def _worked_off(services: app.Services, run_ids: list[str]) -> dict[str, Any]:
    experiments = _experiments(services)

    def tell(event: RunWentOn) -> None:
        say(event.doing or f"{event.answered:,} of {event.total:,} answered")

    stop_hearing = services.changes.hear(RunWentOn, tell)
    services.wing(EvaluationServices).worker.work_off(lambda run: run.run_id in run_ids)
    stop_hearing()
    return _state(experiments, run_ids)


def _state(experiments: Experiments, run_ids: list[str]) -> dict[str, Any]:
    runs = [run for run in experiments.store.runs() if run.run_id in run_ids]
    if not runs:
        return {"runs": [], "comparisons": []}
    results = experiments.results(runs[0].set_id)
    scores = [scores for scores in results.runs if scores.run.run_id in run_ids]
    rows = [
        {**summary(each).to_json(), "error": each.run.error_title, "hint": each.run.error_hint}
        for each in scores
    ]
    compared = [
        compare_runs(scores[0], other, results.judgements).to_json() for other in scores[1:]
    ]
    return {"runs": rows, "comparisons": compared}


# --- compare and report ------------------------------------------------------------------------


def _compare(arguments: argparse.Namespace) -> int:
    asked = {"first": arguments.first, "second": arguments.second, "set": arguments.set}
    found = answered(_COMPARE, asked, run_verbs())
    print_document(found, lambda row: [str(row["words"])], as_json=arguments.json)
    return 0


def _compared(experiments: Experiments, asked: Mapping[str, Any]) -> dict[str, Any]:
    name = str(asked["set"])
    runs = experiments.store.runs(experiments.find(name).set_id if name else "")
    set_ids = dict.fromkeys(run.set_id for run in runs)
    every = [scores for set_id in set_ids for scores in experiments.results(set_id).runs]
    first = _named(every, str(asked["first"]))
    of_set = [scores for scores in every if scores.run.set_id == first.run.set_id]
    second = _named(of_set, str(asked["second"]))
    judgements = experiments.results(first.run.set_id).judgements
    return compare_runs(first, second, judgements).to_json()


def _named(runs: list[RunScores], name: str) -> RunScores:
    """The latest run whose set-up or which itself has this name, or whose id begins with it."""
    found = [scores for scores in runs if scores.run.set_up.name == name]
    found = found or [scores for scores in runs if scores.name == name]
    found = found or [scores for scores in runs if name and scores.run.run_id.startswith(name)]
    if found:
        return found[-1]
    names = ", ".join(dict.fromkeys(f"“{scores.name}”" for scores in runs)) or "none yet"
    raise AppError(f"There is no run “{name}”.", f"There are: {names}.")


def _report(arguments: argparse.Namespace) -> int:
    asked = {"set": arguments.set, "file": str(arguments.file.absolute())}
    done = answered(_REPORT, asked, run_verbs())
    print_document(done, lambda row: [f"Written: {row['file']}"], as_json=arguments.json)
    return 0


def _reported(experiments: Experiments, asked: Mapping[str, Any]) -> dict[str, Any]:
    file = Path(str(asked["file"]))
    write_report(experiments.results(experiments.find(str(asked["set"])).set_id), file)
    return {"file": str(file)}


# --- lines for people --------------------------------------------------------------------------


def _lines(done: dict[str, Any]) -> list[str]:
    lines = [_run_line(run) for run in done["runs"]]
    lines += [comparison["words"] for comparison in done["comparisons"]]
    return lines or [done.get("estimate", "")]


def _run_line(run: dict[str, Any]) -> str:
    known = {
        "score": run["score"], "preferred": run["preferred"], "seconds": run["seconds"],
        "backed by sources": run["supported"], "tokens": run["tokens"], "cost": run["cost"],
        "failed": run["failed"] or None,
    }  # fmt: skip
    figures = ", ".join(f"{key} {value}" for key, value in known.items() if value is not None)
    answered = f"{run['answered']} of {run['questions']} answered"
    error = f" ({run['error']} {run['hint']})" if run["error"] else ""
    return f"{run['run_id'][:8]}  {run['name']}: {run['state']}, {answered}, {figures}{error}"


# --- the figures of any measurement --------------------------------------------------------------

ID_CHARS = 8


def keep(run: dict[str, Any]) -> None:
    """Store the run, through the window if it has the library open; say so on failure."""
    try:
        with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
            # Too long for a request; the file belongs to this user, like the library.
            file = Path(scratch) / "run.json"
            file.write_text(json.dumps(run), encoding="utf-8")
            is_kept, _ = ask_running_app(find_home(), "eval_keep", {"file": str(file)})
        if not is_kept:
            with open_services() as services:
                services.wing(EvaluationServices).runs.add(run)
    except AppError as error:
        say(f"This run was not stored. {error.title} {error.hint}")
    else:
        say(f"Stored as run {run['evaluation_id'][:ID_CHARS]}.")


def keep_file(services: app.Services, path: Path) -> None:
    """Store the run in a file, in the running app."""
    try:
        run = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise AppError("The run could not be read.", str(exc)) from exc
    services.wing(EvaluationServices).runs.add(run)


@contextmanager
def written_later(path: Path | None) -> Generator[TextIO | None]:
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


def figure_lines(figures: dict[str, Any]) -> list[str]:
    """The figures of a measurement, one a line."""
    width = max(map(len, figures))
    return [f"{key:<{width}}  {value}" for key, value in figures.items()]
