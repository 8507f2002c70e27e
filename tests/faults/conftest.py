"""The real parser process, and fixtures that give it a poison file and then a good one."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from tests.faults.outcomes import LIMIT_S, Read, read_one
from tests.faults.system_calls import SystemCalls


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParserProcess]:
    """One process for all files that should not crash it."""
    process = ParserProcess(limits=Limits(base_s=LIMIT_S))
    _start(process, tmp_path_factory.mktemp("first"))
    yield process
    process.close()


def _start(process: ParserProcess, folder: Path) -> None:
    """Before the tests, which are checked for threads of their own."""
    first = folder / "first.txt"
    first.write_text("first words")
    process.parse(first)


@pytest.fixture
def read(parser: ParserProcess, tmp_path: Path) -> Iterator[Read]:
    """Reads a poison file, then a good one in the same parser; returns the first outcome."""
    known = set(threading.enumerate())
    yield partial(read_one, parser, tmp_path)
    if set(threading.enumerate()) - known:
        parser.close()


@pytest.fixture
def read_alone(tmp_path: Path) -> Iterator[Read]:
    """The same with a process of its own, which may crash."""
    process = ParserProcess(limits=Limits(base_s=LIMIT_S))
    yield partial(read_one, process, tmp_path)
    process.close()


@pytest.fixture(scope="module")
def traced_parser(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ParserProcess, SystemCalls]]:
    """A parser process whose system calls are written down."""
    calls = SystemCalls(tmp_path_factory.mktemp("trace") / "calls.log")
    process = ParserProcess(
        calls.command(["-m", "desktop_rag", "--worker"]), limits=Limits(base_s=LIMIT_S)
    )
    _start(process, tmp_path_factory.mktemp("first"))
    yield process, calls
    process.close()


@pytest.fixture
def read_traced(
    traced_parser: tuple[ParserProcess, SystemCalls], tmp_path: Path
) -> Iterator[tuple[Read, SystemCalls]]:
    """Reads as `read` does, with all that the parser process asks the system for."""
    process, calls = traced_parser
    known = set(threading.enumerate())
    calls.leave_out_earlier()
    yield partial(read_one, process, tmp_path), calls
    if set(threading.enumerate()) - known:
        process.close()
