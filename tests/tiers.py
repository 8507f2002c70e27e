"""Two tiers of tests by what they cost: `make test` leaves out those marked `slow`.

A test is slow if it uses something that takes processor time, a fixture or an import listed here,
or if it asks for more time than others have. Others are marked `slow`: a test, a file or a
parameter. One story of every feature is marked `everyday` and stays in the fast tier all the same.
`make test` doesn't even import a file that is marked. What a test of the fast tier takes is
measured, and listed if it is much.
"""

import functools
import gc
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

# Fixtures that make every test slow that uses one.
SLOW_FIXTURES = {
    "homeserver": "Synapse in a process of its own",
    "one_window": "the real window over real services",
    "open_window": "the same",
    "parser": "a parser process that only this file uses",
    "postgres": "a library on PostgreSQL",
    "read_alone": "a parser process that only this test uses",
    "traced_parser": "a parser process whose system calls are written down",
}
# What makes all tests of a file slow that imports it.
SLOW_IMPORTS = (
    "desktop_rag.ingest.parsing.parser_process.ParserProcess",
    "tests.command_line.run_process",
    "tests.command_line.wait_for_window",
    "tests.displays.",  # an X server, a session bus
    "tests.driving.",  # the app in a process that a test kills
    "tests.engines.joined_in",
    "tests.engines.postgres_in",
    "tests.faults.system_calls.",  # strace
    "tests.servers.llama_server.",
    "tests.servers.postgres_",
    "tests.servers.synapse.",
)
_SLOW_FILE = "\npytestmark = pytest.mark.slow\n"
_MOST_S = 0.3
# The first test of a process that uses a library pays for its import.
_MANY_IMPORTS = 20
_COST = "processor_s"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "write what each test takes, in seconds of processor time, to this file"
    parser.addoption("--costs", type=Path, metavar="FILE", help=text)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs(config), "costs")
    # What collecting makes stays: looking for garbage among it took a third of its time.
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that would be imported for nothing."""
    if collection_path.suffix != ".py" or config.option.markexpr != "not slow":
        return None
    text = collection_path.read_text("utf-8")
    return (_SLOW_FILE in text and "mark.everyday" not in text) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    for item in items:
        if item.get_closest_marker("everyday"):
            assert not item.get_closest_marker("slow"), f"{item.nodeid} is in both tiers"
        elif _is_slow(item):
            item.add_marker("slow")
    yield
    # At the end of a run, the other workers would wait for one of these.
    items.sort(key=_time_asked_s, reverse=True)


def _is_slow(item: pytest.Item) -> bool:
    if _time_asked_s(item):
        return True
    return isinstance(item, pytest.Function) and (
        not SLOW_FIXTURES.keys().isdisjoint(item.fixturenames) or _imports_slow(item.module)
    )


def _time_asked_s(item: pytest.Item) -> float:
    """The time limit of a test that asks for more than others have, otherwise 0."""
    asked = item.get_closest_marker("timeout")
    is_more = asked and asked.args[0] > float(item.config.getini("timeout"))
    return float(asked.args[0]) if asked and is_more else 0.0


@functools.cache
def _imports_slow(module: ModuleType) -> bool:
    places = [
        f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}"
        for value in vars(module).values()
    ]
    return any(place.startswith(SLOW_IMPORTS) for place in places)


class Costs:
    """Measures the tests of this process, or shows what other processes have measured."""

    def __init__(self, config: pytest.Config) -> None:
        self._file: Path | None = config.getoption("--costs")
        self._costs: dict[str, float] = {}
        self._much: dict[str, float] = {}
        self._started_s = self._shared_s = 0.0
        self._imported = 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        self._shared_s = 0.0
        self._imported = len(sys.modules)
        self._started_s = processor_s()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """A fixture that tests share is not charged to the first of them."""
        started_s = processor_s()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._shared_s += processor_s() - started_s

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            cost_s = processor_s() - self._started_s - self._shared_s
            imported = len(sys.modules) - self._imported
            report.user_properties.append((_COST, (cost_s, imported)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        measured: Any = dict(report.user_properties).get(_COST)
        if report.when != "teardown" or not measured:
            return
        cost_s, imported = measured
        self._costs[report.nodeid] = cost_s
        is_fast = {"slow", "everyday"}.isdisjoint(report.keywords)
        if is_fast and cost_s > _MOST_S and imported < _MANY_IMPORTS:
            self._much[report.nodeid] = cost_s

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ranked = sorted(self._costs.items(), key=lambda item: -item[1])
        if self._file:
            self._file.write_text("".join(f"{cost_s:8.3f} {test}\n" for test, cost_s in ranked))
        if self._much:
            terminalreporter.section(f"fast tests of more than {_MOST_S} s of processor time")
            for test, cost_s in sorted(self._much.items(), key=lambda item: -item[1]):
                terminalreporter.write_line(f"{cost_s:6.2f} {test}")


def processor_s() -> float:
    """What this process took, with its threads and its children, ended or running."""
    own = os.times()
    ended_s = own.children_user + own.children_system
    return time.process_time() + ended_s + sum(_running_s(pid) for pid in _children())


def _children() -> Iterator[int]:
    """On Linux; elsewhere only ended processes count."""
    for started in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            yield from map(int, started.read_text().split())


def _running_s(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system
