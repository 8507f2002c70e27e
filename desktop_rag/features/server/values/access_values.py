"""Access rules, certificates, tokens and requests of the local server. Frozen values, pure."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import ClassVar, Literal, get_args

from desktop_rag.core.records import Record
from desktop_rag.core.setting_text import marked, setting

# Only with a public key: with the others, whoever can check a token can make one.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
USUAL_ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "ES256", "EdDSA")


@dataclass(frozen=True, slots=True)
class AccessRule(Record):
    """The application that says who may read which documents of a collection.

    Its users come with a token signed with the key in `key_file`, a public key in PEM or a JWKS, by
    one of the `algorithms`, from `issuer` and for `audience`. The application is asked at
    `address` which documents they may read.
    """

    collection_id: str
    key_file: str
    algorithms: tuple[str, ...]
    issuer: str
    audience: str
    address: str


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """The names and addresses that a certificate is for, and its end in Unix time."""

    names: tuple[str, ...]
    ends_at: float

    def left_out(self, names: Iterable[str]) -> list[str]:
        """The names that it is not for: programs that ask by one refuse it."""
        return [name for name in names if not any(_is_for(known, name) for known in self.names)]


def _is_for(known: str, name: str) -> bool:
    """True for the same name, and for a name with one word in the place of a star."""
    known, name = known.casefold(), name.casefold()
    star, _, rest = known.partition(".")
    return known == name or (star == "*" and bool(rest) and name.partition(".")[2] == rest)


@dataclass(frozen=True, slots=True)
class TokenWish:
    """A token to be made. Without `collection_ids` it covers all; `days` 0 means for ever."""

    name: str
    allows: tuple[str, ...]
    collection_ids: tuple[str, ...] = ()
    origins: tuple[str, ...] = setting(
        (),
        marked("Web origins"),
        empty="https://wiki.example",
        about=marked("Web pages that may use it, separated by commas."),
    )
    requests_per_minute: int = setting(
        120, marked("Requests in a minute"), empty=marked("No limit"), most=100_000, step=10
    )
    days: float = setting(0, marked("Ends after days"), empty=marked("Never"), most=3_650, step=30)
    lists_sources: bool = setting(
        default=False,
        name=marked("End answers with a list of their sources"),
        about=marked("For programs that show no sources: otherwise they are beside the text only."),
    )
    passes_markup: bool = setting(
        default=False,
        name=marked("Leave images and HTML in answers"),
        about=marked("For a program that makes them harmless itself."),
    )
    logins: tuple[str, ...] = ()


_CLIENT_FAULT, _SERVER_FAULT = 400, 500


class RequestKind(StrEnum):
    """How a request ended, as far as one looks for it."""

    ANSWER = "answer"
    REFUSED = "refused"
    ERROR = "error"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RequestRecord(Record):
    """One request. `at` is Unix time, `ms` the milliseconds until its last byte was sent.

    `token` is the name of the token, "" for a request without a valid one; `user` tells the users
    of another application apart, without naming them. `refusal` is the message that the client got
    when it was refused, or why there is no answer. `asked_chars` and `answer_chars` are the lengths
    of the question and the answer, which are themselves "" unless they are logged.
    """

    is_brief: ClassVar = True
    at: float
    method: str = ""
    path: str = ""
    token: str = ""
    token_id: str = ""
    user: str = ""
    model: str = ""
    status: int = 0
    ms: int = 0
    refusal: str = ""
    question: str = ""
    answer: str = ""
    asked_chars: int = 0
    answer_chars: int = 0

    @property
    def kind(self) -> RequestKind:
        """An answer that failed while it was being sent is an error whatever its status."""
        if _CLIENT_FAULT <= self.status < _SERVER_FAULT:
            return RequestKind.REFUSED
        # 0 is one that was never answered: the program had left.
        if self.status >= _SERVER_FAULT or self.refusal or not self.status:
            return RequestKind.ERROR
        return RequestKind.ANSWER if self.answer_chars else RequestKind.OTHER

    def fits(self, wanted: "RequestSearch") -> bool:
        """True when it is one of those looked for."""
        if wanted.kind not in ("", self.kind) or wanted.token_id not in ("", self.token_id):
            return False
        said = "\n".join((self.path, self.token, self.model, self.refusal, self.question,
                          self.answer)).casefold()  # fmt: skip
        return all(word in said for word in wanted.words.casefold().split())


@dataclass(frozen=True, slots=True)
class RequestSearch:
    """What is looked for in the log; empty fields ask for nothing."""

    kind: RequestKind | str = ""
    token_id: str = ""
    words: str = ""


DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Usage:
    """The figures of a day, a token, or all; the times are those of answers, 0 without any."""

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
    """Figures since a time: `days` newest first, `tokens` busiest first ("" for no valid one)."""

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
