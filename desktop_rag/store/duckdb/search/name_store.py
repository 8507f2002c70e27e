"""Finds documents by the names of their files. Any thread; own cursors."""

import re
from collections.abc import Collection, Sequence

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.scope_sql import condition_of, folded

# Runs of letters and digits are also split here: BestBuy2019 is Best, Buy and 2019 as well.
_SPLITS = (
    (r"(\p{Ll})(\p{Lu})", r"\1 \2"),
    (r"(\p{Lu})(\p{Lu}\p{Ll})", r"\1 \2"),
    (r"([0-9]+)", r" \1 "),
)
_IS_SPLIT = r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}[0-9]|[0-9]\p{L}"
_BETWEEN_WORDS = r"[^\p{L}\p{M}\p{N}]+"


def _words(name: str) -> str:
    """SQL for the words of a name, each surrounded by spaces."""
    return f"' ' || regexp_replace({name}, '{_BETWEEN_WORDS}', ' ', 'g') || ' '"


def _split(name: str) -> str:
    for pattern, replacement in _SPLITS:
        name = f"regexp_replace({name}, '{pattern}', '{replacement}', 'g')"
    return name


# True when a part occurs in the name at a place where it counts. Splitting a name takes ten times
# as long as finding the part in it, so it is done only where it matters.
_IS_IN_PLACE = (
    "CASE WHEN ending IS NULL THEN true"
    f" WHEN contains({_words('name')}, ' ' || sought || ending) THEN true"
    f" WHEN NOT regexp_matches(written, '{_IS_SPLIT}') THEN false"
    f" ELSE contains({_words(folded(_split('nfc_normalize(written)')))},"
    " ' ' || sought || ending) END"
)


class NameStore:
    """The names of the documents."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
    ) -> tuple[dict[str, set[str]], int]:
        """Document id → the parts that its file name contains; and the number of documents in all.

        `words` must be whole words or numbers of the name, `beginnings` must start one, `pieces`
        may occur anywhere.
        """
        endings = {" ": words, "": beginnings, None: pieces}
        wanted = [(part, ending) for ending, parts in endings.items() for part in parts]
        with self._database.read() as con:
            statistics = self._cache.statistics
            condition, parameters = condition_of(scope, con, statistics, "document_id")
            sought = _folded(con, [part for part, _ in wanted])
            # One scan for all parts, as most names contain none of them.
            named = con.execute(
                "SELECT document_id, parse_filename(path), plain_name FROM documents"
                f" WHERE chunk_count > 0 AND regexp_matches(plain_name, $any){condition}",
                {"any": "|".join(re.escape(part) for part in sought), **parameters},
            ).fetchall()
            rows = _in_place(con, named, wanted, sought) if named and wanted else []
        found: dict[str, set[str]] = {}
        for document_id, part in rows:
            found.setdefault(document_id, set()).add(part)
        # Documents may be added between the two reads.
        return found, max(statistics.indexed_documents, len(found))


def _folded(con: Connection, parts: Sequence[str]) -> list[str]:
    """The parts as the names are folded."""
    if all(part.isascii() for part in parts):
        # Most are; a statement would take as long as scanning a fifth of 50,000 names.
        return [part.lower() for part in parts]
    sql = f"SELECT list_transform($parts, lambda part: {folded('part')})"
    [(found,)] = con.execute(sql, {"parts": list(parts)}).fetchall()
    return found


def _in_place(
    con: Connection,
    named: Sequence[tuple[str, str, str]],
    wanted: Sequence[tuple[str, str | None]],
    sought: Sequence[str],
) -> list[tuple[str, str]]:
    """(document id, part) for the parts that occur in a name at a place where they count."""
    ids, written, names = zip(*named, strict=True)
    parts, endings = zip(*wanted, strict=True)
    return con.execute(
        "WITH names AS (SELECT unnest($ids) AS document_id, unnest($written) AS written,"
        " unnest($names) AS name), wanted AS (SELECT unnest($parts) AS part,"
        " unnest($endings) AS ending, unnest($sought) AS sought)"
        " SELECT DISTINCT document_id, part FROM names JOIN wanted"
        f" ON contains(name, sought) WHERE {_IS_IN_PLACE}",
        {
            "ids": list(ids), "written": list(written), "names": list(names),
            "parts": list(parts), "endings": list(endings), "sought": list(sought),
        },
    ).fetchall()  # fmt: skip
