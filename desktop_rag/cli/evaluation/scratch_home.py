"""A library of its own for a measurement, removed afterwards."""

from collections.abc import Callable
from typing import TypeVar

from desktop_rag import app, upkeep
from desktop_rag.cli.terminal import say
from desktop_rag.core.paths import find_home
from desktop_rag.core.settings import Settings
from desktop_rag.scratch_library import scratch_library

T = TypeVar("T")


def in_scratch_home(settings: Settings, measure: Callable[[app.Services], T]) -> tuple[T, int]:
    """The result of `measure` for a new, empty library, and the size of its file in bytes.

    The size is taken after the library is closed, when everything is in one file.
    """
    with scratch_library(app.build_services, find_home(), settings) as services:
        for notice in services.notices:
            say(f"{notice.title} {notice.hint}")
        result = measure(services)
        services.close()
        return result, upkeep.library_size(services.home)
