"""Filters of installed packages (entry points) that the settings name. Worker threads.

One that fails refuses the request and is logged as an error: nothing passes unchecked.
"""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import entry_points

from desktop_rag.core.conversation import AnswerDone
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.asked import Asked
from desktop_rag.features.server.filters.filter_chain import (
    AnswerEvents,
    NamedFilter,
    RequestFilter,
)
from desktop_rag.features.server.refusals import Refusal

log = logging.getLogger(__name__)

GROUP = "desktop_rag.request_filters"


def own_filters(named: Sequence[str]) -> list[NamedFilter]:
    """The named filters in order (`NAME=MODELS` limits one). AppError if one can't be loaded."""
    return [
        (pattern.strip() or "*", GuardedFilter(name.strip(), _loaded(name.strip())))
        for name, _, pattern in (each.partition("=") for each in named)
    ]


def installed_filters() -> list[str]:
    """The names of the filters that installed packages have; nothing of them is loaded."""
    return sorted({each.name for each in entry_points(group=GROUP)})


def _loaded(name: str) -> RequestFilter:
    found = list(entry_points(group=GROUP, name=name))
    if len(found) != 1:
        there = installed_filters()
        said = f"There are: {', '.join(there)}." if there else "No installed package has one."
        many = "Several packages have one of this name." if found else said
        raise AppError(f"There is no filter “{name}”.", many)
    try:
        made = found[0].load()()
    except Exception as exc:
        # The fault of another package, which may do anything.
        log.exception("the filter %s can't be loaded", name)
        hint = f"{type(exc).__name__}: {exc}"
        raise AppError(f"The filter “{name}” can't be loaded.", hint) from exc
    if not isinstance(made, RequestFilter):
        raise AppError(f"The filter “{name}” can't be used.", "It is no RequestFilter.")
    return made


class GuardedFilter(RequestFilter):
    """A filter of another package; its failures become refusals."""

    def __init__(self, name: str, own: RequestFilter) -> None:
        self._name = name
        self._own = own

    def admit(self, exchange: Exchange) -> None:
        """Let the filter look at a request."""
        caller = exchange.caller
        with self._refusing():
            self._own.admit(exchange)
        # Only the filter for that says who it is.
        exchange.caller = caller

    def prepare(self, asked: Asked) -> Asked:
        """Let the filter look at a question. It can narrow what is read, and not widen it."""
        with self._refusing():
            prepared = self._own.prepare(asked)
            if not isinstance(prepared, Asked):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"not a question: {type(prepared).__name__}")
        limited = asked.caller.limited(prepared.setup)
        return replace(prepared, caller=asked.caller, model=asked.model, setup=limited)

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Let the filter pass the answer on; one that keeps it back refuses."""
        has_ended = False
        with self._refusing(AppError):
            for event in self._own.pass_on(asked, events):
                has_ended = has_ended or isinstance(event, AnswerDone)
                yield event
        if not has_ended:
            log.error("the filter %s kept an answer back", self._name)
            said = f"The filter “{self._name}” keeps this answer back."
            raise Refusal(403, said, code="filtered")

    def finish(self, exchange: Exchange) -> None:
        """Let the filter look at what became of a request."""
        try:
            self._own.finish(exchange)
        except Exception:
            log.exception("the filter %s failed after a request", self._name)

    @contextmanager
    def _refusing(self, *others: type[Exception]) -> Generator[None]:
        """Turn failures into a refusal, but for refusals and the `others`."""
        try:
            yield
        except (Refusal, *others):
            raise
        except Exception as exc:
            log.exception("the filter %s failed", self._name)
            said = f"The filter “{self._name}” failed, so nothing is answered."
            raise Refusal(500, f"{said} The app's log says more.", code="filter_failed") from exc
