"""A library of its own for a measurement, removed afterwards."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from desktop_rag import app, upkeep
from desktop_rag.cli.terminal import say
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home, find_home
from desktop_rag.core.settings import Settings

T = TypeVar("T")


def in_scratch_home(settings: Settings, measure: Callable[[app.Services], T]) -> tuple[T, int]:
    """The result of `measure` for a new, empty library, and the size of its file in bytes.

    The size is taken after the library is closed, when everything is in one file.
    """
    # The caller waits for the result.
    settings = replace(settings, index=replace(settings.index, pauses_on_battery=False))
    with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
        home = Home(Path(scratch) / "home")
        home.create()
        save_settings(home.settings, settings)
        # Model profiles and spending limits apply here too.
        own = find_home()
        _copy(own.model_profiles, home.model_profiles)
        _copy(own.spending, home.spending)
        services = app.build_services(home)
        try:
            for notice in services.notices:
                say(f"{notice.title} {notice.hint}")
            services.library.start(watch=False)
            result = measure(services)
        finally:
            services.close()
            _copy(home.spending, own.spending)
        return result, upkeep.library_size(home)


def _copy(file: Path, to: Path) -> None:
    """Copy a small file, if it and the folder exist: without a home there is nothing to limit."""
    if file.exists() and to.parent.is_dir():
        shutil.copyfile(file, to)
