"""Checks the rules of an open library file. Any thread; writes only in `repair`.

Counting goes two ways wherever the library stores a count: the stored one against the rows.
"""

from collections.abc import Callable

from desktop_rag.store.contract.inspection import Discrepancy, IndexRepair, JournalState
from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.inspection.index_repair import repair_index
from desktop_rag.store.duckdb.inspection.personal_rules import PERSONAL_RULES
from desktop_rag.store.duckdb.inspection.rules import INDEX_RULES, Rule
from desktop_rag.store.duckdb.inspection.vector_rules import (
    contents_without_vector,
    models_with_table,
    stray_tables,
    vector_rules,
)
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.sql.documents.row_values import waiting_pictures


class LibraryInspection:
    """The rules of one library file."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache

    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[Discrepancy]:
        """The rules that are broken in one snapshot."""
        with self._database.snapshot() as snapshot:
            con = snapshot.con
            models = models_with_table(con)
            rules = [*INDEX_RULES, *vector_rules(models), *PERSONAL_RULES]
            found = [Discrepancy("models without a table, or the reverse", stray_tables(con))]
            found += [
                Discrepancy(rule.what, _count(con, rule), rule.is_precious)
                for rule in rules
                if may_go_on()
            ]
        return [each for each in found if each.count]

    def waiting_contents(self) -> int:
        """The number of distinct contents without a vector of any model."""
        with self._database.snapshot() as snapshot:
            chunks = contents_without_vector(models_with_table(snapshot.con))
            [(count,)] = snapshot.con.execute(
                f"SELECT count(DISTINCT content_hash) FROM {chunks}"
            ).fetchall()
        return int(count)

    def waiting_pictures(self) -> int:
        """The number of pictures and scanned pages that wait to be read."""
        with self._database.read() as con:
            return waiting_pictures(con)

    def journal(self) -> JournalState:
        """The last change in the library and in its journal."""
        return JournalState(*self._database.journal_numbers(), self._database.unreadable_lines())

    def repair(self) -> IndexRepair:
        """Remove what belongs to nothing, queue what is wrong, rewrite a damaged journal."""
        with self._database.read() as con:
            models = models_with_table(con)
        done = self._database.write(lambda lane: repair_index(lane, models))
        if self._database.unreadable_lines():
            self._database.rewrite_journal()
        for number in models:
            self._cache.clear_signs(number)
        return done


def _count(con: Connection, rule: Rule) -> int:
    [(count,)] = con.execute(f"SELECT count(*) FROM {rule.broken}").fetchall()
    return int(count)
