"""The badges of sentences: how many true ones get a ✓, how many false ones a warning.

NATURAL has sentences as models write them, each checked as a cited answer; its held-out half is
only counted. GROUNDING (see training/claim_sets.py) has claims labelled by people, with their
sources. A chip is a badge in colour that isn't a ✓. The changed facts of summedits and bump differ
from their source in one thing. With the address of an endpoint, its model reads what words leave
open of NATURAL, one request for the sentences of a source, and is measured as the app measures it.
Run: python benchmarks/answers/badges.py [GROUNDING] [--most N] [--show SET] [--model ADDRESS NAME]
"""

import argparse
import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from threading import Event, Lock
from typing import Any
from zlib import crc32

from desktop_rag.answer.checking import model_judge
from desktop_rag.answer.checking.answer_claims import claims_of
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.answer.endpoints.helper_job import generate
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.evaluation.measures.query_sets import load_claims
from desktop_rag.models.endpoints.client.chat_client import ChatClient

NATURAL = Path(__file__).parents[2] / "tests" / "unit" / "answer" / "checking" / "claims"
_NATURAL_SETS = {"natural": "natural.toml", "held out": "natural_held_out.toml"}
_LABELLED = {
    "lfqa": "lfqa_verification/pairs.jsonl",
    "wice": "wice/pairs_oracle.jsonl",
    "qags": "qags/pairs.jsonl",
    "summedits": "summedits/pairs.jsonl",
    "bump": "train/bump.jsonl",
    "begin_wow": "train/begin_wow.jsonl",
    "factcheck_gpt": "train/factcheck_gpt.jsonl",
    "fm2": "train/fm2.jsonl",
    "fever_nli": "train/fever_nli.jsonl",
    "faithdial": "train/faithdial_audit.jsonl",
    "scifact": "train/scifact_rationale.jsonl",
}
_CHANGED = ("summedits", "bump")
_MOST = 300
_REQUESTS = 8
_PATIENCE_S = 7_200.0
_CHECKING = Lock()


@dataclass(frozen=True, slots=True)
class Badge:
    """A sentence with its label and its verdict; `kind` is how it is told, or how it is wrong."""

    text: str
    is_true: bool
    kind: str
    verdict: Verdict | None
    is_chip: bool
    support: float
    explanation: str


def main() -> None:
    """Print the table of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grounding", type=Path, nargs="?")
    parser.add_argument("--most", type=int, default=_MOST)
    parser.add_argument("--show", default="")
    parser.add_argument("--model", nargs=2, metavar=("ADDRESS", "NAME"))
    arguments = parser.parse_args()
    model = _client(*arguments.model) if arguments.model else None
    # Somebody may be writing the replies.
    model_judge.generate = partial(generate, limit_s=_PATIENCE_S)
    if model:
        print(f"measured: {model_judge.ClaimJudge().measure(model, Event())}", flush=True)
    print(
        f"{'':<14}{'true':>6}{'✓':>6}{'chip':>6}   {'false':>5}{'✓':>6}{'chip':>6}{'✗ ?':>6}",
        end="",
    )
    print(f"{'✗':>6}   {'✓ right':>8}{'✗ right':>8}")
    for name, file in _NATURAL_SETS.items():
        badges = natural(NATURAL / file, model)
        print(line(name, badges), flush=True)
        if name == arguments.show:
            print("\n".join(shown(badges)))
    if arguments.grounding:
        _print_labelled(arguments.grounding, arguments.most)


def _client(address: str, name: str) -> ChatClient:
    return ChatClient(EndpointSettings(address, name, timeout_s=_PATIENCE_S))


def _print_labelled(grounding: Path, most: int) -> None:
    found: dict[str, Sequence[Badge]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = {n: pool.submit(labelled, grounding / f, most) for n, f in _LABELLED.items()}
        for name, result in waiting.items():
            found[name] = result.result()
            print(line(name, found[name]), flush=True)
    print(line("all", [badge for badges in found.values() for badge in badges]))
    print(line("changed facts", [badge for name in _CHANGED for badge in found[name]]))


def natural(path: Path, model: ChatClient | None = None) -> list[Badge]:
    """The sentences of a file, each checked as an answer that cites its source."""
    every = tomllib.loads(path.read_text("utf-8"))["sources"]
    with ThreadPoolExecutor(_REQUESTS if model else 1) as pool:
        found = pool.map(lambda fields: _badges(fields, model), every)
        return [badge for badges in found for badge in badges]


def _badges(fields: dict[str, Any], model: ChatClient | None) -> list[Badge]:
    """The badges of the sentences about one source."""
    sources = [_source(fields["text"])]
    labelled = [(label, said) for label in ("true", "false") for said in fields[label]]
    said = [(label, *one) for label, sentence in labelled for one in sentence.items()]
    # In an order that tells nothing.
    said.sort(key=lambda one: crc32(one[2].encode()))
    with _CHECKING:
        claims = [claims_of(text, sources, _checker().check, Event()) for _, _, text in said]
    if model:
        first = [found[0] for found in claims if found]
        places = model_judge.unsettled(first)
        asked = [first[n] for n in places]
        told = model_judge.ClaimJudge().judge(asked, sources, model, Event()) if asked else ()
        judged = dict(zip(map(id, asked), told, strict=True))
        claims = [tuple(judged.get(id(one), one) for one in found) for found in claims]
    return [
        _badge(text, label == "true", kind, found[0].checked if found else None)
        for (label, kind, text), found in zip(said, claims, strict=True)
    ]


def labelled(path: Path, most: int) -> list[Badge]:
    """So many claims of a set, chosen by their text."""
    claims = sorted(load_claims(path), key=lambda one: crc32(one.claim.encode()))[:most]
    return [
        _badge(one.claim, one.is_supported, "", _checker().check(one.claim, [one.source]))
        for one in claims
    ]


def line(name: str, badges: Sequence[Badge]) -> str:
    """The shares of a set in percent."""
    true, false = ([b for b in badges if b.is_true is label] for label in (True, False))
    ticks = [b for b in badges if b.verdict is Verdict.SUPPORTED]
    crosses = [b for b in badges if b.verdict is Verdict.CONTRADICTED]
    warned = [b for b in false if b.verdict in (Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES)]
    return (
        f"{name:<14}{len(true):>6}{_share([b in ticks for b in true])}"
        f"{_share([b.is_chip for b in true])}   {len(false):>5}"
        f"{_share([b in ticks for b in false])}"
        f"{_share([b.is_chip for b in false])}{_share([b in warned for b in false])}"
        f"{_share([b in crosses for b in false])}   "
        f"{_share([b.is_true for b in ticks]):>8}{_share([not b.is_true for b in crosses]):>8}"
    )


def shown(badges: Sequence[Badge]) -> Iterator[str]:
    """Each sentence with its badge, and the verdicts by kind."""
    for badge in sorted(badges, key=lambda one: (not one.is_true, str(one.verdict))):
        sign = "T" if badge.is_true else "F"
        yield f"{sign} {badge.verdict!s:<15} {badge.support:.2f} {badge.kind:<12} {badge.text}"
        yield f"    {badge.explanation}"
    kinds = Counter((b.is_true, b.kind, str(b.verdict)) for b in badges)
    for (is_true, kind, verdict), count in sorted(kinds.items()):
        yield f"{'true' if is_true else 'false':<6}{kind:<12}{verdict:<16}{count:>4}"


@cache
def _checker() -> ClaimChecker:
    return ClaimChecker()


def _source(text: str) -> SourceRef:
    return SourceRef(1, "d1", "/file.txt", "file", Anchor(), text, 1.0)


def _badge(text: str, is_true: bool, kind: str, checked: CheckedClaim | None) -> Badge:
    if checked is None:
        return Badge(text, is_true, kind, None, False, 0.0, "")
    calm = (Verdict.SUPPORTED, Verdict.NOT_CHECKED)
    is_chip = checked.verdict not in calm and not checked.is_near
    return Badge(
        text, is_true, kind, checked.verdict, is_chip, checked.support, checked.explanation
    )


def _share(found: Sequence[bool]) -> str:
    return f"{100 * sum(found) / len(found):6.1f}" if found else f"{'–':>6}"


if __name__ == "__main__":
    main()
