"""Writes resources/claims/frequent_words.txt: frequent English words, most frequent first.

python training/frequent_words.py

The list contains the whole words in the vocabulary of the bundled model (Apache-2.0), which is
sorted by frequency in its training data of Wikipedia and books.
"""

import json
import re

from desktop_rag.core.paths import resources_dir

WORDS = 8_000
_MODEL = "all-MiniLM-L6-v2"
_WORD = re.compile("[a-z]{2,}")


def main() -> None:
    """Write the list."""
    path = resources_dir() / "models" / _MODEL / "tokenizer.json"
    vocabulary: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"]
    # The entries before the first word are punctuation and letters in Unicode order.
    first = vocabulary["the"]
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)[first:]
    words = [piece for piece in pieces if _WORD.fullmatch(piece)][:WORDS]
    written = "".join(f"{word}\n" for word in words)
    (resources_dir() / "claims" / "frequent_words.txt").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
