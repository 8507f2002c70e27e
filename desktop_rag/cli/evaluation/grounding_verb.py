"""`eval grounding`: the claim checker against labels of people, and a model against both."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.evaluation.kept_run import figure_lines, keep, written_later
from desktop_rag.cli.evaluation.scratch_home import in_scratch_home
from desktop_rag.cli.terminal import print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.evaluate import grounding, judge_agreement, stored_runs
from desktop_rag.evaluate.grounding import LabelledClaim
from desktop_rag.evaluate.judge_agreement import AgreementFigures
from desktop_rag.models.endpoint_address import normalise_base_url

_PER = 1_000_000


def add_grounding(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.set_defaults(run=_measure)
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


def _measure(arguments: argparse.Namespace) -> int:
    file = Path(arguments.file)
    claims = grounding.load_claims(file)
    settings, _ = load_settings(find_home().settings)
    began_at = time.monotonic()
    with written_later(arguments.per_query) as per_query:
        if arguments.model is None:
            figures = grounding.evaluate(claims, app.make_claim_checker(), say)
        else:
            settings = _with_judge(settings, arguments.endpoint, arguments.model)
            figures = _agreement(claims, settings, arguments)
        if per_query:
            rows = figures.query_rows()
            per_query.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    results = figures.to_json()
    # Sets of claims often have the same file name in folders that differ.
    path = file.resolve()
    run = stored_runs.run_of(
        figures,
        f"{path.parent.name}/{path.name}",
        settings,
        {"file": str(path), "sample": arguments.sample},
        results=[results],
        seconds=time.monotonic() - began_at,
    )
    keep(run)
    print_document(results, figure_lines, as_json=arguments.json)
    return 0


def _with_judge(settings: Settings, address: str, model: str) -> Settings:
    """The settings with this endpoint and model for background requests; "" for their own."""
    if not address:
        helping = settings.helping_endpoint
        chosen = replace(helping, model=model or helping.model)
    else:
        base_url = normalise_base_url(address)
        known = [e for e in settings.endpoints if e.base_url == base_url]
        chosen = known[0] if known else EndpointSettings(base_url)
        chosen = replace(chosen, model=model or chosen.model)
    if not chosen.is_set:
        hint = "Set one up in the window, or add --endpoint URL --model NAME."
        raise AppError("There is no model to ask.", hint)
    return replace(settings, endpoint=chosen, other_endpoints=(), helper=HelperSettings())


def _agreement(
    claims: Sequence[LabelledClaim], settings: Settings, arguments: argparse.Namespace
) -> AgreementFigures:
    """The model's verdicts on a sample, once the person has agreed to the costs."""
    count = arguments.sample or _wanted_sample(len(claims), arguments)
    sample = judge_agreement.sample_of(claims, count)
    checker = app.make_claim_checker()

    def measure(services: app.Services) -> AgreementFigures:
        grader, models = services.chat.grader, services.chat.models
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
