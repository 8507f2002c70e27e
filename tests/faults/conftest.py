"""The real parser process, and fixtures that give it a poison file and then a good one."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from tests.faults.outcomes import LIMIT_S, Read, read_one


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParserProcess]:
    """One process for all files that should not crash it."""
    process = ParserProcess(limits=Limits(base_s=LIMIT_S))
    first = tmp_path_factory.mktemp("first") / "first.txt"
    first.write_text("first words")
    process.parse(first)
    yield process
    process.close()


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
