"""The results of a comparison of chunk settings, in words and as JSON. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.values.chunk_trial import (
    DEPTH,
    ChunkComparison,
    ChunkTrial,
    MissReason,
    QuestionOrigin,
    Retrieved,
)
from desktop_rag.features.evaluation.values.paired_comparison import Outcome

CHUNKINGS = (
    ChunkSettings(), ChunkSettings(max_tokens=200), ChunkSettings(max_tokens=100),
    ChunkSettings("tokens", 200), ChunkSettings("words", 200),
)  # fmt: skip
MOST_CHANCE = 0.05
_FIGURES = ("better", "worse", "difference", "low", "high", "chance")
WORST = 10


@dataclass(frozen=True, slots=True)
class ChunkAdvice:
    """The setting to use, which may be the present one, with the reason in `words`.

    `is_sure` allows for the number of settings tried: the best of five beats the present one by
    luck more often than a single other one.
    """

    chunking: ChunkSettings
    is_change: bool
    is_sure: bool
    words: str


def advice(compared: ChunkComparison) -> ChunkAdvice:
    """The setting that finds most; the present one where no other finds more."""
    present = compared.trials[0]
    best = max(compared.trials[1:], key=lambda t: t.found, default=present)
    count = len(compared.questions)
    if best.found <= present.found:
        words = tr(
            "Keep the present chunks: they find {found:,} of {count:,} answers, and no others that"
            " were tried find more.",
            found=present.found, count=count,
        )  # fmt: skip
        return ChunkAdvice(present.chunking, is_change=False, is_sure=False, words=words)
    paired = compared.paired(best)
    chance = min(1.0, paired.chance * (len(compared.trials) - 1))
    is_sure = paired.outcome is Outcome.BETTER and chance <= MOST_CHANCE
    said = tr(
        "“{best}” finds {found:,} of {count:,} answers here, the present chunks {before:,}:"
        " {more:.0f} % of the questions more.",
        best=in_words(best.chunking), found=best.found, count=count, before=present.found,
        more=100 * paired.difference,
    )  # fmt: skip
    interval = tr(
        "Over other questions like these, between {low:.0f} and {high:.0f} %.",
        low=100 * paired.low, high=100 * paired.high,
    )  # fmt: skip
    sure = tr("Likely not chance, also for the best of the settings tried.")
    unsure = tr("It may be chance, as the best of several settings; more questions would tell.")
    words = f"{said} {interval} {sure if is_sure else unsure}"
    return ChunkAdvice(best.chunking, is_change=True, is_sure=is_sure, words=words)


def in_words(chunking: ChunkSettings) -> str:
    """`By structure, up to 200 tokens`."""
    match chunking.method:
        case "structure" if not chunking.max_tokens:
            return tr("By structure")
        case "structure":
            return tr("By structure, up to {count:,} tokens", count=chunking.max_tokens)
        case "tokens" if not chunking.max_tokens:
            return tr("By tokens")
        case "tokens":
            return tr("{count:,} tokens each", count=chunking.max_tokens)
        case "words":
            return tr("By words")


def worth(compared: ChunkComparison) -> str:
    """What the questions can show, by their origins."""
    origins = Counter(question.origin for question in compared.questions)
    said = {
        QuestionOrigin.SET: tr("Your own questions show best what you would find."),
        QuestionOrigin.MODEL: tr(
            "A model wrote the questions from passages. They use the words of the text more than"
            " people do, so your own questions will find less."
        ),
        QuestionOrigin.TEXT: tr(
            "The questions are headings and sentences of the documents, without a model. They"
            " show whether chunks keep together what belongs together, and little about how people"
            " ask: take a small difference for none."
        ),
    }
    parts = [said[origin] for origin, _ in origins.most_common()]
    if compared.left_out:
        left_out = tr(
            "{count:,} questions were left out: no document here is known to answer them.",
            count=compared.left_out,
        )
        parts.append(left_out)
    return " ".join(parts)


def why(found: Retrieved) -> str:
    """Why search missed a place, or found it late."""
    late = (
        tr("the right passage was not among the first {depth:,}", depth=DEPTH)
        if not found.rank
        else tr("the right passage was number {rank:,}", rank=found.rank)
    )
    first = tr("first came {name}", name=found.first) if found.first else ""
    match found.reason:
        case MissReason.NONE | MissReason.LATER:
            return "; ".join(part for part in (late, first if found.rank != 1 else "") if part)
        case MissReason.UNREAD:
            return tr("its document could not be read, or is gone")
        case MissReason.SPLIT:
            return tr("the answer is split across {count:,} chunks", count=found.pieces)
        case MissReason.WORDS:
            words = tr(
                "it has {share:.0f} % of the words of the question", share=100 * found.shared
            )
            return f"{late}; {words}"
        case MissReason.TOO_LARGE:
            return tr("only a part of the answer was in the passages")


def trial_row(compared: ChunkComparison, trial: ChunkTrial) -> dict[str, Any]:
    """The keys of the command line."""
    paired = compared.paired(trial)
    return {
        "method": trial.chunking.method,
        "max_tokens": trial.chunking.max_tokens,
        "overlap_tokens": trial.chunking.overlap_tokens,
        "words": in_words(trial.chunking),
        "is_present": trial is compared.trials[0],
        "chunks": trial.chunks,
        "found": trial.found,
        "questions": len(trial.retrieved),
        **{key: round(getattr(paired, key), 4) for key in _FIGURES},
    }


def comparison_json(compared: ChunkComparison) -> dict[str, Any]:
    """The keys of the command line, with the worst questions of the present settings."""
    advised = advice(compared)
    return {
        "comparison": compared.comparison_id,
        "collection": compared.collection,
        "settings": [trial_row(compared, trial) for trial in compared.trials],
        "worst": worst_rows(compared),
        "advice": advised.words,
        "is_change": advised.is_change,
        "is_sure": advised.is_sure,
        "worth": worth(compared),
        "left_out": compared.left_out,
    }


def worst_rows(compared: ChunkComparison) -> Sequence[dict[str, Any]]:
    """The worst questions of the present settings, with why."""
    return [
        {"question": q.text, "document": q.place, "rank": r.rank, "found": r.is_found,
         "why": why(r)}
        for q, r in compared.worst(compared.trials[0], WORST)
    ]  # fmt: skip
