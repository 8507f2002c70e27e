"""How much the local server was used: figures by token and day, from its log. Pure."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from desktop_rag.features.server.programs.request_record import RequestKind, RequestRecord

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Usage:
    """The figures of one day or one token, or of all; times are in milliseconds.

    The times are those of answers, 0 without any.
    """

    label: str
    requests: int = 0
    answers: int = 0
    refused: int = 0
    errors: int = 0
    asked_chars: int = 0
    answer_chars: int = 0
    median_ms: int = 0
    slowest_ms: int = 0


@dataclass(frozen=True, slots=True)
class UsageFigures:
    """All figures since a time: `days` the newest first, `tokens` those with most requests first.

    `""` is the label of requests without a valid token.
    """

    whole: Usage
    days: tuple[Usage, ...] = ()
    tokens: tuple[Usage, ...] = ()


def usage_since(since: float, newest_first: Iterable[RequestRecord]) -> UsageFigures:
    """The figures of the records from this time on; reads no further than it has to."""
    by_day: dict[str, list[RequestRecord]] = defaultdict(list)
    by_token: dict[str, list[RequestRecord]] = defaultdict(list)
    every: list[RequestRecord] = []
    for record in newest_first:
        if record.at < since - DAY_S:
            # Processes write at the same time, and clocks are set: not at the first older one.
            break
        if record.at < since:
            continue
        every.append(record)
        by_day[time.strftime("%Y-%m-%d", time.localtime(record.at))].append(record)
        by_token[record.token].append(record)
    days = [_usage(day, by_day[day]) for day in sorted(by_day, reverse=True)]
    tokens = [_usage(token, records) for token, records in by_token.items()]
    tokens.sort(key=lambda usage: (-usage.requests, usage.label))
    return UsageFigures(_usage("", every), tuple(days), tuple(tokens))


def _usage(label: str, records: list[RequestRecord]) -> Usage:
    kinds = [record.kind for record in records]
    times = [record.ms for record in records if record.kind is RequestKind.ANSWER]
    return Usage(
        label,
        len(records),
        kinds.count(RequestKind.ANSWER),
        kinds.count(RequestKind.REFUSED),
        kinds.count(RequestKind.ERROR),
        sum(record.asked_chars for record in records),
        sum(record.answer_chars for record in records),
        round(median(times)) if times else 0,
        max(times, default=0),
    )
