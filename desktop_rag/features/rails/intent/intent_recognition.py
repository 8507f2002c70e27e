"""Recognises the intent of a sentence by the examples of a configuration, without an LLM.

Two scores, a kernel regression and votes of the nearest examples, are added; a calibration makes
probabilities of them. Pure apart from the embedding it is given; any worker thread.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.language.flow_program import Program

Vectors = NDArray[np.float32]
Places = NDArray[np.intp]
_VOTERS = 10
_VOTE_SHARPNESS = 20.0
# The variance added to each direction, as a multiple of the mean variance within intents.
_SHRINKAGE = 3.0
_NOTHING = 1e-9


class NearestVotes:
    """The share of each class among the nearest examples, weighted by similarity.

    Directions that vary within classes count less.
    """

    def __init__(self, rows: Vectors, classes: Places, class_count: int) -> None:
        """Estimate the variance within classes. Does not keep the rows."""
        self._classes, self._count = classes, class_count
        self._mean = rows.mean(axis=0)
        self._whitening = _whitening(rows, classes, class_count)
        self._lengths = _lengths((rows - self._mean) @ self._whitening)[:, 0]

    def directions(self, vectors: Vectors) -> Vectors:
        """The vectors, in the same shape, whose products with the rows `shares` needs."""
        turned = (vectors - self._mean) @ self._whitening
        return (turned / _lengths(turned)) @ self._whitening

    def shares(self, directions: Vectors, products: Vectors, own: Places | None = None) -> Vectors:
        """The shares of each class, shape (len(products), classes); each row adds up to 1.

        `products` are those of `directions` with the rows. `own` are the places of the vectors
        among the rows: none votes for itself.
        """
        similarities = (products - (directions @ self._mean)[:, None]) / self._lengths
        if own is not None:
            similarities[np.arange(len(own)), own] = -2
        voters = min(_VOTERS, len(self._classes))
        places = np.argpartition(-similarities, voters - 1, axis=1)[:, :voters]
        near = np.take_along_axis(similarities, places, axis=1)
        weights = np.exp(_VOTE_SHARPNESS * (near - near.max(axis=1, keepdims=True)))
        shares = np.zeros((len(products), self._count), np.float32)
        np.add.at(shares, (np.arange(len(products))[:, None], self._classes[places]), weights)
        return shares / shares.sum(axis=1, keepdims=True)


def _lengths(vectors: Vectors) -> Vectors:
    return np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _NOTHING)


def _whitening(rows: Vectors, classes: Places, class_count: int) -> Vectors:
    sums = np.zeros((class_count, rows.shape[1]), np.float32)
    np.add.at(sums, classes, rows)
    rest = rows - (sums / np.bincount(classes, minlength=class_count)[:, None])[classes]
    # Only the directions in which the rows differ: with few examples a few of the hundreds.
    _, spread, directions = np.linalg.svd(_square(rest.astype(np.float32)), full_matrices=False)
    added = _SHRINKAGE * float((spread**2).sum()) / rows.shape[1]
    if added <= _NOTHING:  # one example for each class: nothing is known
        return np.eye(rows.shape[1], dtype=np.float32)
    scales = np.sqrt(added / (spread**2 + added)) - 1
    whitening = (directions.T * scales) @ directions
    whitening[np.diag_indices_from(whitening)] += 1
    return whitening.astype(np.float32)


def _square(rows: Vectors) -> NDArray[np.float64]:
    """Rows with the same moments, no more of them than there are dimensions."""
    if len(rows) <= rows.shape[1]:
        return rows.astype(np.float64)
    return np.asarray(np.linalg.qr(rows.astype(np.float64))[1], np.float64)


# The similarity of two unit vectors becomes exp(SHARPNESS · (cosine − 1)).
_SHARPNESS = 2.0
_RIDGE = 0.1
# Rows are described by their similarity to at most so many of them: the time to fit grows with
# the square of this number, and linearly with the rows.
_LANDMARKS = 1500
# Directions with less of the variance than this are noise of the arithmetic.
_LEAST_VARIANCE = 1e-6
_MOST_OWN = 0.99


class KernelRegression:
    """Scores of classes, from about 0 to about 1, fitted to labelled unit vectors.

    A ridge regression of class membership on the similarities of vectors, in closed form.
    """

    def __init__(
        self, rows: Vectors, classes: Places, weights: Vectors, class_count: int, looked_at: Places
    ) -> None:
        """Fit to rows that are sorted by class, so that a selection of many represents all.

        `left_out` has the scores of the rows `looked_at`, each as a fit without that row.
        """
        self._chosen = np.linspace(0, len(rows) - 1, min(len(rows), _LANDMARKS)).astype(np.intp)
        landmarks = rows[self._chosen]
        values, directions = np.linalg.eigh(_kernel(landmarks @ landmarks.T))
        kept = values > _LEAST_VARIANCE * values[-1]
        projection = (directions[:, kept] / np.sqrt(values[kept])).astype(np.float32)
        targets = np.zeros((len(rows), class_count), np.float32)
        targets[np.arange(len(rows)), classes] = 1
        features = _kernel(rows @ landmarks.T) @ projection
        share = weights / weights.sum()
        mean_features, mean_target = share @ features, share @ targets
        features -= mean_features
        weighted = weights[:, None] * features
        moments = features.T @ weighted
        moments[np.diag_indices_from(moments)] += _RIDGE
        centred = targets - mean_target
        seen = features[looked_at]
        solved = np.linalg.solve(moments, np.hstack([weighted.T @ centred, seen.T]))
        coefficients = solved[:, :class_count]
        self._by_landmark = projection @ coefficients
        self._offset = mean_target - mean_features @ coefficients
        # The share of its own target in the score of a row.
        own = np.einsum("ij,ji->i", seen, solved[:, class_count:]) * weights[looked_at]
        own = np.minimum(own + share[looked_at], _MOST_OWN)[:, None]
        fitted = seen @ coefficients + mean_target
        self.left_out: Vectors = (fitted - own * targets[looked_at]) / (1 - own)

    def scores(self, similarities: Vectors) -> Vectors:
        """The scores of each class for vectors with these cosines to the rows of the fit."""
        return _kernel(similarities[:, self._chosen]) @ self._by_landmark + self._offset


def _kernel(similarities: Vectors) -> Vectors:
    return np.exp(_SHARPNESS * (similarities - 1)).astype(np.float32)


# The weight of the votes beside the regression, with many examples.
_VOTES = 0.3
# Examples per intent at which they weigh half: with few, the nearest ten are of ten intents.
_MANY = 10.0
# Examples that are examined as if they were unknown sentences.
_LOOKED_AT = 2000
# Rows that fit into the cache of a core while several vectors are multiplied with them.
_BLOCK = 256
# A product of matrices is faster for more vectors than this.
_FEW_SENTENCES = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best class of each vector, and `features` that tell how certain it is.

    Their columns: score of the regression; distance to the next class; similarity to the nearest
    example of the class; how much nearer that is than one of another; share of the votes;
    logarithms of the examples per class and of the classes.
    """

    best: Places
    features: Vectors

    @property
    def margins(self) -> Vectors:
        """How much more the best class scores than the next."""
        return self.features[:, 1]

    @property
    def sizes(self) -> Vectors:
        """The mean number of examples per class."""
        return np.exp(self.features[:, 5])


class IntentScores:
    """Scores of classes, fitted to the vectors of examples, sorted by class, and of class names."""

    def __init__(
        self, rows: Vectors, classes: Places, names: Vectors, named: Places, class_count: int
    ) -> None:
        """Fit. Every class has a row; `names` are the vectors of the classes in `named`.

        `left_out` is about the rows `looked_at`.
        """
        self._example_count = len(rows)
        self._rows = np.concatenate([rows, names])
        self.looked_at = np.linspace(0, len(rows) - 1, min(len(rows), _LOOKED_AT)).astype(np.intp)
        counts = np.bincount(classes, minlength=class_count)
        self._starts = np.searchsorted(classes, np.arange(class_count))
        mean_count = len(rows) / class_count
        weights = np.sqrt(mean_count / counts)[classes]
        all_weights = np.append(weights, np.full(len(named), np.median(weights)))
        self._regression = KernelRegression(
            self._rows,
            np.append(classes, named),
            all_weights.astype(np.float32),
            class_count,
            self.looked_at,
        )
        self._votes = NearestVotes(rows, classes, class_count)
        self._votes_weight = _VOTES * mean_count / (mean_count + _MANY)
        self._sizes = np.log([mean_count, class_count]).astype(np.float32)

    def compared(self, vectors: Vectors) -> tuple[Vectors, Evidence]:
        """The cosines of the vectors with the rows, and the evidence for their best classes."""
        directions = self._votes.directions(vectors)
        # Together, since reading ten thousand rows takes longer than multiplying them.
        products = _products(np.concatenate([vectors, directions]), self._rows)
        similarities, turned = np.split(products, 2)
        scores = self._regression.scores(similarities)
        cosines = similarities[:, : self._example_count]
        shares = self._votes.shares(directions, turned[:, : self._example_count])
        return cosines, self._evidence(scores, shares, cosines)

    def left_out(self) -> Evidence:
        """The evidence of the rows `looked_at`, each as if it were unknown."""
        own, examples = self.looked_at, self._rows[: self._example_count]
        similarities = examples[own] @ examples.T
        similarities[np.arange(len(own)), own] = 0
        directions = self._votes.directions(examples[own])
        shares = self._votes.shares(directions, directions @ examples.T, own)
        return self._evidence(self._regression.left_out, shares, similarities)

    def _evidence(self, scores: Vectors, shares: Vectors, similarities: Vectors) -> Evidence:
        total = (scores + self._votes_weight * shares).astype(np.float32)
        best = total.argmax(axis=1)
        at = np.arange(len(total))
        nearest = np.maximum.reduceat(similarities, self._starts, axis=1)
        own, others = nearest[at, best], _without(nearest, best)
        columns = [
            scores[at, best],
            total[at, best] - _without(total, best),
            own,
            own - others,
            shares[at, best],
            *np.broadcast_to(self._sizes[:, None], (2, len(total))),
        ]
        return Evidence(best, np.stack(columns, axis=1).astype(np.float32))


def _products(vectors: Vectors, rows: Vectors) -> Vectors:
    """The scalar product of each vector and each row; reads the rows once for few vectors."""
    if len(vectors) > _FEW_SENTENCES:
        return vectors @ rows.T
    found = np.empty((len(vectors), len(rows)), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        for vector, products in zip(vectors, found, strict=True):
            np.dot(block, vector, out=products[start : start + _BLOCK])
    return found


def _without(values: Vectors, left_out: Places) -> Vectors:
    """The largest value of each row without the class left out; 0 without another class."""
    if values.shape[1] == 1:
        return np.zeros(len(values), np.float32)
    rest = values.copy()
    rest[np.arange(len(rest)), left_out] = -np.inf
    return rest.max(axis=1)


_BEFORE_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_NO_LETTER = re.compile(r"[\W_]+")
_GROUP = re.compile(r"[.:/]")


def readable_names(intents: Sequence[str]) -> list[str]:
    """The words of each name: `user.wantsHelp` is “wants help”, as long as no other intent ends so.

    A name without letters gives "".
    """
    short = [_name_words(_GROUP.split(intent)[-1]) for intent in intents]
    counts = Counter(short)
    return [
        words if words and counts[words] == 1 else _name_words(intent)
        for words, intent in zip(short, intents, strict=True)
    ]


def _name_words(name: str) -> str:
    words = " ".join(_NO_LETTER.sub(" ", _BEFORE_CAPITAL.sub(" ", name)).lower().split())
    return words if any(letter.isalpha() for letter in words) else ""


Numbers = NDArray[np.float64]
# The correction is a shift, a factor of the log-odds, and the weight of how often an intent is
# named wrongly: its prior, and how many examples it takes to change that.
_PRIOR = np.array([0.0, 1.0, 0.5])
_PRIOR_WEIGHTS = np.array([5.0, 50.0, 20.0])
# The share of right answers of an intent starts from that of all, with this weight.
_SMOOTHING = 5.0
# Fewer examples can't correct anything.
_FEWEST = 50
_FEWEST_PER_INTENT = 2.0
_LEAST = 1e-4
# With few examples an intent may be the nearest by chance. At a smaller distance to the next one,
# about 92 of 100 are right, whatever else speaks for it (decision 061). It is less with more
# examples than `_FEW` an intent, in proportion.
_CLEAR_MARGIN, _FEW = 0.4, 4
_MOST_UNCLEAR = 0.94
_STEPS = 30


class IntentCalibration:
    """The probability that a recognised intent is right, from its evidence.

    The shipped coefficients come from other people's sets (`training/fit_intents.py`); the
    examples of a configuration, each as if it were unknown, `correct` them.
    """

    def __init__(self, class_count: int) -> None:
        self._coefficients = _shipped()
        self._correction = _PRIOR * (1, 1, 0)
        self._precisions = np.zeros(class_count)

    def correct(self, evidence: Evidence, right: NDArray[np.bool_]) -> None:
        """Learn from examples with the evidence they had as unknown sentences."""
        classes = len(self._precisions)
        if len(right) < max(_FEWEST, _FEWEST_PER_INTENT * classes) or right.all():
            return
        hits = right.astype(np.float64)
        named = np.bincount(evidence.best, minlength=classes)
        found = np.bincount(evidence.best, hits, minlength=classes) + _SMOOTHING * hits.mean()
        usual = _log_odds(hits.mean())
        self._precisions = _log_odds(found / (named + _SMOOTHING)) - usual
        # Without the example itself, or it would vouch for its own answer.
        others = (found[evidence.best] - hits) / (named[evidence.best] - 1 + _SMOOTHING)
        self._correction = _fitted(self._columns(evidence, _log_odds(others) - usual), hits)

    def probabilities(self, evidence: Evidence) -> Numbers:
        """The probability of each best class to be right, from 0 to 1."""
        columns = self._columns(evidence, self._precisions[evidence.best])
        chances = _chance(columns @ self._correction)
        is_clear = evidence.margins >= _CLEAR_MARGIN * np.minimum(1, _FEW / evidence.sizes)
        return np.where(is_clear, chances, np.minimum(chances, _MOST_UNCLEAR))

    def _columns(self, evidence: Evidence, precisions: Numbers) -> Numbers:
        chances = _chance(terms(evidence) @ self._coefficients)
        return np.stack([np.ones(len(chances)), _log_odds(chances), precisions], axis=1)


def terms(evidence: Evidence) -> Numbers:
    """What the shipped coefficients multiply, shape (vectors, coefficients)."""
    score, margin, own, gap, share, size, classes = evidence.features.T.astype(np.float64)
    columns = [np.ones(len(score)), score, margin, own, gap, share, size, classes]
    columns += [margin * size, own * size, score * size, gap * size, share * size]
    columns += [margin * margin, own * own, margin * own, gap * own]
    columns += [margin * classes, own * classes]
    return np.stack(columns, axis=1)


@cache
def _shipped() -> Numbers:
    text = (resources_dir() / "rails" / "intents.toml").read_text(encoding="utf-8")
    return np.array(tomllib.loads(text)["coefficients"])


def _fitted(columns: Numbers, hits: Numbers) -> Numbers:
    """Logistic regression with the prior as start and regularisation."""
    found: Numbers = _PRIOR
    for _ in range(_STEPS):
        chances = _chance(columns @ found)
        slope = columns.T @ (chances - hits) + _PRIOR_WEIGHTS * (found - _PRIOR)
        spread = (columns * (chances * (1 - chances))[:, None]).T @ columns
        step = np.linalg.solve(spread + np.diag(_PRIOR_WEIGHTS), slope)
        found = (found - step).astype(np.float64)
    return found


def _chance(log_odds: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


def _log_odds(chances: Numbers) -> Numbers:
    kept = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.log(kept / (1 - kept))


Embed = Callable[[Sequence[str]], Vectors]
# The prompt of a model shows as many examples.
NEAREST = 5
# At this probability 97 of 100 accepted intents are right or more, in sentences that were left out.
ACCEPTED_FROM = 0.95
_EXAMPLE_SCORE = 0.99
# The share of names that must be nearest to their own examples for names to be used.
_FITTING_NAMES = 0.5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class IntentExample:
    """A sentence as a person would say it, and its intent."""

    text: str
    intent: str


@dataclass(frozen=True, slots=True)
class NearExample:
    """An example that is similar to a sentence; `similarity` is the cosine of their vectors."""

    text: str
    intent: str
    similarity: float


@dataclass(frozen=True, slots=True)
class RecognisedIntent:
    """The likeliest intent of a sentence, "" without one.

    `score` is the probability, from 0 to 1, that it is right; `is_accepted` says whether that is
    enough to go without a model. `nearest` has the most similar examples, best first.
    """

    intent: str
    score: float
    is_accepted: bool
    nearest: tuple[NearExample, ...]


class IntentRecogniser:
    """Recognises intents by examples, whose order does not matter."""

    def __init__(
        self, examples: Sequence[IntentExample], embed: Embed, embed_examples: Embed | None = None
    ) -> None:
        """Embed the examples with `embed_examples`, or else `embed`, and fit to them.

        Beside the embedding, 10,000 examples take some seconds, a thousand less than one.
        """
        said = {example for example in examples if example.text.strip()}
        self._examples = sorted(said, key=lambda example: (example.intent, example.text))
        self._intents = sorted({example.intent for example in said})
        self._embed = embed
        self._known = _known_texts(self._examples)
        if not self._examples:
            return
        places = {intent: place for place, intent in enumerate(self._intents)}
        classes = np.array([places[example.intent] for example in self._examples], np.intp)
        embed_own = embed_examples or embed
        rows = np.asarray(embed_own([example.text for example in self._examples]), np.float32)
        names, named = _telling_names(self._intents, rows, classes, embed_own)
        self._scores = IntentScores(rows, classes, names, named, len(self._intents))
        self._calibration = IntentCalibration(len(self._intents))
        self._correct(classes)

    def recognise(self, text: str) -> RecognisedIntent:
        """The likeliest intent of a sentence."""
        if not text.strip() or not self._examples:
            return RecognisedIntent("", 0.0, False, ())
        vector = np.asarray(self._embed([text]), np.float32)
        similarities, evidence = self._scores.compared(vector)
        best = int(evidence.best[0])
        score = float(self._calibration.probabilities(evidence)[0])
        known = self._known.get(_words(text), ())
        if len(known) == 1:  # an example, word for word
            best, score = self._intents.index(known[0]), max(score, _EXAMPLE_SCORE)
        elif known:  # an example of several intents
            score = min(score, 1 / len(known))
        nearest = self._nearest(similarities[0])
        return RecognisedIntent(self._intents[best], score, score >= ACCEPTED_FROM, nearest)

    def held_out(self) -> dict[str, tuple[int, int]]:
        """Of each intent, how many examples its others alone would accept, and how many it has."""
        evidence, looked_at = self._scores.left_out(), self._scores.looked_at
        is_sure = self._calibration.probabilities(evidence) >= ACCEPTED_FROM
        found, every = Counter[str](), Counter[str]()
        for place, best, is_accepted in zip(looked_at, evidence.best, is_sure, strict=True):
            intent = self._examples[place].intent
            every[intent] += 1
            found[intent] += int(is_accepted and self._intents[best] == intent)
        return {intent: (found[intent], count) for intent, count in every.items()}

    def _nearest(self, similarities: Vectors) -> tuple[NearExample, ...]:
        count = min(NEAREST, len(similarities))
        # Sorting ten thousand takes longer than recognising; of equals the first is taken.
        near = np.flatnonzero(similarities >= np.partition(similarities, -count)[-count])
        order = near[np.argsort(-similarities[near], kind="stable")][:count]
        found = [(self._examples[place], float(similarities[place])) for place in order]
        return tuple(NearExample(e.text, e.intent, similarity) for e, similarity in found)

    def _correct(self, classes: Places) -> None:
        """Correct the calibration by the examples, except texts of several intents."""
        texts = [_words(self._examples[place].text) for place in self._scores.looked_at]
        is_clear = np.array([len(self._known[text]) == 1 for text in texts])
        left_out = self._scores.left_out()
        right = left_out.best == classes[self._scores.looked_at]
        clear = Evidence(left_out.best[is_clear], left_out.features[is_clear])
        self._calibration.correct(clear, right[is_clear])


def _telling_names(
    intents: Sequence[str], rows: Vectors, classes: Places, embed: Embed
) -> tuple[Vectors, Places]:
    """The vectors of the intents' names, with their places; none where names mislead.

    A meaningful name is nearer to the examples of its own intent than to those of others.
    """
    words = readable_names(intents)
    named = np.array([place for place, name in enumerate(words) if name], np.intp)
    nothing = np.zeros((0, rows.shape[1]), np.float32), np.zeros(0, np.intp)
    if not len(named):
        return nothing
    vectors = np.asarray(embed([words[place] for place in named]), np.float32)
    sums = np.zeros((len(intents), rows.shape[1]), np.float32)
    np.add.at(sums, classes, rows)
    sums /= _lengths(sums)
    fitting = np.mean((vectors @ sums.T).argmax(axis=1) == named)
    return (vectors, named) if fitting >= _FITTING_NAMES else nothing


def _known_texts(examples: Sequence[IntentExample]) -> dict[str, tuple[str, ...]]:
    known: dict[str, tuple[str, ...]] = {}
    for example in examples:
        words = _words(example.text)
        if example.intent not in known.get(words, ()):
            known[words] = (*known.get(words, ()), example.intent)
    return known


def _words(text: str) -> str:
    """The words of a text; a text of signs alone stays as it is."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


class Nearest:
    """The examples and flows of a configuration that are near to a text.

    They are embedded when first needed.
    """

    def __init__(
        self, program: Program, embed: Embed | None, embed_examples: Embed | None = None
    ) -> None:
        self._program = program
        self._embed = embed
        self._embed_examples = embed_examples or embed
        self._lock = Lock()
        self._recogniser: IntentRecogniser | None = None
        self._flow_vectors: np.ndarray | None = None

    def recognise(self, text: str) -> RecognisedIntent | None:
        """The intent by examples; None where nothing can be compared."""
        recogniser = self._by_examples()
        return recogniser.recognise(text) if recogniser else None

    def held_out(self) -> Mapping[str, tuple[int, int]]:
        """As `IntentRecogniser.held_out`; empty where nothing can be compared."""
        recogniser = self._by_examples() if self._examples() else None
        return recogniser.held_out() if recogniser else {}

    def _by_examples(self) -> IntentRecogniser | None:
        if self._embed is None or self._embed_examples is None:
            return None
        with self._lock:
            if self._recogniser is None:
                self._recogniser = IntentRecogniser(
                    self._examples(), self._embed, self._embed_examples
                )
        return self._recogniser

    def flows(self, text: str) -> Sequence[str]:
        """The flows nearest to a text, as they are written."""
        written = self._program.written_flows
        if self._embed is None or len(written) <= NEAREST:
            return written[:NEAREST]
        with self._lock:
            if self._flow_vectors is None:
                self._flow_vectors = np.asarray((self._embed_examples or self._embed)(written))
        similarities = self._flow_vectors @ self._embed([text])[0]
        order = np.argsort(-similarities, kind="stable")[:NEAREST]
        return [written[place] for place in order]

    def _examples(self) -> list[IntentExample]:
        forms = self._program.user_forms.items()
        return [IntentExample(text, form) for form, said in forms for text in said if text != "..."]
