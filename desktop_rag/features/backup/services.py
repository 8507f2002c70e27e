"""Backups and snapshots of an open library. Any thread."""

from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager

from desktop_rag.app import Services, settings_of
from desktop_rag.core.changes import Changes
from desktop_rag.core.paths import Home
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.backup.manifest import BackupMerged
from desktop_rag.features.backup.snapshots import Snapshots
from desktop_rag.registry import WingServices
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import open_engine


class BackupServices(WingServices):
    """`backups` writes and imports files, `snapshots` makes one each day with a change."""

    def __init__(self, services: Services) -> None:
        changes, takers = services.changes, services.file_takers
        self.backups, self.snapshots = made_of(services.home, services.engine, changes, takers)
        changes.hear(BackupMerged, lambda _merged: services.library.sources.look_again())

    def close(self) -> None:
        """Finish the snapshot that is being made."""
        self.snapshots.close()


def made_of(
    home: Home,
    engine: Engine,
    changes: Changes | None = None,
    takers: Mapping[str, Callable[[str], int]] | None = None,
) -> tuple[Backups, Snapshots]:
    """Backups and snapshots of a library; see `Backups`."""
    backups = Backups(home, engine.precious, engine.sources.collections, changes, takers)
    return backups, Snapshots(home, backups, engine.precious)


@contextmanager
def opened_backups(home: Home) -> Generator[tuple[Backups, Snapshots]]:
    """Backups of a library not in use; AppError when it can't be opened."""
    settings, _ = settings_of(home)
    with closing(open_engine(home, settings)) as engine:
        yield made_of(home, engine)
