"""Reports on the runs of a set: an HTML page without links, CSV or JSON lines. Worker threads."""

import csv
import html
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from desktop_rag.core.claims import SIGNS
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.own_words import EXPORTED_REPORT
from desktop_rag.features.evaluation.values.run import RunAnswer
from desktop_rag.features.evaluation.values.run_summary import (
    RunSummary,
    compared_with_first,
    summary,
)
from desktop_rag.features.evaluation.values.scoring import Basis, RunScores, SetResults

_MEGABYTE = 1 << 20
_STYLE = """
body { font-family: sans-serif; margin: 2em; color: #1b1b1f; background: #ffffff; }
table { border-collapse: collapse; margin: 0 0 1.5em 0; }
th, td { border: 1px solid #c8c8d0; padding: 5px 8px; text-align: left; vertical-align: top; }
th { background: #eeeef3; }
.muted { color: #5c5c66; }
.failed { color: #a01020; }
"""
_FIELDS = (
    "run", "question_id", "question", "answer", "state", "score", "basis", "seconds", "tokens_in",
    "tokens_out", "cost", "peak_bytes", "mean_bytes", "server_peak_bytes", "server_mean_bytes",
    "supported", "claims", "sources", "tags", "expected", "grade", "model", "error",
)  # fmt: skip


def report_html(results: SetResults) -> str:
    """The runs of a set: figures, comparisons with the first, and every answer."""
    name = _text(results.question_set.name)
    day = time.strftime("%Y-%m-%d %H:%M")
    runs = tr("{count:,} runs", count=len(results.runs))
    compared = (each.in_words() for each in compared_with_first(results.runs, results.judgements))
    parts = [
        f"<h1>{name}</h1>",
        f'<p class="muted">{_text(runs)} · {day}</p>',
        _figures(results),
        *(f"<p>{_text(words)}</p>" for words in compared),
        *_questions(results),
    ]
    body = "\n".join(parts)
    made = f'<meta name="generator" content="{EXPORTED_REPORT}">'
    head = f'<meta charset="utf-8">{made}<title>{name}</title><style>{_STYLE}</style>'
    return f"<!doctype html>\n<html><head>{head}</head><body>\n{body}\n</body></html>\n"


def as_csv(rows: Iterable[dict[str, Any]]) -> str:
    """The rows as CSV, with lists separated by |, and an apostrophe before formulas."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(("generator", *_FIELDS))
    writer.writerows((EXPORTED_REPORT, *(_cell(row[key]) for key in _FIELDS)) for row in rows)
    return out.getvalue()


def as_jsonl(results: SetResults) -> str:
    """A line for each run with its set-up and settings, each followed by its answers in full."""
    lines: list[dict[str, Any]] = []
    for scores in results.runs:
        run = asdict(scores.run) | {"questions": len(scores.run.questions)}
        made = {"type": "run", "format": EXPORTED_REPORT}
        lines.append({**made, **run, "summary": asdict(summary(scores))})
        for row, answer in zip(raw_rows(scores), scores.answers.values(), strict=True):
            lines.append({"type": "answer", **row, "full": asdict(answer)})
    lines += [{"type": "judgement", **asdict(j)} for j in results.judgements]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def raw_rows(scores: RunScores) -> list[dict[str, Any]]:
    """A row for each answer of a run, the same keys in each."""
    rows: list[dict[str, Any]] = []
    questions = {question.question_id: question for question in scores.run.questions}
    for question_id, answer in scores.answers.items():
        question = questions[question_id]
        known = scores.scores[question_id]
        places = [f"{s.url or s.path} {s.anchor.label()}".strip() for s in answer.sources]
        values = (
            scores.name, question_id, question.text, answer.text, answer.state.value,
            scores.best(question_id), next((b.value for b in Basis if b in known),
            ""), answer.seconds, answer.tokens_in, answer.tokens_out, answer.cost,
            answer.app.peak, answer.app.mean, answer.server.peak, answer.server.mean,
            answer.supported_share, len(answer.claims), places, list(question.tags),
            list(question.expected), answer.grade, answer.model, answer.error_title,
        )  # fmt: skip
        rows.append(dict(zip(_FIELDS, values, strict=True)))
    return rows


def _cell(value: object) -> object:
    if isinstance(value, list):
        value = " | ".join(map(str, value))
    if isinstance(value, str) and value[:1] in tuple("=+-@\t\r"):
        return f"'{value}"
    return "" if value is None else value


def _figures(results: SetResults) -> str:
    heads = (
        tr("Set-up"), tr("Score"), tr("Preferred"), tr("Backed by sources"), tr("Answered"),
        tr("Failed"), tr("Seconds"), tr("Tokens"), tr("Cost"), tr("Memory"),
    )  # fmt: skip
    return _table([heads, *(_summary_row(summary(scores)) for scores in results.runs)])


def _summary_row(row: RunSummary) -> tuple[str, ...]:
    return (
        row.name, _share(row.score), _share(row.preferred), _share(row.supported),
        f"{row.answered} / {row.questions}", str(row.failed),
        "" if row.seconds is None else f"{row.seconds:.1f}",
        "" if row.tokens is None else f"{row.tokens:,}",
        "" if row.cost is None else f"{row.cost:.4g}", f"{row.peak_bytes // _MEGABYTE:,} MB",
    )  # fmt: skip


def _questions(results: SetResults) -> Iterator[str]:
    asked = {q.question_id: q for scores in results.runs for q in scores.run.questions}
    for question in asked.values():
        yield f"<h3>{_text(question.text)}</h3>"
        if question.expected:
            expected = " / ".join(question.expected)
            yield f'<p class="muted">{_text(tr("Expected: {text}", text=expected))}</p>'
        rows = [(scores, scores.answers.get(question.question_id)) for scores in results.runs]
        cells = "".join(
            f"<tr><th>{_text(scores.name)}</th>"
            f"<td>{_answer(answer)}</td>"
            f"<td>{_share(scores.best(question.question_id))}</td>"
            f"<td>{answer.seconds:.1f} s</td></tr>"
            for scores, answer in rows
            if answer
        )
        yield f"<table>{cells}</table>"


def _answer(answer: RunAnswer) -> str:
    if answer.has_failed:
        return f'<span class="failed">{_text(answer.error_title or answer.state.value)}</span>'
    signs = " ".join(SIGNS[claim.verdict][0] for claim in answer.claims)
    places = "".join(
        f"<br>[{s.n}] {_text(PurePath(s.path).name or s.url)} {_text(s.anchor.label())}"
        for s in answer.sources
        if s.is_cited
    )
    text = _text(answer.text).replace("\n", "<br>")
    return f'{text} {signs}<span class="muted">{places}</span>'


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    head, *others = rows
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in others
    )
    return f"<table><tr>{cells}</tr>{body}</table>"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _text(text: str) -> str:
    return html.escape(text)


_FORMS: Mapping[str, Callable[[SetResults], str]] = {
    ".html": report_html,
    ".csv": lambda results: as_csv(chain.from_iterable(map(raw_rows, results.runs))),
    ".jsonl": as_jsonl,
}


def write_report(results: SetResults, file: Path) -> None:
    """Write or replace the file in the form of its ending. AppError for another, or on failure."""
    form = _FORMS.get(file.suffix.casefold())
    if form is None:
        hint = f"It may end in {', '.join(_FORMS)}; the window also makes a PDF."
        raise AppError(f"{file.name} has another ending.", hint)
    with os_error_as(f"{file} can't be written."):
        write_atomically(file, form(results))
