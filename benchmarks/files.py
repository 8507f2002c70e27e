"""Does every file end well? Indexes a large set of real and hostile files through the real library.

    python benchmarks/files.py [--shared ../shared] [--only NAME …] [--without-financebench]
        [--only-reasons]

Everything goes through the same library, parser process and store as in the app, by words only.
Prints one `name: figure (bar …)` a line and ends with exit code 1 when a bar is missed:

- every file is in a final state, nothing goes wrong in the parent process, and no file is called
  searchable that has no text;
- word recall: the share of the word occurrences of a reference text (docling's, letters folded)
  that are in the extracted text, each as often as it is there. The markup of the reference is taken
  off: addresses of links, commands of formulas, the midnight behind a bare date, and the copies of
  a merged cell beside or below it; seconds of a time, and values of a chart that stand in cells. A
  file that gave no text counts with 0. Bars: .95 in the median, .90 for each format with 3 files or
  more, .99 of all words with a digit in files that gave a text;
- financebench: a question counts as found if for each of its evidence texts, tables mostly, the
  page it was taken from holds at least 90 % of its word occurrences in the index, and no other page
  of that file holds more. Some of the evidence has lost its spaces: such a word counts if its
  letters stand on the page one after the other;
- hostile files: what must happen with each, and a good file is read after each of them;
- reasons: read in three shuffled orders, every file has the same outcome, and one that fits what
  the manifest says of it; garbage: no text that is of no language is stored without a mark.
"""

import argparse
import json
import logging
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
from file_reasons import differing, garbage, read_in_orders, wrong_reasons
from hostile_files import EXPECTED, FINAL, FOUND, anything, good_file_fails_after
from word_recall import Page, share_found, without_markup, words

from desktop_rag import app
from desktop_rag.core.domain import Document
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import IndexSettings, Settings
from desktop_rag.ingest.library import Library

_SHARED = Path(__file__).parents[2] / "shared"
_TIMEOUT_S = 3600.0
_SAMPLE_S = 0.05
_MEMORY_MB = 1024
_MEDIAN_RECALL, _FORMAT_RECALL, _FORMAT_FILES, _NUMBER_RECALL = 0.95, 0.90, 3, 0.99
_PAGE_RECALL, _EVIDENCE_SHARE = 0.90, 0.95
_SHOWN_REASONS = 4


def main() -> int:
    """Parse the arguments, index, judge; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=_SHARED)
    parser.add_argument("--only", nargs="*", default=[], help="folders of files/, e.g. tika poi")
    parser.add_argument("--without-financebench", action="store_true")
    parser.add_argument("--only-reasons", action="store_true", help="reasons and garbage alone")
    arguments = parser.parse_args()
    shared = arguments.shared.absolute()
    manifests = (shared / "files").glob("*/manifest.jsonl")
    names = arguments.only or sorted(path.parent.name for path in manifests)
    roots = [shared / "files" / name / "files" for name in names]
    bench = None if arguments.without_financebench else shared / "bench" / "financebench"
    report = Report()
    report.reasons([shared / "files" / name for name in names])
    if arguments.only_reasons:
        return 1 if report.missed else 0
    with tempfile.TemporaryDirectory() as scratch, watched_logs() as errors:
        run = index(Home(Path(scratch) / "home"), [*roots, *([bench / "files"] if bench else [])])
        try:
            report.share_of_files(run, roots, errors)
            if "docling" in names:
                report.recall(run, shared / "files" / "docling")
            if "hostile" in names:
                report.hostile(run, roots[names.index("hostile")], Path(scratch))
            if bench:
                report.financebench(run, bench)
        finally:
            run.services.close()
    return 1 if report.missed else 0


# --- indexing ----------------------------------------------------------------------------------


class watched_logs(logging.Handler):  # noqa: N801  a context manager that reads like one
    """Error records of the parent process, as one line each."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def __enter__(self) -> list[str]:
        logging.getLogger().addHandler(self)
        self._hook, threading.excepthook = threading.excepthook, self._on_exception
        return self.lines

    def __exit__(self, *_: object) -> None:
        threading.excepthook = self._hook
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """An error was logged."""
        cause = record.exc_info[1] if record.exc_info else ""
        self.lines.append(f"{record.getMessage()} {cause!r}")

    def _on_exception(self, arguments: threading.ExceptHookArgs) -> None:
        self.lines.append(f"a thread ended with {arguments.exc_value!r}")


@dataclass
class Run:
    """One indexing run: the open services and the observations."""

    services: app.Services
    seconds: float = 0.0
    memory_mb: float = 0.0
    seconds_of: dict[str, float] = field(default_factory=dict)

    @property
    def library(self) -> Library:
        """The library."""
        return self.services.library

    def files(self, root: Path) -> list[Document]:
        """The rows of the files below a folder, without their parts."""
        return [
            document
            for document in self.library.documents.all()
            if not document.parent_id and document.path.is_relative_to(root)
        ]

    def text(self, document: Document) -> str:
        """The text of a file with that of all its parts."""
        parts = (d for d in self.library.documents.all() if d.parent_id == document.document_id)
        return "\n".join(self.library.documents.text(d.document_id) for d in (document, *parts))


def index(home: Home, roots: Iterable[Path]) -> Run:
    """Index the folders; the services stay open."""
    home.create()
    # No model: only reading is measured.
    no_model = IndexSettings(model_folder=str(home.root / "no model"))
    save_settings(home.settings, replace(Settings(), index=no_model))
    run = Run(app.build_services(home))
    is_done = threading.Event()
    sampler = threading.Thread(target=sample, args=(run, is_done), name="sampler")
    sampler.start()
    began_at = time.monotonic()
    for root in roots:
        run.library.sources.add(root)
    run.library.start(watch=False)
    is_quiet = run.library.indexing.wait_until_idle(_TIMEOUT_S)
    run.seconds = time.monotonic() - began_at
    is_done.set()
    sampler.join()
    if not is_quiet:
        print(f"gave up after {_TIMEOUT_S:,.0f} s")
    return run


def sample(run: Run, is_done: threading.Event) -> None:
    """Sample the memory of the parser process and the current file."""
    parent = psutil.Process()
    before = time.monotonic()
    while not is_done.wait(_SAMPLE_S):
        now = time.monotonic()
        name = run.library.indexing.progress().current_file
        run.seconds_of[name] = run.seconds_of.get(name, 0.0) + now - before
        before = now
        for child in parent.children():
            try:
                run.memory_mb = max(run.memory_mb, child.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue


# --- judging -----------------------------------------------------------------------------------


class Report:
    """Prints figures with their bars and remembers the missed ones."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def say(self, name: str, figure: object, bar: str = "", *, is_met: bool = True) -> None:
        """One line; a missed bar is marked."""
        if not is_met:
            self.missed.append(name)
        print(f"{name}: {figure}" + (f" (bar {bar}{'' if is_met else ', MISSED'})" if bar else ""))
        sys.stdout.flush()

    def reasons(self, folders: list[Path]) -> None:
        """Outcomes in three orders against the manifests, and text that is no language."""
        runs = read_in_orders(p for f in folders for p in (f / "files").rglob("*") if p.is_file())
        differ = differing(runs)
        self.say("files whose outcome depends on the order", len(differ), "0", is_met=not differ)
        wrong = [line for folder in folders for line in wrong_reasons(folder, runs[0])]
        self.say("reasons that do not fit the manifest", len(wrong), "0", is_met=not wrong)
        marked, unmarked = garbage(runs[0])
        self.say("documents of garbage, marked", len(marked))
        self.say("documents of garbage, unmarked", len(unmarked), "0", is_met=not unmarked)
        for line in (*differ, *wrong, *unmarked):
            print("   ", line)

    def share_of_files(self, run: Run, roots: list[Path], errors: list[str]) -> None:
        """Final states, crashes, empty texts, times."""
        files = [document for root in roots for document in run.files(root)]
        on_disk = sum(path.is_file() for root in roots for path in root.rglob("*"))
        final = sum(document.state in FINAL for document in files)
        empty = [
            document.path.name
            for document in run.library.documents.all()
            if document.state in FOUND
            and not run.library.documents.text(document.document_id).strip()
        ]
        self.say("files", f"{len(files):,} of {on_disk:,} on the disk")
        share = final / max(on_disk, 1)
        self.say("share in a final state", f"{share:.2%}", "100 %", is_met=final == on_disk)
        self.say("errors in the parent", len(errors), "0", is_met=not errors)
        for line in errors[:10]:
            print("   ", line[:300])
        self.say("searchable without text", len(empty), "0", is_met=not empty)
        for name in empty[:10]:
            print("   ", name)
        self.say("wall time", f"{run.seconds:.1f} s")
        name, seconds = max(run.seconds_of.items(), key=lambda item: item[1], default=("", 0.0))
        self.say("longest file", f"{seconds:.1f} s, {name}")
        is_within = run.memory_mb <= _MEMORY_MB * 1.1
        self.say(
            "memory of the parser process", f"{run.memory_mb:,.0f} MB", "1,024", is_met=is_within
        )
        self._by_format(files)

    def _by_format(self, files: list[Document]) -> None:
        kinds: dict[str, Counter[str]] = defaultdict(Counter)
        reasons: dict[str, Counter[str]] = defaultdict(Counter)
        for document in files:
            suffix = document.path.suffix.lower() or "no suffix"
            is_found = document.state in FOUND
            kinds[suffix]["searchable" if is_found else document.state.value] += 1
            if not is_found:
                reasons[suffix][document.reason] += 1
        for suffix, counts in sorted(kinds.items()):
            shown = ", ".join(f"{count} {state}" for state, count in counts.most_common())
            why = reasons[suffix].most_common(_SHOWN_REASONS)
            print(f"    {suffix}: {shown}", *(f"[{count}× {reason}]" for reason, count in why))

    def recall(self, run: Run, folder: Path) -> None:
        """Word recall against the reference texts."""
        known = {document.path: document for document in run.files(folder)}
        of_format: dict[str, list[tuple[float, str]]] = defaultdict(list)
        numbers, lost = 0, 0
        for line in (folder / "truth.jsonl").read_text("utf-8").splitlines():
            truth = json.loads(line)
            path = folder / truth["file"]
            wanted = words(without_markup(truth["markdown"]))
            if path not in known or not wanted:
                continue
            found = words(run.text(known[path])) if known[path].state in FOUND else Counter()
            of_format[path.suffix].append((share_found(wanted, found), path.name))
            figures = Counter({w: n for w, n in wanted.items() if not w.isalpha()} if found else {})
            numbers, lost = numbers + figures.total(), lost + (figures - found).total()
        every = [figure for figures in of_format.values() for figure, _ in figures]
        median = statistics.median(every)
        self.say("word recall, median", f"{median:.3f}", "≥ .95", is_met=median >= _MEDIAN_RECALL)
        share = 1 - lost / numbers
        shown = f"{share:.4f} of {numbers:,}"
        self.say("numbers that are read", shown, "≥ .99", is_met=share >= _NUMBER_RECALL)
        for suffix, figures in sorted(of_format.items()):
            mean = statistics.mean(figure for figure, _ in figures)
            is_judged = len(figures) >= _FORMAT_FILES
            name = f"word recall, {suffix} ({len(figures)} files)"
            bar = "≥ .90" if is_judged else ""
            self.say(name, f"{mean:.3f}", bar, is_met=mean >= _FORMAT_RECALL or not is_judged)
            for figure, file in sorted(figures):
                if figure < _FORMAT_RECALL:
                    print(f"    {figure:.3f} {file}")

    def financebench(self, run: Run, folder: Path) -> None:
        """Evidence on exactly its page."""
        known = {document.path.name: document for document in run.files(folder)}
        pages = {name: pages_of(run.library, document) for name, document in known.items()}
        questions: dict[str, bool] = {}
        for line in (folder / "evidence.jsonl").read_text("utf-8").splitlines():
            evidence = json.loads(line)
            page = evidence["page0"] + 1
            is_found = is_on_page(words(evidence["text"]), pages.get(evidence["file"], {}), page)
            if not is_found:
                print(f"    not on page {page} of {evidence['file']}: {evidence['query']}")
            question = evidence["query"]
            questions[question] = questions.get(question, True) and is_found
        share = sum(questions.values()) / len(questions)
        shown = f"{share:.3f} of {len(questions)} questions"
        is_met = share >= _EVIDENCE_SHARE
        self.say("financebench evidence on its page", shown, "≥ .95", is_met=is_met)

    def hostile(self, run: Run, folder: Path, scratch: Path) -> None:
        """The expected result of each hostile file, and of the good one after it."""
        known = {document.path.name: document for document in run.files(folder)}
        wrong: list[str] = []
        for path in sorted(folder.iterdir()):
            document = known.get(path.name)
            text = run.text(document) if document and document.state in FOUND else ""
            if document is None or not EXPECTED.get(path.name, anything)(text, document.state):
                state = f"{document.state}: {document.reason}" if document else "not seen"
                wrong.append(f"{path.name}: {state}, text {text[:80]!r}")
        right = f"{len(known) - len(wrong)} of {len(known)}"
        self.say("hostile files taken as they must be", right, "all", is_met=not wrong)
        for line in wrong:
            print("   ", line)
        failed = good_file_fails_after(folder, scratch)
        self.say("good files lost after a hostile one", len(failed), "0", is_met=not failed)


def pages_of(library: Library, document: Document) -> dict[int, Page]:
    """Each page (from 1), joined from its overlapping chunks."""
    text = library.documents.text(document.document_id)
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for chunk in library.documents.chunks(document.document_id):
        if chunk.anchor.page is not None:
            spans[chunk.anchor.page].append((chunk.start, chunk.end))
    pages: dict[int, Page] = {}
    for page, found in spans.items():
        covered, end = [], 0
        for start, stop in sorted(found):
            covered.append(text[max(start, end) : stop])
            end = max(end, stop)
        pages[page] = Page.of(" ".join(covered))
    return pages


def is_on_page(wanted: Counter[str], pages: dict[int, Page], page: int) -> bool:
    """True when the page holds nearly all of the words, and no other page holds more of them."""
    shares = {number: found.share_of(wanted) for number, found in pages.items()}
    here = shares.get(page, 0.0)
    return here >= _PAGE_RECALL and here == max(shares.values())


if __name__ == "__main__":
    sys.exit(main())
