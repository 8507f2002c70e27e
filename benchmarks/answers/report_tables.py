"""The badges of sentences about the tables of annual reports, without a model.

Reads the reports in FILES (those of FinanceBench) as the app does, and checks each sentence of
report_tables.toml as a cited answer. Run: python benchmarks/answers/report_tables.py FILES
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag.answer.checking.answer_claims import claims_of
from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor

_RIGHT = {
    "is_true": {Verdict.SUPPORTED},
    "is_false": {Verdict.CONTRADICTED},
    "is_open": set(Verdict) - {Verdict.SUPPORTED, Verdict.CONTRADICTED},
}


def main() -> None:
    """Print each sentence whose badge is not what it should be, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path)
    files = parser.parse_args().files
    known = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    checker, counts = ClaimChecker(), Counter[tuple[str, Verdict]]()
    for passage in known["passages"]:
        source = _source(files / passage["file"], passage)
        for kind, right in _RIGHT.items():
            for sentence in passage.get(kind, ()):
                [claim] = claims_of(f"{sentence} [1]", [source], checker.check, Event())
                counts[kind, claim.verdict] += 1
                if claim.verdict not in right:
                    print(f"{kind} {claim.verdict.value}: {sentence}")
    for kind in _RIGHT:
        found = {verdict.value: n for (of, verdict), n in counts.items() if of == kind}
        print(kind, sum(found.values()), found)


def _source(path: Path, passage: dict[str, Any]) -> SourceRef:
    command = [sys.executable, "-m", "desktop_rag", "passages", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    texts = [
        row["text"]
        for row in map(json.loads, said.splitlines())
        if row.get("anchor", {}).get("page") == passage["page"]
    ]
    text = next(text for text in texts if passage["place"] in text)
    place = Anchor(page=passage["page"])
    return SourceRef(1, "d", str(path), path.stem, place, text, 1.0)


if __name__ == "__main__":
    main()
