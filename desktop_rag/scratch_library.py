"""A temporary library for a measurement, removed afterwards. Worker threads."""

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
    """The part of the services over a home that a scratch library needs."""

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
    """Started services over an empty library; spending counts against the limits of `own`."""
    # The person waits for the result.
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
    """Copy a small file, if it and the folder exist: without a home there are no limits."""
    if file.exists() and to.parent.is_dir():
        shutil.copyfile(file, to)
