"""Fits the weights by which turns that insist are told, and clauses that only deny.

Usage: fit_insisting.py [--write]. Logistic regression on the vectors of the multilingual model,
over the turns of the tests, the examples of small talk and training/insisting.toml. Prints
precision and recall on the turns held out, and on each language when it is left out whole. The
model runs on one core.
"""

import sys
import tomllib
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.paths import resources_dir
from desktop_rag.models.embedding.joined_embedding import BUNDLED_MULTILINGUAL, bundled_opener

_HERE = Path(__file__).parent
_TURNS = _HERE.parent / "tests" / "unit" / "answer" / "checking"
_RIDGE = {"turns": 2e-4, "denials": 1e-4}
_STEPS, _RATE, _MOMENTUM = 1_500, 4.0, 0.9
_HEAD = """\
# How turns are recognised that insist on what an answer denies: functions of a text's vector by the
# multilingual model, above 0 for a turn that insists, and for a clause that only denies. By
# training/fit_insisting.py; eight bits in base64, to be multiplied by `scale`."""
_SMALL_TALK = ("greeting", "thanks", "farewell", "about", "add")

Numbers = NDArray[np.float64]
Rows = list[tuple[str, str, bool]]  # language, text, insists


def main() -> None:
    """Fit, print the figures, and with --write change the file."""
    model = bundled_opener(threads=1)(BUNDLED_MULTILINGUAL)

    def vectors(texts: list[str]) -> Numbers:
        return np.array([model.embed_query(text) for text in texts], np.float64)

    turns, held_out = _turns("insisting_turns.toml"), _turns("insisting_held_out.toml")
    examples = {
        kind: text.strip().splitlines() for kind, text in _read(_HERE / "insisting.toml").items()
    }
    others = vectors([*examples["others"], *_small_talk()])
    rows, held = vectors([t for _, t, _ in turns]), vectors([t for _, t, _ in held_out])
    insists = np.array([is_yes for *_, is_yes in turns])
    fitted = _fit_turns(rows, insists, others)
    _say("held out", held @ fitted[0] + fitted[1] > 0, np.array([yes for *_, yes in held_out]))
    languages = np.array([language for language, *_ in turns])
    found = np.zeros(len(turns), bool)
    for language in set(languages.tolist()):
        is_out = languages == language
        weights, intercept = _fit_turns(rows[~is_out], insists[~is_out], others)
        found[is_out] = rows[is_out] @ weights + intercept > 0
    _say("each language left out", found, insists)
    only = [text.rstrip(".!") for _, text, is_yes in turns if not is_yes]
    denials, claims = vectors(examples["denials"]), vectors([*examples["claims"], *only])
    denying = _fit([denials, claims], [True, False], _RIDGE["denials"])
    if "--write" in sys.argv:
        _write({"turns": fitted, "denials": denying})


def _fit_turns(rows: Numbers, insists: NDArray[np.bool_], others: Numbers) -> tuple[Numbers, float]:
    groups = [rows[insists], rows[~insists], others]
    return _fit(groups, [True, False, False], _RIDGE["turns"])


def _fit(groups: list[Numbers], kinds: list[bool], ridge: float) -> tuple[Numbers, float]:
    """Weights and intercept; those of a kind weigh as much as all others together."""
    rows = np.vstack(groups)
    sizes = [len(group) for group in groups]
    wanted = np.repeat(np.array(kinds, float), sizes)
    share = np.repeat([0.5 / kinds.count(kind) / n for kind, n in zip(kinds, sizes, strict=True)],
                      sizes)  # fmt: skip
    weights, speed = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    intercept = drift = 0.0
    for _ in range(_STEPS):
        wrong = (1 / (1 + np.exp(-(rows @ weights + intercept))) - wanted) * share
        speed = _MOMENTUM * speed + rows.T @ wrong + ridge * weights
        drift = _MOMENTUM * drift + float(wrong.sum())
        weights, intercept = weights - _RATE * speed, intercept - _RATE * drift
    return weights, intercept


def _turns(name: str) -> Rows:
    tables = _read(_TURNS / name)
    return [(language, text, kind == "yes") for language, table in tables.items()
            for kind in ("yes", "no") for text in table[kind]]  # fmt: skip


def _small_talk() -> list[str]:
    """The first of the words for each place of an example."""
    found: list[str] = []
    for table in _read(resources_dir() / "questions" / "small_talk.toml").values():
        for line in "\n".join(table.get(kind, "") for kind in _SMALL_TALK).split("\n"):
            places = [word for word in line.partition("(")[0].split() if word]
            joined = ("" if table.get("unspaced") else " ").join(p.split("/")[0] for p in places)
            found += [joined, f"{joined}!"] if joined else []
    return found


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _say(name: str, found: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> None:
    right = (found & wanted).sum()
    sys.stdout.write(
        f"{name}: precision {right / found.sum():.3f}, recall {right / wanted.sum():.3f}"
        f" ({wanted.sum()} of {len(wanted)} insist)\n"
    )


def _write(fitted: dict[str, tuple[Numbers, float]]) -> None:
    path = resources_dir() / "questions" / "insisting.toml"
    parts = [_HEAD]
    for kind, (weights, intercept) in fitted.items():
        scale = float(np.abs(weights).max()) / 127
        whole = np.round(weights / scale).astype(np.int8)
        written = b64encode(whole.tobytes()).decode()
        numbers = f"intercept = {intercept:.4f}\nscale = {scale:.6f}"
        parts.append(f'\n[{kind}]\n{numbers}\nweights = "{written}"')
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
