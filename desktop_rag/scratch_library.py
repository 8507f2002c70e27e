"""A library in a folder of its own for a measurement, removed afterwards. Worker threads."""

import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeVar

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.library import Library


class BuiltServices(Protocol):
    """The services over a home, as far as a scratch library needs them."""

    @property
    def library(self) -> Library:
        """Its documents."""
        ...

    def close(self) -> None:
        """End them."""
        ...


Built = TypeVar("Built", bound=BuiltServices)


@contextmanager
def scratch_library(
    build: Callable[[Home], Built], own: Home, settings: Settings
) -> Generator[Built]:
    """New, empty services with these settings, started; they count against the limits of `own`."""
    # Somebody waits for the result.
    settings = replace(settings, index=replace(settings.index, pauses_on_battery=False))
    with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as folder:
        home = Home(Path(folder) / "home")
        home.create()
        save_settings(home.settings, settings)
        # Model profiles and spending limits apply here too.
        _copy(own.model_profiles, home.model_profiles)
        _copy(own.spending, home.spending)
        built = build(home)
        try:
            built.library.start(watch=False)
            yield built
        finally:
            built.close()
            _copy(home.spending, own.spending)


def _copy(file: Path, to: Path) -> None:
    """Copy a small file, if it and the folder exist: without a home there is nothing to limit."""
    if file.exists() and to.parent.is_dir():
        shutil.copyfile(file, to)
