"""A scanner with something to do is never taken for idle, whatever its threads do meanwhile."""

import threading
from collections.abc import Callable
from pathlib import Path

from desktop_rag.app import Services
from desktop_rag.core.domain import ON_DISK
from desktop_rag.ingest.scanning.scanner import RecheckSchedule, Scanner

_LET_IT_TRY_S = 0.2


class RecheckComesDue(RecheckSchedule):
    """Its places come due at the worst moment: while somebody asks whether any wait."""

    @property
    def is_empty(self) -> bool:
        handing_over = threading.Thread(target=self.check)
        handing_over.start()
        handing_over.join(_LET_IT_TRY_S)  # it may have to wait until this question is answered
        try:
            return super().is_empty
        finally:
            self.handing_over = handing_over


def test_a_recheck_on_its_way_to_the_queue_is_work(
    build_services: Callable[[], Services], tmp_path: Path
) -> None:
    services = build_services()
    (tmp_path / "docs").mkdir()
    source = services.library.sources.add(tmp_path / "docs")
    scanner = services.library._pipeline.scans._kinds[ON_DISK]  # noqa: SLF001
    assert isinstance(scanner, Scanner)
    scanner._queue.clear()  # noqa: SLF001
    schedule = scanner._rechecks = RecheckComesDue(scanner._recheck)  # noqa: SLF001
    assert scanner.is_idle
    schedule.handing_over.join()
    schedule.add(source.source_id, tmp_path / "docs" / "a.md", 0.0)
    assert not scanner.is_idle
    schedule.handing_over.join()
    assert scanner._queue  # noqa: SLF001
