"""The verbs below `eval`, which measure search, answers, claims, rails and chunks.

Searches run in a scratch home, which is removed; the figures are stored in the person's library.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO, TypeVar

from desktop_rag import app, upkeep
from desktop_rag.cli.terminal import add_json, open_services, positive, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.features.evaluation.cli.run_verbs import (
    ID_CHARS,
    add_runs,
    answered,
    figure_lines,
    keep,
    keep_file,
    run_verbs,
    written_later,
)
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.experiments.chunk_measurement import (
    MOST_QUESTIONS,
    USUAL_QUESTIONS,
    ChunkPlan,
)
from desktop_rag.features.evaluation.experiments.chunk_trials import ChunkTrials
from desktop_rag.features.evaluation.measures import (
    answers,
    evidence,
    grounding,
    intents,
    judge_agreement,
    pages,
    query_sets,
    retrieval,
    spans,
    stored_runs,
)
from desktop_rag.features.evaluation.measures.answers import AnswerSet, load_answer_set
from desktop_rag.features.evaluation.measures.grounding import LabelledClaim
from desktop_rag.features.evaluation.measures.intents import IntentFigures
from desktop_rag.features.evaluation.measures.judge_agreement import AgreementFigures
from desktop_rag.features.evaluation.measures.measurement import MODES, Measurements, index_folder
from desktop_rag.features.evaluation.measures.query_sets import write_feedback_set
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.chunk_advice import advice, comparison_json
from desktop_rag.features.evaluation.values.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.features.rails.cli.opened_world import bundled_embeddings, completion
from desktop_rag.models.endpoint_address import normalise_base_url
from desktop_rag.running_app import ask_running_app
from desktop_rag.scratch_library import scratch_library

T = TypeVar("T")


def in_scratch_home(settings: Settings, measure: Callable[[app.Services], T]) -> tuple[T, int]:
    """The result of `measure` for a new, empty library, and the size of its file in bytes.

    The size is taken after the library is closed, when everything is in one file.
    """
    with scratch_library(app.build_services, find_home(), settings) as services:
        for notice in services.notices:
            say(f"{notice.title} {notice.hint}")
        result = measure(services)
        services.close()
        return result, upkeep.library_size(services.home)


def _write_rows(file: TextIO | None, measured: stored_runs.Measurement) -> None:
    if file:
        rows = (json.dumps(row, ensure_ascii=False) for row in measured.query_rows())
        file.writelines(f"{row}\n" for row in rows)


# --- eval rails --------------------------------------------------------------------------------


def add_intents(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval rails`."""
    parser.set_defaults(run=_measure_intents)
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


def _measure_intents(arguments: argparse.Namespace) -> int:
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
            hint = "Add --model NAME."
            settings = _with_endpoint(settings, arguments.endpoint, arguments.model, hint)
            figures, _ = in_scratch_home(settings, with_model)
        else:
            figures = measured(None)
        _write_rows(per_query, figures)
    results = figures.to_json()
    results[-1] |= tokens
    options = {"folder": str(folder.resolve())}
    seconds = time.monotonic() - began_at
    name = folder.resolve().name
    keep(stored_runs.run_of(figures, name, settings, options, results=results, seconds=seconds))
    print_document(results, _intent_lines, as_json=arguments.json)
    return 0


def _with_endpoint(settings: Settings, address: str, model: str, hint: str) -> Settings:
    """The settings with only this model and endpoint, "" for the helper's. AppError for none."""
    chosen = settings.helping_endpoint
    if address:
        base_url = normalise_base_url(address)
        known = (e for e in settings.endpoints if e.base_url == base_url)
        chosen = next(known, EndpointSettings(base_url))
    chosen = replace(chosen, model=model or chosen.model)
    if not chosen.is_set:
        raise AppError("There is no model to ask.", hint)
    return replace(settings, endpoint=chosen, other_endpoints=(), helper=HelperSettings())


def _intent_lines(rows: list[dict[str, Any]]) -> list[str]:
    keys = list(rows[-1])
    shown = [["" if (v := row.get(key)) is None else str(v) for key in keys] for row in rows]
    table = [keys, *shown]
    return _aligned(table, [max(map(len, column)) + 2 for column in zip(*table, strict=True)])


def _aligned(table: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    return [
        "".join(f"{text:>{width}}" for text, width in zip(cells, widths, strict=True))
        for cells in table
    ]


# --- eval grounding ----------------------------------------------------------------------------

_PER = 1_000_000


def add_grounding(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval grounding`."""
    parser.set_defaults(run=_measure_grounding)
    parser.add_argument("file", help="a .jsonl file of rows {source, claim, label}")
    text = "also ask a model about a sample; without NAME, the helper model of the settings"
    parser.add_argument("--model", nargs="?", const="", metavar="NAME", help=text)
    text = "the model's endpoint, in place of that of the settings"
    parser.add_argument("--endpoint", metavar="URL", default="", help=text)
    text = f"the number of claims that the model is asked about ({judge_agreement.SAMPLE})"
    parser.add_argument("--sample", type=positive, metavar="N", help=text)
    parser.add_argument("--yes", action="store_true", help="don't ask before it costs something")
    text = "write the verdicts on each claim"
    parser.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(parser)


def _measure_grounding(arguments: argparse.Namespace) -> int:
    file = Path(arguments.file)
    claims = grounding.load_claims(file)
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with written_later(arguments.per_query) as per_query:
        if arguments.model is None:
            figures = grounding.evaluate(claims, app.make_claim_checker(), say)
        else:
            hint = "Set one up in the window, or add --endpoint URL --model NAME."
            settings = _with_endpoint(settings, arguments.endpoint, arguments.model, hint)
            figures = _agreement(claims, settings, arguments)
        _write_rows(per_query, figures)
    results, seconds = figures.to_json(), time.monotonic() - began_at
    # Sets of claims often have the same file name in folders that differ.
    path = file.resolve()
    name = f"{path.parent.name}/{path.name}"
    options = {"file": str(path), "sample": arguments.sample}
    keep(stored_runs.run_of(figures, name, settings, options, results=[results], seconds=seconds))
    print_document(results, figure_lines, as_json=arguments.json)
    return 0


def _agreement(
    claims: Sequence[LabelledClaim], settings: Settings, arguments: argparse.Namespace
) -> AgreementFigures:
    """The model's verdicts on a sample, once the person has agreed to the costs."""
    count = arguments.sample or _wanted_sample(len(claims), arguments)
    sample = judge_agreement.sample_of(claims, count)
    checker = app.make_claim_checker()

    def measure(services: app.Services) -> AgreementFigures:
        grader, models = AnswerGrader(services.chat), services.chat.models
        asked, answered = judge_agreement.estimated_tokens(sample, checker, grader)
        _agree(len(sample), asked, answered, settings.endpoint, arguments)
        before = models.tokens_counted()
        judged = judge_agreement.evaluate(sample, checker, grader, say)
        after = models.tokens_counted()
        counted = (after.asked - before.asked, after.answered - before.answered)
        tokens = counted if any(counted) else None
        return AgreementFigures(tuple(judged), grader.model_name, tokens)

    return in_scratch_home(settings, measure)[0]


def _wanted_sample(most: int, arguments: argparse.Namespace) -> int:
    usual = min(judge_agreement.SAMPLE, most)
    if arguments.yes or not sys.stdin.isatty():
        return usual
    say(f"The set has {most:,} claims. How many should the model judge? [{usual}]")
    typed = sys.stdin.readline().strip()
    if typed and not (typed.isdecimal() and int(typed)):
        raise AppError(f"“{typed}” is no number of claims.", "Nothing was sent.")
    return min(int(typed), most) if typed else usual


def _agree(
    claims: int,
    asked: int,
    answered: int,
    endpoint: EndpointSettings,
    arguments: argparse.Namespace,
) -> None:
    """Say what the measurement takes, and ask; AppError without a yes."""
    cost = (asked * endpoint.price_in + answered * endpoint.price_out) / _PER
    price = f"about {cost:.4g} by the prices that you entered" if cost else "no prices were entered"
    say(
        f"{claims:,} claims with their sources go to {endpoint.model} at {endpoint.base_url}:"
        f" about {asked:,} tokens, and {answered:,} back; {price}."
    )
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise AppError("Nobody was there to agree.", "Nothing was sent. Add --yes to agree.")
    say("Send them? [y/N]")
    if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
        raise AppError("Nothing was sent.", "Type y to agree.")


# --- eval set-from-feedback --------------------------------------------------------------------

_VERB = "eval_feedback_set"


def add_feedback_set(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval set-from-feedback`."""
    parser.set_defaults(run=_write)
    parser.add_argument("file", type=Path, metavar="FILE.jsonl", help="a new file")
    add_json(parser)


def _write(arguments: argparse.Namespace) -> int:
    told = answered(_VERB, {"file": str(arguments.file.absolute())}, running_app_verbs())
    print_document(told, _feedback_lines, as_json=arguments.json)
    return 0


def _feedback_lines(told: dict[str, Any]) -> list[str]:
    file, wrong = told["file"], told["wrong"]
    held = f"{told['questions']:,} questions, {told['expected']:,} with expected answers"
    return [
        f"{file}: {held}, {wrong:,} with answers you called wrong.",
        f"It holds your questions and answers. Measure with: desktop-rag eval answers {file}",
    ]


# --- eval chunks -------------------------------------------------------------------------------

_POLL_S = 0.5
_BEGIN, _STATE, _CANCEL, _RESULT, _USE = (
    f"eval_chunks_{name}" for name in ("begin", "state", "cancel", "result", "use")
)
_Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def add_chunks(added: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval chunks`."""
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
    """The handlers of `eval chunks` in the running app."""
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
    return services.wing(EvaluationServices).worker.chunk_trials


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
    question_set = services.wing(EvaluationServices).worker.experiments.find(name) if name else None
    plan = ChunkPlan(
        chosen.collection_id, question_set, int(asked["count"]), bool(asked["uses_model"])
    )
    _trials(services).begin(plan)
    return {"collection": chosen.collection_id}


def _awaited(call: _Call, begun: dict[str, Any]) -> dict[str, Any]:
    """Wait for the comparison and report progress; an interrupt cancels it."""
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


# --- eval answers ------------------------------------------------------------------------------


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval answers`."""
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
        _write_rows(per_query, figures)
    results, name, seconds = figures.to_json(), answer_set.name, time.monotonic() - began_at
    options = {
        "set": str(Path(arguments.set).resolve()),
        "collection": arguments.collection,
        "limit": arguments.limit,
    }
    keep(stored_runs.run_of(figures, name, settings, options, results=[results], seconds=seconds))
    print_document(results, figure_lines, as_json=arguments.json)
    return 0


def _answered(answer_set: AnswerSet, collection: str, settings: Settings) -> answers.AnswerFigures:
    """Ask the questions over the set's own documents, or over the person's library."""
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


# --- eval evidence -----------------------------------------------------------------------------


def add_evidence(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `eval evidence`."""
    parser.set_defaults(run=_measure_evidence)
    text = "a folder with files/ and questions.jsonl of {id, question, evidence}, or evidence pages"
    parser.add_argument("dir", type=Path, help=text)
    parser.add_argument("--limit", type=positive, help="only the first questions")
    text = f"the context of the model in tokens ({evidence.CONTEXT_TOKENS})"
    parser.add_argument("--context", type=positive, default=evidence.CONTEXT_TOKENS, help=text)
    text = "write what would be missing for each question"
    parser.add_argument("--per-query", type=Path, metavar="FILE.jsonl", help=text)
    add_json(parser)


def _measure_evidence(arguments: argparse.Namespace) -> int:
    evidence_set = query_sets.load_evidence_set(arguments.dir, arguments.limit)
    settings, _ = load_settings(find_home().settings)
    began_at, context = time.monotonic(), arguments.context
    with written_later(arguments.per_query) as per_query:
        figures, _ = in_scratch_home(
            settings,
            lambda s: evidence.evaluate(
                evidence_set, s.library, s.chat, say, context_tokens=context
            ),
        )
        _write_rows(per_query, figures)
    folder, seconds = arguments.dir.resolve(), time.monotonic() - began_at
    results, options = figures.to_json(), {"folder": str(folder), "context": context}
    run = stored_runs.run_of(
        figures, folder.name, settings, options, results=[results], seconds=seconds
    )
    keep(run)
    print_document(results, figure_lines, as_json=arguments.json)
    return 0


# --- all verbs ---------------------------------------------------------------------------------

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
    text = "the evidence that a model would be sent for questions, without asking one"
    add_evidence(evals.add_parser("evidence", help=text, description=text))
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
        _VERB: lambda s, asked: write_feedback_set(s.chat, Path(str(asked["file"]))),
        **run_verbs(),
        **chunk_verbs(),
        "eval_runs": lambda s, asked: s.wing(EvaluationServices).runs.listed(str(asked["id"])),
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
        _write_rows(per_query, measured)
    results, seconds = measured.to_json(index_bytes), time.monotonic() - began_at
    name = folder.resolve().name
    options = {"folder": str(folder.resolve()), "limit": arguments.limit, "k": arguments.k}
    keep(stored_runs.run_of(measured, name, settings, options, results=results, seconds=seconds))
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


# --- eval runs ---------------------------------------------------------------------------------


def _runs(arguments: argparse.Namespace) -> int:
    found = answered("eval_runs", {"id": arguments.id}, running_app_verbs())
    print_document(found, _run_lines, as_json=arguments.json)
    return 0


# --- lines for people --------------------------------------------------------------------------


def _result_lines(rows: list[dict[str, Any]]) -> list[str]:
    keys = [key for key in rows[0] if key not in _INDEX_KEYS]
    table = [keys, *([str(row[key]) for key in keys] for row in rows)]
    lines = _aligned(table, [max(10, len(key) + 2) for key in keys])
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
