"""Names that tell the runs of a set apart. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from desktop_rag.features.evaluation.values.run import RunAnswer
from desktop_rag.features.evaluation.values.scoring import RunScores


def named(runs: Sequence[RunScores]) -> list[RunScores]:
    """The runs, the oldest first, by the names of their set-ups.

    Where models differ and a name doesn't say which one answered, it follows: `As it is (amber)`.
    Runs that are still called the same are numbered: `birch`, `birch (2)`.
    """
    models = [model_of(scores) for scores in runs]
    differ = len({model for model in models if model}) > 1
    seen: Counter[str] = Counter()
    found: list[RunScores] = []
    for scores, model in zip(runs, models, strict=True):
        name = scores.run.set_up.name
        if differ and model and model.casefold() not in name.casefold():
            name = f"{name} ({model})"
        seen[name] += 1
        found.append(replace(scores, name=name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return found


def model_of(scores: RunScores) -> str:
    """The model that answered most, or that was chosen while nothing is answered; "" for none."""
    counted = Counter(_models(scores.answers.values()))
    return counted.most_common(1)[0][0] if counted else scores.run.set_up.model


def _models(answers: Iterable[RunAnswer]) -> list[str]:
    return [answer.model for answer in answers if answer.model and not answer.is_excerpts]
