"""One request to the local server, as its log keeps it. A frozen value, pure."""

from dataclasses import dataclass
from enum import StrEnum

_CLIENT_FAULT, _SERVER_FAULT = 400, 500


class RequestKind(StrEnum):
    """How a request ended, as far as one looks for it."""

    ANSWER = "answer"
    REFUSED = "refused"
    ERROR = "error"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request. `at` is Unix time, `ms` the milliseconds until its last byte was sent.

    `token` is the name of the token, "" for a request without a valid one; `user` tells the users
    of another application apart, without naming them. `refusal` is the message that the client got
    when it was refused, or why there is no answer. `asked_chars` and `answer_chars` are the lengths
    of the question and the answer, which are themselves "" unless they are logged.
    """

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
