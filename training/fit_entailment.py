"""Trains a cross-encoder: does a passage say a claim, contradict it, or neither?

python training/fit_entailment.py BENCH FOLDER [--hours H] [--glance MINUTES]

BENCH contains grounding/ and the texts that entailment_pairs.py reads; the weights it starts from
are those of packaging/build_model.py, and the tools those of the [model] extra. FOLDER keeps the
checkpoint, from which a run that was stopped goes on, the features of the claims measured, and at
the end model.onnx and tokenizer.json. The learning rate falls to 0 in the last third of the hours;
the checkpoint before that is kept as steady.pt: without checkpoint.pt a run goes on from there,
with more hours.

Prints AUC and balanced accuracy of word overlap, of the shipped checker, of the model, and of both
together, weighed by what is held out of the sets learned from. No benchmark is learned from, and
no threshold has seen the set that it is measured on.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from claim_sets import (
    BENCHMARKS,
    FOREIGN,
    LEARNED,
    MEASURED,
    Flags,
    Floats,
    Measured,
    features_of,
    overlap_of,
)
from entailment_pairs import CONTRADICTED, SHARES, SUPPORTED, Pair, evidence, labelled, made, texts
from fit_checker import report
from monotone_regression import fit

from desktop_rag.answer.checking.claims.support import FEATURES, CheckerModel, Meaning
from desktop_rag.core.log import disable_telemetry
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.evaluation.measures.metrics import area_under_curve
from desktop_rag.features.evaluation.measures.query_sets import LabelledClaim, load_claims

sys.path.append(str(Path(__file__).parents[1] / "packaging"))
import model_graph

disable_telemetry()
import onnxruntime  # noqa: E402  (reads the switch while it is imported)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer
    from torch import Tensor, nn

    Arrays = Mapping[str, NDArray[np.int64]]

_LABELS = 3
_MOST_TOKENS = 192
_TOKENS_A_BATCH = 2_000
_MADE_AN_EPOCH = 11_000
# The parts of a batch are computed side by side, each on one thread.
_THREADS, _PARTS = 2, 2
_RATE, _HEAD_RATE, _WARM_UP, _DECAY = 1e-4, 1e-3, 0.03, 0.35
_SAVE_EVERY_S = 180
_GLANCE_CLAIMS = 120
_FOREIGN_CLAIMS = 300
_TIMED = 200
# What is called contradicted is false in at least this share of the claims held out, by weight.
_LEAST_RIGHT = 0.95


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a set that are measured, cut to their evidence, with the checker's figures."""

    pairs: list[Pair]
    labels: Flags
    overlap: Floats
    support: Floats


def main() -> None:
    """Train until the hours are over, export, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, default=1.5)
    parser.add_argument("--glance", type=float, default=25.0)
    parser.add_argument("--features-only", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sets = claims_measured(arguments.bench / "grounding", arguments.folder)
    if arguments.features_only:
        return
    encode = encoder(arguments.folder)
    train(arguments.bench, arguments.folder, encode, sets, arguments)
    measure(arguments.folder, encode, sets)


# --- data ---------------------------------------------------------------------------------------


def claims_measured(grounding: Path, folder: Path) -> dict[str, Claims]:
    """The benchmarks and the measured sets, whole; of the others what is held out of training."""
    sets: dict[str, Claims] = {}
    held: dict[str, list[LabelledClaim]] = {name: [] for name in LEARNED}
    for pair in labelled(grounding, held_out=True):
        is_true = pair.labels == (SUPPORTED,)
        held[pair.origin].append(LabelledClaim("", pair.source, pair.claim, is_true))
    for name, file in {**BENCHMARKS, **MEASURED, **FOREIGN}.items():
        claims = load_claims(grounding / file)
        held[name] = claims[:_FOREIGN_CLAIMS] if name in FOREIGN else claims
    for name, claims in held.items():
        cached = folder / f"{name}.npz"
        if not cached.exists():
            _keep_figures(claims, cached)
            print(f"{name}: {len(claims)} claims", flush=True)
        with np.load(cached) as kept:
            known = [claims[place] for place in kept["places"].tolist()]
            pairs = [Pair(one.claim, evidence(one.claim, one.source), (), name) for one in known]
            labels = np.asarray([one.is_supported for one in known])
            sets[name] = Claims(pairs, labels, kept["overlap"], kept["support"])
    return sets


def _keep_figures(claims: Sequence[LabelledClaim], cached: Path) -> None:
    model = CheckerModel.load(resources_dir() / "claims" / "checker.toml")
    meaning = Meaning()
    rows = [features_of(claim, meaning) for claim in claims]
    places = [place for place, row in enumerate(rows) if row]
    np.savez(
        cached,
        places=np.asarray(places),
        overlap=np.asarray([overlap_of(claims[place]) for place in places]),
        support=np.asarray(
            [model.support(dict(zip(FEATURES, rows[place], strict=True))) for place in places]
        ),
    )


def encoder(folder: Path) -> Tokenizer:
    """The tokenizer of the model, which cuts the source, not the claim."""
    from tokenizers import Tokenizer

    model_graph.write_tokenizer(model_graph.find_source(), folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_MOST_TOKENS, strategy="longest_first")
    return tokenizer


def batches(
    pairs: Sequence[Pair], encode: Tokenizer, rng: random.Random | None = None
) -> Iterator[tuple[list[int], Arrays]]:
    """The places of pairs of like length, and their arrays; with a rng in random order."""
    encoded = encode.encode_batch([(pair.claim, pair.source) for pair in pairs])
    lengths = [len(one.ids) for one in encoded]
    jitter = [rng.uniform(0, 8) if rng else 0.0 for _ in pairs]
    groups: list[list[int]] = [[]]
    for place in sorted(range(len(pairs)), key=lambda place: lengths[place] + jitter[place]):
        widest = max([lengths[place], *(lengths[other] for other in groups[-1])])
        if widest * (len(groups[-1]) + 1) > _TOKENS_A_BATCH:
            groups.append([])
        groups[-1].append(place)
    if rng:
        rng.shuffle(groups)
    for places in groups:
        width = max(lengths[place] for place in places)
        arrays = np.zeros((3, len(places), width), dtype=np.int64)
        for row, place in enumerate(places):
            one = encoded[place]
            for layer, values in enumerate((one.ids, one.attention_mask, one.type_ids)):
                arrays[layer, row, : lengths[place]] = values
        yield places, dict(zip(model_graph.INPUTS, arrays, strict=True))


# --- the model ----------------------------------------------------------------------------------


def reader() -> nn.Module:
    """The bundled encoder, its six layers, and a layer that reads off the three labels.

    It reads the claim's tokens, their mean and their maximum: one wrong word must not drown.
    """
    import torch

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = model_graph.load_encoder(model_graph.find_source())
            self.head = torch.nn.Linear(3 * model_graph.DIMENSIONS, _LABELS)

        def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
            hidden = self.encoder(
                input_ids=ids, attention_mask=mask, token_type_ids=types, return_dict=False
            )[0]
            of_claim = (mask * (1 - types)).unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * of_claim).sum(1) / of_claim.sum(1)
            most = (hidden * of_claim - 100 * (1 - of_claim)).max(1).values
            return self.head(torch.cat([hidden[:, 0], mean, most], 1))

    model = Reader()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    # Words that the pairs don't contain must keep their meaning beside those that they do.
    model.encoder.embeddings.word_embeddings.weight.requires_grad_(False)
    return model


class Training:
    """A model and how far it got; `spent` is in seconds, `done` in batches of the epoch."""

    def __init__(self, folder: Path) -> None:
        """Start anew, or from the checkpoint."""
        import torch

        torch.manual_seed(1)
        torch.set_num_threads(1)
        self._folder = folder
        self._pool = ThreadPoolExecutor(_THREADS, initializer=lambda: torch.set_num_threads(1))
        self.model = reader()
        self.model.encoder.config._attn_implementation = "sdpa"  # noqa: SLF001  the fastest here
        slow = [value for value in self.model.encoder.parameters() if value.requires_grad]
        head = self.model.head.parameters()
        self._optimizer = torch.optim.AdamW(
            [{"params": slow, "peak": _RATE}, {"params": head, "peak": _HEAD_RATE}],
            weight_decay=0.01,
        )
        self.spent, self.epoch, self.done = 0.0, 0, 0
        found = [folder / name for name in ("checkpoint.pt", "steady.pt")]
        if checkpoint := next((path for path in found if path.exists()), None):
            kept = torch.load(checkpoint)
            self.model.load_state_dict(kept["model"])
            self._optimizer.load_state_dict(kept["optimizer"])
            self.spent, self.epoch, self.done = kept["spent"], kept["epoch"], kept["done"]

    def save(self, *, is_steady: bool) -> None:
        """Write the checkpoint."""
        import torch

        state = {"model": self.model.state_dict(), "optimizer": self._optimizer.state_dict()}
        counts = {"spent": self.spent, "epoch": self.epoch, "done": self.done}
        name = "steady.pt" if is_steady else "checkpoint.pt"
        torch.save({**state, **counts}, self._folder / name)

    def learn(self, pairs: Sequence[Pair], arrays: Arrays, rate: float) -> float:
        """One batch, at this share of the highest learning rate; the loss.

        The loss of a pair is that of all labels that it may have, taken together.
        """
        import torch

        values = [value for value in self.model.parameters() if value.requires_grad]
        allowed = np.full((len(pairs), _LABELS), -1e4, dtype=np.float32)
        for row, pair in enumerate(pairs):
            allowed[row, list(pair.labels)] = 0.0

        def of_part(part: int) -> tuple[float, tuple[Tensor, ...]]:
            chosen = [array[part::_PARTS] for array in (*arrays.values(), allowed)]
            *inputs, masked = (torch.from_numpy(np.ascontiguousarray(array)) for array in chosen)
            # Twice as fast where the processor multiplies such numbers, and as exact.
            with torch.autocast("cpu", torch.bfloat16):
                logits = self.model(*inputs).float()
            lost = torch.logsumexp(logits, 1) - torch.logsumexp(logits + masked, 1)
            loss = lost.sum() / len(pairs)
            return loss.item(), torch.autograd.grad(loss, values)

        parts = list(self._pool.map(of_part, range(min(_PARTS, len(pairs)))))
        for value, *slopes in zip(values, *(slopes for _, slopes in parts), strict=True):
            value.grad = sum(slopes)
        torch.nn.utils.clip_grad_norm_(values, 1.0)
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * max(rate, 0.01)
        self._optimizer.step()
        return sum(loss for loss, _ in parts)


def train(
    bench: Path,
    folder: Path,
    encode: Tokenizer,
    sets: Mapping[str, Claims],
    arguments: argparse.Namespace,
) -> None:
    """Train, or go on from the checkpoint, until the hours are over; write model.onnx."""
    run = Training(folder)
    people, paragraphs = labelled(bench / "grounding", held_out=False), texts(bench)
    total, saved, glanced = arguments.hours * 3600, run.spent, run.spent
    losses: list[float] = []
    while run.spent < total:
        pairs = _of_epoch(people, paragraphs, run.epoch)
        print(f"epoch {run.epoch}: {len(pairs)} pairs, {run.spent / 60:.0f} min", flush=True)
        waiting = batches(pairs, encode, random.Random(run.epoch))
        for places, arrays in itertools.islice(waiting, run.done, None):
            began_at, progress = time.monotonic(), run.spent / total
            rate = min(progress / _WARM_UP, (1 - progress) / _DECAY, 1.0)
            losses.append(run.learn([pairs[place] for place in places], arrays, rate))
            run.done += 1
            run.spent += time.monotonic() - began_at
            if run.spent - saved > _SAVE_EVERY_S or run.spent >= total:
                run.save(is_steady=progress <= 1 - _DECAY)
                loss, saved = float(np.mean(losses)), run.spent
                print(f"{saved / 60:.0f} min, batch {run.done}: loss {loss:.3f}", flush=True)
                losses.clear()
            if run.spent - glanced > arguments.glance * 60:
                glanced = run.spent
                _glance(run.model, encode, sets)
            if run.spent >= total:
                break
        else:
            run.epoch, run.done = run.epoch + 1, 0
    export(run.model, folder)


def _of_epoch(people: Sequence[Pair], paragraphs: Sequence[str], epoch: int) -> list[Pair]:
    rng = random.Random(epoch)
    chosen = [pair for pair in people if rng.random() < SHARES.get(pair.origin, 1.0)]
    return [*chosen, *made(people, paragraphs, _MADE_AN_EPOCH, epoch)]


def _glance(model: nn.Module, encode: Tokenizer, sets: Mapping[str, Claims]) -> None:
    """AUC of some claims of each set: does it still rise?"""
    import torch

    model.eval()
    aucs: dict[str, float] = {}
    for name in (*BENCHMARKS, *MEASURED):
        of = sets[name]
        chosen = np.random.default_rng(1).permutation(len(of.pairs))[:_GLANCE_CLAIMS].tolist()
        found = np.zeros(len(chosen))
        with torch.no_grad():
            for places, arrays in batches([of.pairs[place] for place in chosen], encode):
                logits = model(*(torch.from_numpy(array) for array in arrays.values()))
                found[places] = torch.softmax(logits, 1)[:, SUPPORTED].numpy()
        aucs[name] = area_under_curve(found.tolist(), of.labels[chosen].tolist())
    print(" ".join(f"{name} {auc:.3f}" for name, auc in aucs.items()))
    print(f"glance: benchmarks {np.mean([aucs[name] for name in BENCHMARKS]):.3f}", flush=True)


def export(model: nn.Module, folder: Path) -> None:
    """Write model.onnx: fused, with weights of 8 bits."""
    import torch
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    model.eval()
    model.encoder.config._attn_implementation = "eager"  # noqa: SLF001
    traced = torch.ones((2, 8), dtype=torch.int64)
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1]] * 2)
    axes = {0: "batch", 1: "sequence"}
    fp32, fused = folder / "fp32.onnx", folder / "fused.onnx"
    with torch.no_grad():
        torch.onnx.export(
            model,
            (traced, traced, types),
            str(fp32),
            input_names=list(model_graph.INPUTS),
            output_names=["logits"],
            dynamic_axes={**dict.fromkeys(model_graph.INPUTS, axes), "logits": {0: "batch"}},
            opset_version=model_graph.OPSET,
            dynamo=False,
        )
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False
    optimize_model(
        str(fp32),
        "bert",
        num_heads=model_graph.HEADS,
        hidden_size=model_graph.DIMENSIONS,
        optimization_options=options,
        opt_level=0,
    ).save_model_to_file(str(fused))
    model_graph.quantise(fused, folder / "model.onnx")


# --- figures ------------------------------------------------------------------------------------


def measure(folder: Path, encode: Tokenizer, sets: Mapping[str, Claims]) -> None:
    """Print the figures of model.onnx."""
    path = folder / "model.onnx"
    print(f"{path.stat().st_size / 1e6:.1f} MB, {_ms_a_claim(path, encode, sets):.1f} ms a claim")
    found = {name: _probabilities(path, of.pairs, encode) for name, of in sets.items()}
    np.savez(folder / "probabilities.npz", allow_pickle=False, **found)
    supports = {name: of[:, SUPPORTED] for name, of in found.items()}
    # Whether sources say nothing of a claim the checker knows better: this leaves the rest.
    apart = {
        name: of[:, SUPPORTED] / (of[:, SUPPORTED] + of[:, CONTRADICTED])
        for name, of in found.items()
    }
    shown = [*LEARNED, *MEASURED, *BENCHMARKS]
    methods = {
        "word overlap": {name: sets[name].overlap for name in shown},
        "checker": {name: sets[name].support for name in shown},
        "model": {name: supports[name] for name in shown},
        "together": _together(sets, supports),
        "without neither": _together(sets, apart),
    }
    report({name: _measured(sets[name]) for name in shown}, methods)
    for group in (BENCHMARKS, MEASURED):
        print(f"mean AUC of {', '.join(group)}:")
        for method, of in methods.items():
            print(f"  {method:<18}{np.mean([_auc(of[name], sets[name]) for name in group]):.3f}")
    for name in FOREIGN:
        for method, scores in (("checker", sets[name].support), ("model", supports[name])):
            print(f"{name:<20} AUC {_auc(scores, sets[name]):.3f} by {method}")
    _report_contradicted(sets, {name: of[:, CONTRADICTED] for name, of in found.items()})


def _together(sets: Mapping[str, Claims], scores: Mapping[str, Floats]) -> dict[str, Floats]:
    """The checker and the model, weighed by the claims held out of the sets learned from."""
    rows = {
        name: np.column_stack([_odds(of.support), _odds(scores[name])]) for name, of in sets.items()
    }
    both = fit(
        np.vstack([rows[name] for name in LEARNED]),
        np.concatenate([sets[name].labels for name in LEARNED]),
        np.concatenate([_balanced(sets[name].labels) for name in LEARNED]) / len(LEARNED),
        [1, 1],
    )
    print(f"together: checker {both.weights[0]:.2f}, model {both.weights[1]:.2f}")
    return {name: both.support(of) for name, of in rows.items()}


def _report_contradicted(sets: Mapping[str, Claims], scores: Mapping[str, Floats]) -> None:
    """How many changed facts are called contradicted, and how often rightly."""
    changed = ["summedits", "bump"]
    others = [name for name in (*LEARNED, *MEASURED) if name not in changed]
    joined = np.concatenate([scores[name] for name in others])
    false = np.concatenate([~sets[name].labels for name in others])
    weights = np.concatenate([_balanced(sets[name].labels) for name in others])
    bound = 1.0
    for candidate in np.linspace(0.3, 0.995, 140).tolist():
        told = joined >= candidate
        if told.any() and weights[told & false].sum() / weights[told].sum() >= _LEAST_RIGHT:
            bound = candidate
            break
    for name in changed:
        is_false = ~sets[name].labels
        order = np.argsort(-scores[name])
        right = np.cumsum(is_false[order]) / np.arange(1, len(order) + 1)
        for label, told in (
            (f"from {bound:.3f}, fitted to other sets", scores[name] >= bound),
            ("at its own best, .9 of them right", _first(order, right, 0.9)),
            ("at its own best, .8 of them right", _first(order, right, 0.8)),
        ):
            share = told[is_false].mean()
            precision = is_false[told].mean() if told.any() else 0.0
            print(f"{name}: {label}: {share:.3f} of false ones, {precision:.3f} of these right")


def _auc(scores: Floats, of: Claims) -> float:
    return area_under_curve(scores.tolist(), of.labels.tolist())


def _first(order: NDArray[np.intp], right: Floats, least: float) -> Flags:
    told = np.zeros(len(order), dtype=bool)
    places = np.flatnonzero(right >= least)
    told[order[: places[-1] + 1 if len(places) else 0]] = True
    return told


def _session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _probabilities(path: Path, pairs: Sequence[Pair], encode: Tokenizer) -> Floats:
    session = _session(path, 2)
    logits = np.zeros((len(pairs), _LABELS))
    for places, arrays in batches(pairs, encode):
        [found] = session.run(None, dict(arrays))
        logits[places] = np.asarray(found)
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _ms_a_claim(path: Path, encode: Tokenizer, sets: Mapping[str, Claims]) -> float:
    """The time on one thread, one claim after another, the tokenizer included."""
    session = _session(path, 1)
    pairs = [pair for name in BENCHMARKS for pair in sets[name].pairs[: _TIMED // len(BENCHMARKS)]]
    began_at = time.process_time()
    for pair in pairs:
        for _, arrays in batches([pair], encode):
            session.run(None, dict(arrays))
    return 1000 * (time.process_time() - began_at) / len(pairs)


def _measured(of: Claims) -> Measured:
    none = np.zeros((len(of.labels), 0))
    return Measured(none, of.labels, of.overlap, np.ones(len(of.labels), dtype=bool))


def _odds(probabilities: Floats) -> Floats:
    kept = np.clip(probabilities, 1e-4, 1 - 1e-4)
    return np.log(kept / (1 - kept))


def _balanced(labels: Flags) -> Floats:
    return np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())


if __name__ == "__main__":
    main()
