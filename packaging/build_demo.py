"""Rebuilds the PDF, DOCX and XLSX files of the demo library from the texts in demo_sources/.
Run by hand after changing a source; needs the extra `demo`. The same sources give the same bytes.
"""

import argparse
import tomllib
from pathlib import Path

from demo_blocks import read_blocks
from demo_office import write_docx, write_xlsx
from demo_pdf import write_pdf

SOURCES = Path(__file__).parent / "demo_sources"
DOCUMENTS = Path(__file__).parents[1] / "resources" / "demo" / "documents"
AUTHOR = "Marram Head Lighthouse Cooperative"

# The target of each file. Markdown, HTML, CSV and TXT documents are their own source.
TARGETS = (
    "handbook/volunteer-handbook-2026.pdf",
    "records/lantern-survey-2025.pdf",
    "handbook/emergency-plan.docx",
    "governance/rules.docx",
    "money/workbook-2026.xlsx",
)


def build(folder: Path) -> list[Path]:
    """Write every generated document below `folder`; returns the paths."""
    return [_build_one(folder / target) for target in TARGETS]


def _build_one(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".xlsx":
        source = (SOURCES / f"{path.stem}.toml").read_text(encoding="utf-8")
        write_xlsx(path, tomllib.loads(source), AUTHOR)
        return path
    blocks = read_blocks((SOURCES / f"{path.stem}.md").read_text(encoding="utf-8"))
    write = write_pdf if path.suffix == ".pdf" else write_docx
    write(path, blocks, AUTHOR)
    return path


def main() -> None:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DOCUMENTS, help="folder to write to")
    for path in build(parser.parse_args().out):
        print(f"{path.stat().st_size:>8,}  {path}")


if __name__ == "__main__":
    main()
