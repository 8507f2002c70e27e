import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.parsed import PageWish
from desktop_rag.core.pictures import PictureText
from desktop_rag.ingest.parsing import parser_process
from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess, ParserUnavailable
from desktop_rag.ingest.parsing.protocol import Limits, PictureWish
from tests.unit.ingest.read.pdf_samples import make_scan
from tests.unit.ingest.read.samples import make_docx, make_pdf, paragraph

# A parser process that does as the name of the file says.
ODD_CHILD = """
import json, os, pathlib, subprocess, sys, threading

def raw(content):
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()

def send(message):
    body = json.dumps(message, separators=(",", ":")).encode()
    raw(len(body).to_bytes(4, "big") + body)

def done(**message):
    send({"done": {"format": "text", "title": str(os.getpid()), "warnings": []}, **message})

send({"ready": True})
for line in sys.stdin:
    request = json.loads(line)
    name = pathlib.Path(request["path"] or "").name
"""

Build = Callable[..., ParserProcess]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Builds parser processes, by default the real one; `acts` is the body of an odd child."""
    built: list[ParserProcess] = []

    def make(acts: str = "", **limits: float) -> ParserProcess:
        command = None
        if acts:
            script = tmp_path / "child.py"
            indented = "".join(f"    {line}\n" for line in acts.split("\n"))
            script.write_text(ODD_CHILD + indented)
            command = [sys.executable, str(script)]
        # Time for a busy machine to start Python, none to wait for what never comes.
        built.append(ParserProcess(command, Limits(**{"base_s": 20.0, **limits})))  # type: ignore[arg-type]
        return built[-1]

    yield make
    for process in built:
        process.close()


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text("# Title\n\nsome words\n")
    return path


def failure(process: ParserProcess, path: Path) -> ParseFailed:
    with pytest.raises(ParseFailed) as caught:
        process.parse(path)
    return caught.value


def test_a_file_is_read(build: Build, note: Path) -> None:
    document = build().parse(note)
    assert (document.format, document.title) == ("Markdown", "Title")
    assert document.text == note.read_text()
    assert document.marks[1].anchor.line == 3


def test_a_long_document_arrives_whole(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("paragraph é\n\n" * 100_000, encoding="utf-8")
    document = build().parse(path)
    assert document.text == path.read_text(encoding="utf-8")
    assert document.marks[-1].offset > 1_290_000


@pytest.mark.parametrize(
    ("name", "content", "refusal"),
    [
        ("a.txt", b"", ("empty", "Empty file")),
        ("a.pdf", make_pdf([""]), ("no text", "No text found")),
        ("a.pptx", b"7z\xbc\xaf\x27\x1c\0", ("unsupported", "Not supported: archive")),
        ("a.docx", make_docx(paragraph("x"))[:300], ("damaged", "The file is damaged")),
    ],
)
def test_a_reason_is_given_and_the_next_file_is_read(
    build: Build, note: Path, name: str, content: bytes, refusal: tuple[str, str]
) -> None:
    path = note.with_name(name)
    path.write_bytes(content)
    process = build()
    failed = failure(process, path)
    assert (failed.reason, failed.title) == refusal
    assert process.parse(note).title == "Title"


def test_what_is_no_file_is_refused(build: Build, tmp_path: Path, note: Path) -> None:
    process = build(base_s=10.0)
    assert failure(process, tmp_path / "none.txt").reason == "missing"
    assert failure(process, tmp_path).reason in {"not a file", "no access"}
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.txt")
        assert failure(process, tmp_path / "pipe.txt").reason == "not a file"
    assert process.parse(note).title == "Title"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_unicode_is_read(build: Build, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9 \xff.txt")
    path.write_text("words")
    assert build().parse(path).title == "caf� �"


def test_p09_a_hanging_child_is_ended_with_all_it_started(build: Build, tmp_path: Path) -> None:
    acts = """if name == "hang":
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    pathlib.Path(request["path"]).write_text(str(started.pid))
    threading.Event().wait()
done(text="words")"""
    process = build(acts, base_s=3.0)
    failed = failure(process, tmp_path / "hang")
    assert failed.reason == "timeout"
    pid = int((tmp_path / "hang").read_text())
    if psutil.pid_exists(pid):
        started = psutil.Process(pid)
        # Whoever inherited it may be slow to take note of its end.
        assert started.status() == psutil.STATUS_ZOMBIE or not psutil.wait_procs([started], 5)[1]
    assert process.parse(tmp_path / "good").text == "words"


def test_a_crash_fails_the_file_only(build: Build, tmp_path: Path) -> None:
    process = build('if name != "good":\n    os.abort()\ndone(text="words")')
    # Neither a file that crashes again nor others after a good one cast doubt on the parser.
    for names in (("crash", "crash", "crash"), ("other", "third")):
        for name in names:
            failed = failure(process, tmp_path / name)
            assert failed.reason == "crashed"
            if sys.platform != "win32":
                assert signal.SIGABRT.name in failed.hint
        assert process.parse(tmp_path / "good").text == "words"


def test_after_a_crash_a_pdf_is_asked_for_once_more(build: Build, tmp_path: Path) -> None:
    acts = """send({"started": "PDF"})
if name == "bad" or not request["is_safe"]:
    os.abort()
done(text="slowly read")"""
    process = build(acts)
    assert process.parse(tmp_path / "a.pdf").text == "slowly read"
    assert failure(process, tmp_path / "bad").reason == "crashed"


@pytest.mark.parametrize(
    "babble",
    [
        'raw((2**31).to_bytes(4, "big") + b"x" * 1000)',
        'raw(b"\\0\\0\\0\\0")',
        'raw(b"\\0\\0\\0\\5hello")',
        'raw(b"\\x80\\x04\\x95 a pickle" * 1000)',
        "send([1, 2])",
        'send({"done": 7})',
        'send({"error": "x", "kind": "damaged"})',
        'send({"error": {"title": "x", "hint": ""}, "kind": "whim"})',
        'send({"marks": [[0, {"nonsense": 1}]]})',
        'while True: send({"text": "x" * 40000})',
        "while True: print('noise' * 1000)",
        "sys.stdout.close(); os.close(1); threading.Event().wait()",
    ],
)
def test_p10_a_babbling_child_is_ended(build: Build, tmp_path: Path, babble: str) -> None:
    process = build(f'if name == "bad":\n    {babble}\ndone(text="words")', text_chars=1_000_000)
    assert failure(process, tmp_path / "bad").reason == "crashed"
    assert process.parse(tmp_path / "good").text == "words"


def test_a_child_that_takes_too_much_memory_is_ended(build: Build, tmp_path: Path) -> None:
    acts = 'if name == "big":\n    kept = b"x" * 400_000_000\n    threading.Event().wait()\ndone()'
    process = build(acts, memory_bytes=200_000_000)
    assert failure(process, tmp_path / "big").reason == "too large"
    assert process.parse(tmp_path / "good").format == "text"


def test_cancelling_ends_the_work_at_once(build: Build, tmp_path: Path) -> None:
    process = build('if name == "slow":\n    threading.Event().wait()\ndone(text="words")')
    cancel = threading.Event()
    timer = threading.Timer(0.5, cancel.set)
    timer.start()
    with pytest.raises(Cancelled):
        process.parse(tmp_path / "slow", cancel=cancel)
    timer.join()
    assert process.parse(tmp_path / "good").text == "words"


def test_a_process_is_used_for_so_many_files(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "MOST_FILES_PER_PROCESS", 5)
    process = build("done()")
    pids = [process.parse(tmp_path / "x").title for _ in range(6)]
    assert len(set(pids[:-1])) == 1
    assert pids[-1] != pids[0]
    assert not psutil.pid_exists(int(pids[0]))


@pytest.mark.parametrize(("grown_bytes", "processes"), [(1, 2), (1 << 40, 1)])
def test_a_process_that_has_grown_is_replaced(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown_bytes: int, processes: int
) -> None:
    monkeypatch.setattr(parser_process, "FILES_PER_PROCESS", 3)
    monkeypatch.setattr(parser_process, "GROWN_BYTES", grown_bytes)
    process = build("done()")
    assert len({process.parse(tmp_path / "x").title for _ in range(5)}) == processes


def test_a_process_that_ended_between_files_is_no_file_s_fault(
    build: Build, tmp_path: Path
) -> None:
    process = build("done()")
    first = psutil.Process(int(process.parse(tmp_path / "x").title))
    first.kill()
    first.wait(10)
    assert process.parse(tmp_path / "x").title != str(first.pid)


def test_closing_ends_the_process(build: Build, tmp_path: Path) -> None:
    process = build("done()")
    pid = int(process.parse(tmp_path / "x").title)
    process.close()
    process.close()
    assert not psutil.pid_exists(pid)


def test_three_bad_files_in_a_row_do_not_cost_the_good_one_after_them(
    build: Build, tmp_path: Path
) -> None:
    process = build('if name.startswith("bad"):\n    os.abort()\ndone(text="words")')
    for name in ("bad1", "bad2", "bad3"):
        assert failure(process, tmp_path / name).reason == "crashed"
    assert process.parse(tmp_path / "good").text == "words"


def test_a_parser_that_fails_without_files_too_is_unwell(build: Build, tmp_path: Path) -> None:
    process = build("os.abort()")
    for _ in range(2):
        failure(process, tmp_path / "one")
        failure(process, tmp_path / "two")
        with pytest.raises(ParserUnavailable) as caught:
            process.parse(tmp_path / "three")
        assert caught.value.title == "Reading files keeps failing."
        assert caught.value.hint.startswith("The file crashes its reader.")


def test_a_file_that_takes_too_long_casts_doubt_too(build: Build, tmp_path: Path) -> None:
    process = build('if name == "hang":\n    threading.Event().wait()\nos.abort()', base_s=3.0)
    assert failure(process, tmp_path / "hang").reason == "timeout"
    assert failure(process, tmp_path / "crash").reason == "crashed"
    with pytest.raises(ParserUnavailable):
        process.parse(tmp_path / "another")


def test_neither_a_cancelled_nor_a_refused_file_casts_doubt(build: Build, tmp_path: Path) -> None:
    acts = """if name == "slow":
    threading.Event().wait()
if name == "refused":
    send({"error": {"title": "Empty file", "hint": ""}, "kind": "empty", "is_last": False})
    continue
os.abort()"""
    process = build(acts)
    (cancel := threading.Event()).set()
    for name in ("first", "second"):
        assert failure(process, tmp_path / name).reason == "crashed"
        with pytest.raises(Cancelled):
            process.parse(tmp_path / "slow", cancel=cancel)
    assert failure(process, tmp_path / "refused").reason == "empty"
    assert failure(process, tmp_path / "third").reason == "crashed"


def test_each_page_read_from_its_picture_gives_more_time(build: Build, tmp_path: Path) -> None:
    acts = """for _ in range(6):
    threading.Event().wait(0.4)
    send({"page_read": ["#1", ["", ""]]})
if name == "slow":
    threading.Event().wait()
done(text="words")"""
    process = build(acts, base_s=1.0, ocr_page_s=1.0)
    assert process.parse(tmp_path / "scan").text == "words"
    assert failure(process, tmp_path / "slow").reason == "timeout"
    hasty = build(acts, base_s=1.0, ocr_page_s=1.0, ocr_pages=1)
    assert failure(hasty, tmp_path / "scan").reason == "timeout"


def test_each_picture_is_told_as_soon_as_it_is_read(build: Build, tmp_path: Path) -> None:
    acts = """send({"page_read": ["#1", ["a\\0b", ""]]})
send({"page_read": ["#2", ["", "Error"]]})
done(text="words")"""
    told: list[tuple[str, PictureText]] = []
    wish = PictureWish(learned=lambda place, text: told.append((place, text)))
    build(acts).parse(tmp_path / "scan", pictures=wish)
    assert told == [
        ("#1", PictureText("a\N{REPLACEMENT CHARACTER}b")),
        ("#2", PictureText("", "Error")),
    ]


@pytest.mark.parametrize("message", ["true", "[]", '["#1", "ab"]', '["#1", [1, 2]]', "[3, [1, 2]]"])
def test_what_is_no_text_of_a_picture_is_refused(
    build: Build, tmp_path: Path, message: str
) -> None:
    process = build(f"send({{'page_read': json.loads('{message}')}})\ndone()")
    assert failure(process, tmp_path / "scan").reason == "crashed"


def test_who_is_told_of_a_picture_can_end_the_reading(build: Build, tmp_path: Path) -> None:
    def stop(_place: str, _text: PictureText) -> None:
        raise Cancelled

    process = build('send({"page_read": ["#1", ["", ""]]})\nthreading.Event().wait()')
    with pytest.raises(Cancelled):
        process.parse(tmp_path / "scan", pictures=PictureWish(learned=stop))


def test_pictures_that_are_left_are_counted(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    scan = make_scan([(40, 40, bytes(4800))] * 3)
    path.write_bytes(scan)
    process = build()
    if not process.reads_pictures:
        pytest.skip("the extra `ocr` is not installed")
    known = {"#2": PictureText("second page")}
    read = process.parse(path, pictures=PictureWish(known, only_known=True))
    assert (read.text.strip(), read.pictures_left) == ("second page", 2)
    assert read.marks[1].anchor.page == 2
    with pytest.raises(ParseFailed) as caught:
        process.parse(path, pictures=PictureWish(only_known=True))
    assert (caught.value.reason, caught.value.pictures_left) == ("no text", 3)


def test_a_page_is_shown_with_the_quote_on_it(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf(["first", "second page\nwith words"]))
    process = build()
    view = process.view_page(path, PageWish(2, 5000, "with words"))
    assert (view.page, view.page_count, view.width_px) == (2, 2, 2000)
    assert view.png.startswith(b"\x89PNG")
    assert len(view.boxes) == 1
    assert process.parse(path).text.startswith("first")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", make_pdf(["only"]), "missing"),
        ("a.pdf", make_pdf(["only"])[:300], "damaged"),
        ("a.txt", b"no pages", "unsupported"),
    ],
)
def test_a_page_that_is_not_there_is_a_reason(
    build: Build, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    process = build()
    with pytest.raises(ParseFailed) as caught:
        process.view_page(path, PageWish(2, 800))
    assert caught.value.reason == reason
    with pytest.raises(ParseFailed):
        process.view_page(path, PageWish(2, 800))


@pytest.mark.parametrize(
    "command", [["no-such-program"], [sys.executable, "-c", ""], [sys.executable, "-c", "print(1)"]]
)
def test_a_process_that_cannot_start_is_not_the_file_s_fault(
    command: list[str], note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "_START_PAUSES_S", (0.01,))
    process = ParserProcess(command)
    with pytest.raises(ParserUnavailable, match="does not start"):
        process.parse(note)
    process.close()


def test_r32_a_process_that_is_killed_while_it_starts_is_started_again(
    tmp_path: Path, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "_START_PAUSES_S", (0.01, 0.01))
    starts = tmp_path / "starts"
    script = tmp_path / "child.py"
    script.write_text(
        f"""
import os, pathlib, runpy, signal
starts = pathlib.Path({str(starts)!r})
starts.open("a").write("x")
if len(starts.read_text()) < 3:
    os.kill(os.getpid(), signal.SIGKILL)
runpy.run_module({parser_process.worker_command()[-1]!r}, run_name="__main__")
"""
    )
    process = ParserProcess([sys.executable, str(script)])
    assert "some words" in process.parse(note).text
    assert starts.read_text() == "xxx"
    process.close()


def test_a_start_that_is_cancelled_is_not_tried_again(note: Path) -> None:
    (cancel := threading.Event()).set()
    with pytest.raises(Cancelled):
        ParserProcess([sys.executable, "-c", ""]).parse(note, cancel=cancel)
