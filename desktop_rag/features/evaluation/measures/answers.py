"""Measures answers: citations, support, match with the expected ones, time. Caller's thread."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.claims import Claim, Verdict
from desktop_rag.core.conversation import AnswerDone, Message, MessageState, Role, TextDelta
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.measures.measurement import mean, percentile
from desktop_rag.features.evaluation.measures.query_sets import json_object, numbered_lines
from desktop_rag.features.evaluation.values.scoring import contains, token_f1, without_citations

_QUESTIONS = "questions.jsonl"
_DOCUMENTS = "documents"


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question; each of `expected` is a complete right answer, each of `wrong` a wrong one.

    `sources` are paths and addresses that a right answer rests on.
    """

    question_id: str
    text: str
    expected: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions, and the folder of their documents; None means the person's own library."""

    name: str
    questions: tuple[AnswerQuestion, ...]
    documents: Path | None


def load_answer_set(path: Path, limit: int | None = None) -> AnswerSet:
    """Read a .jsonl file of {question, answer}, or a folder of questions.jsonl and documents/.

    `answer`, `wrong` and `sources` may be a text, a list of them, or left out. AppError naming the
    first bad line.
    """
    is_folder = path.is_dir()
    file = path / _QUESTIONS if is_folder else path
    numbered = numbered_lines(file)
    documents = (path / _DOCUMENTS).resolve() if is_folder else None
    if documents and not documents.is_dir():
        raise AppError(f"{path} is no set of answers.", f"It has no folder {_DOCUMENTS}.")
    questions = tuple(_question(file, number, line) for number, line in numbered[:limit])
    if not questions:
        raise AppError(f"{file} has no questions.", "It needs a row {question, answer} a line.")
    whole = path.resolve()
    name = whole.name if is_folder else f"{whole.parent.name}/{whole.name}"
    return AnswerSet(name, questions, documents)


def _question(path: Path, number: int, line: str) -> AnswerQuestion:
    def bad(why: str) -> AppError:
        return AppError(f"Line {number} of {path} is no question.", why)

    row = json_object(line, bad)
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise bad("It needs a text as its question.")
    expected, wrong, sources = (
        _texts(row.get(name), bad(f"Its {name} must be a text, or a list of texts."))
        for name in ("answer", "wrong", "sources")
    )
    return AnswerQuestion(str(row.get("id", number)), text, expected, wrong, sources)


def _texts(given: object, wrong: AppError) -> tuple[str, ...]:
    """The texts of a field that is one, a list of them, or missing; raises `wrong` for others."""
    listed: list[Any] = [] if given is None else given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in listed):
        raise wrong
    return tuple(text for text in listed if text.strip())


_DIGITS = 4
# The token F1 from which an answer counts as the same.
_NEARLY_THE_SAME = 0.8


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """A question with its answer. Times are in seconds from the question on.

    `first_s` is the time of the first words; `tokens` are those of prompt and answer as the
    endpoint counts them, None when it does not. `judged` is the grade of a model, "" for none.
    """

    question: AnswerQuestion
    answer: Message
    claims: tuple[Claim, ...]
    first_s: float
    seconds: float
    tokens: tuple[int, int] | None = None
    judged: str = ""

    @property
    def supported(self) -> int:
        """The number of claims that the sources support."""
        return sum(claim.verdict is Verdict.SUPPORTED for claim in self.claims)

    @property
    def is_cited(self) -> bool:
        """True when the answer cites a source."""
        return any(source.is_cited for source in self.answer.sources)

    @property
    def f1(self) -> float:
        """The best token F1 with an expected answer."""
        return max((token_f1(self.answer.text, e) for e in self.question.expected), default=0.0)

    @property
    def repeats_wrong(self) -> bool:
        """True when the answer is nearly one that the person called wrong."""
        wrong = self.question.wrong
        return any(token_f1(self.answer.text, text) >= _NEARLY_THE_SAME for text in wrong)

    @property
    def is_sourced(self) -> bool:
        """True when the answer cites one of the sources that the set names."""
        cited = {place for s in self.answer.sources if s.is_cited for place in (s.path, s.url)}
        return not cited.isdisjoint(self.question.sources)

    @property
    def contains(self) -> bool:
        """True when the answer contains an expected one, word for word."""
        return any(contains(self.answer.text, expected) for expected in self.question.expected)

    def to_json(self) -> dict[str, Any]:
        """The row of this question, to compare two runs."""
        answer = self.answer
        row: dict[str, Any] = {
            "id": self.question.question_id,
            "question": self.question.text,
            "answer": answer.text,
            "state": answer.state.value,
            "error": answer.error_title,
            "citations": [
                {"n": s.n, "path": s.path, "place": s.anchor.label(), "quote": s.quote}
                for s in answer.sources if s.is_cited
            ],
            "queries": [source.query for source in answer.sources if source.query],
            "claims": dict(Counter(claim.verdict.value for claim in self.claims)),
            "first_s": round(self.first_s, 3),
            "seconds": round(self.seconds, 3),
            "tokens": list(self.tokens) if self.tokens else None,
        }  # fmt: skip
        if self.question.expected:
            row |= {
                "expected": list(self.question.expected),
                "f1": round(self.f1, _DIGITS),
                "contains": self.contains,
                "judged": self.judged,
            }
        if self.question.wrong:
            row |= {"wrong": list(self.question.wrong), "repeats_wrong": self.repeats_wrong}
        if self.question.sources:
            row["is_sourced"] = self.is_sourced
        return row


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """The answers to one set; `model` and `judge` are names, "" where there was none."""

    answers: tuple[MeasuredAnswer, ...]
    model: str
    judge: str

    @property
    def kind(self) -> str:
        """The kind of the stored run."""
        return "answers"

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line; None for unknown figures."""
        given = [a for a in self.answers if a.answer.state is MessageState.DONE]
        expected = [a for a in given if a.question.expected]
        judged = [a.judged for a in expected if a.judged]
        claims = sum(len(a.claims) for a in given)
        counted = [a.tokens for a in self.answers if a.tokens]
        return {
            "questions": len(self.answers),
            "failed": len(self.answers) - len(given),
            "unanswered": sum(not a.answer.sources for a in given),
            "cited": _share([a.is_cited for a in given]),
            "claims": claims,
            "supported": round(sum(a.supported for a in given) / claims, _DIGITS)
            if claims
            else None,
            "f1": _mean([a.f1 for a in expected]),
            "contains": _share([a.contains for a in expected]),
            "repeats_wrong": _share([a.repeats_wrong for a in given if a.question.wrong]),
            "sourced": _share([a.is_sourced for a in given if a.question.sources]),
            "judged": len(judged),
            "correct": _share([word == "correct" for word in judged]),
            "partly": _share([word == "partly" for word in judged]),
            "wrong": _share([word == "wrong" for word in judged]),
            "first_p50_s": round(percentile([a.first_s for a in given], 0.5), 3),
            "first_p95_s": round(percentile([a.first_s for a in given], 0.95), 3),
            "p50_s": round(percentile([a.seconds for a in given], 0.5), 3),
            "p95_s": round(percentile([a.seconds for a in given], 0.95), 3),
            "tokens_asked": sum(asked for asked, _ in counted) if counted else None,
            "tokens_answered": sum(answered for _, answered in counted) if counted else None,
            "model": self.model,
            "judge": self.judge,
        }

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each question."""
        return [answer.to_json() for answer in self.answers]


def evaluate(
    questions: Sequence[AnswerQuestion],
    chat: Chat,
    say: Callable[[str], None],
    *,
    collection_id: str = "",
) -> AnswerFigures:
    """Ask the questions one by one, each without a history; no chat is stored."""
    answers: list[MeasuredAnswer] = []
    for number, question in enumerate(questions, 1):
        answers.append(_measured(question, chat, collection_id, say))
        say(f"{number:,} of {len(questions):,} questions answered")
    is_judged = any(answer.judged for answer in answers)
    model = next((a.answer.model for a in answers if a.answer.model), "")
    return AnswerFigures(tuple(answers), model, AnswerGrader(chat).model_name if is_judged else "")


def _measured(
    question: AnswerQuestion, chat: Chat, collection_id: str, say: Callable[[str], None]
) -> MeasuredAnswer:
    cancel, asked = Event(), Message("", "", Role.USER, question.text, time.time())
    setup = chat.set_up(collection_id=collection_id)
    before = chat.models.tokens_counted()
    began_at = time.perf_counter()
    first_s, message = 0.0, None
    for event in chat.answer([asked], setup, cancel=cancel):
        if isinstance(event, TextDelta) and event.text and not first_s:
            first_s = time.perf_counter() - began_at
        if isinstance(event, AnswerDone):
            message = event.message
    seconds = time.perf_counter() - began_at
    assert message is not None, "every answer ends with AnswerDone"
    after = chat.models.tokens_counted()
    taken = (after.asked - before.asked, after.answered - before.answered)
    claims, judged = chat.claims(message, cancel), ""
    if message.state is MessageState.FAILED:
        say(f"{question.question_id}: {message.error_title} {message.error_hint}")
    elif question.expected and message.text:
        try:
            expected = "\nor: ".join(question.expected)
            judged = AnswerGrader(chat).grade(
                question.text, expected, without_citations(message.text), cancel
            )
        except AppError as error:
            say(f"{question.question_id} was not judged. {error.title}")
    tokens = taken if any(taken) else None
    return MeasuredAnswer(question, message, claims, first_s or seconds, seconds, tokens, judged)


def _share(values: Sequence[bool]) -> float | None:
    return _mean([float(value) for value in values])


def _mean(values: Sequence[float]) -> float | None:
    return round(mean(values), _DIGITS) if values else None
