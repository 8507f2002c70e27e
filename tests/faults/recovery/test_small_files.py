"""R-30: every file that the app writes as a whole, damaged: the app starts, and tells of it."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.app import Services, build_services
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.matrix.bot_settings import BotFile
from desktop_rag.features.server.services import ServerSwitch
from tests.asking import ask
from tests.conftest import FAST_TIMES
from tests.faults.recovery.small_files import CONTENTS, DAMAGES, fill
from tests.indexed import OpenIndexed

OUT_OF_RANGE = [-1, 0, 2**63 - 1, -(2**63), 1e300, 10**400, float("inf"), float("nan")]
WRONG_TYPES = [None, True, "", "\0", "\ud800", "x" * 5000, [], [[]], [None], {}, {"": {}}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a JSON value, the whole first."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(value[path[0]], path[1:], by)
    return copied


def test_every_file_of_the_home_is_here(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert {getattr(home, name) for name in CONTENTS} == set(home.files())


@pytest.mark.parametrize("name", [name for name, (content, _) in CONTENTS.items() if content])
def test_no_value_in_a_file_stops_its_reader(name: str, tmp_path: Path, qtbot: QtBot) -> None:
    content, read = CONTENTS[name]
    file = tmp_path / "file.json"
    for place in places(content):
        for value in [*OUT_OF_RANGE, *WRONG_TYPES]:
            file.write_text(json.dumps(replaced(content, place, value)))
            with contextlib.suppress(AppError):
                read(file)


def use(services: Services) -> None:
    """Read all that a start of the window and its pages read."""
    services.run()
    assert services.library.indexing.wait_until_idle(20)
    home = services.home
    for name, (_, read) in CONTENTS.items():
        with contextlib.suppress(AppError):
            read(getattr(home, name))
    with contextlib.suppress(AppError):
        BotFile(home.matrix / "settings.toml").read()
    with contextlib.suppress(AppError):
        services.wing(ServerSwitch).close()
    assert not ask(services, "When is the lamp lit?").is_unstored


@pytest.mark.slow
@pytest.mark.parametrize("how", DAMAGES)
def test_the_app_starts_when_all_of_them_are_damaged(
    how: str, open_indexed: OpenIndexed, home: Home, qtbot: QtBot
) -> None:
    open_indexed({"lamp.md": "# Lamp\n\nThe lamp of the lighthouse is lit at dusk."}).close()
    damaged = fill(home)
    for path in damaged:
        DAMAGES[how](path)
    services = build_services(home, times=FAST_TIMES)
    try:
        use(services)
        told = " ".join(f"{notice.title} {notice.hint}" for notice in services.notices)
        assert "notes.json.damaged-" in told
        assert "library file is damaged" not in told
    finally:
        services.close()
    build_services(home, times=FAST_TIMES).close()
