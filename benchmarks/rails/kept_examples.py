"""The first sentence after a start, with the vectors of ten thousand examples kept and not kept.

Usage: kept_examples.py EXAMPLES_JSONL. The model runs on one core.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse
import tempfile
import time
from pathlib import Path

from desktop_rag.features.evaluation.measures.intents import load_sentences
from desktop_rag.features.rails.intent.intent_recognition import IntentRecogniser
from desktop_rag.models.embedding.joined_embedding import bundled_opener, rail_embeddings


def main() -> None:
    """Print the seconds of the first and of the second start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    examples = load_sentences(parser.parse_args().examples)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "vectors.bin")
        for start in ("nothing kept", "kept"):
            began_at = time.monotonic()
            embed, embed_examples = rail_embeddings(kept, bundled_opener(threads=1))
            found = IntentRecogniser(examples, embed, embed_examples).recognise("Where is it?")
            seconds = time.monotonic() - began_at
            size_mb = kept.stat().st_size / 1e6
            print(f"{start}: {seconds:.1f} s, {size_mb:.1f} MB, {found.intent} {found.score:.3f}")


if __name__ == "__main__":
    main()
