import os
import shlex
import sys
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.launching import APP_ID, quoted, set_autostart, starts_at_login

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the entry of a Linux desktop")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def test_the_app_starts_in_the_background_and_no_longer(config: Path) -> None:
    assert not starts_at_login()
    set_autostart(True)
    entry = (config / "autostart" / f"{APP_ID}.desktop").read_text("utf-8")
    assert starts_at_login()
    line = next(line for line in entry.splitlines() if line.startswith("Exec="))
    command = shlex.split(line.removeprefix("Exec="))
    assert Path(command[0]).is_file()
    assert os.access(command[0], os.X_OK)
    assert command[-1] == "--background"
    set_autostart(False)
    assert not starts_at_login()
    set_autostart(False)


def test_a_path_keeps_its_characters() -> None:
    """Backslashes are doubled twice: for the key's value and for the quotes."""
    assert quoted(["/a b/$x", 'q"`', "100%"]) == '"/a b/\\\\$x" "q\\\\"\\\\`" "100%%"'


def test_a_folder_that_is_a_file_is_told(config: Path) -> None:
    config.write_text("")
    with pytest.raises(AppError, match="could not be changed"):
        set_autostart(True)
