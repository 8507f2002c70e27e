"""Finds documents by what their files are called. Any thread; own cursors."""

import re
from collections.abc import Collection, Sequence

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.search.library_statistics import statistics_of
from desktop_rag.store.duckdb.search.scope_sql import condition_of, folded

# Where runs of letters and digits are cut: BestBuy2019 is Best, Buy and 2019 as well.
_CUTS = (
    (r"(\p{Ll})(\p{Lu})", r"\1 \2"),
    (r"(\p{Lu})(\p{Lu}\p{Ll})", r"\1 \2"),
    (r"([0-9]+)", r" \1 "),
)
_IS_CUT = r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}[0-9]|[0-9]\p{L}"
_BETWEEN_WORDS = r"[^\p{L}\p{M}\p{N}]+"


def _words(name: str) -> str:
    """SQL for the words of a name, each between two spaces."""
    return f"' ' || regexp_replace({name}, '{_BETWEEN_WORDS}', ' ', 'g') || ' '"


def _cut(name: str) -> str:
    for pattern, replacement in _CUTS:
        name = f"regexp_replace({name}, '{pattern}', '{replacement}', 'g')"
    return name


# Whether a part that a name holds stands where it must. Taking a name apart takes ten times as long
# as looking for the part in it, so that is done only where it matters.
_STANDS = (
    "CASE WHEN ending IS NULL THEN true"
    f" WHEN contains({_words('name')}, ' ' || sought || ending) THEN true"
    f" WHEN NOT regexp_matches(written, '{_IS_CUT}') THEN false"
    f" ELSE contains({_words(folded(_cut('nfc_normalize(written)')))},"
    " ' ' || sought || ending) END"
)


class NameStore:
    """The names of the documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def holding(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
    ) -> tuple[dict[str, set[str]], int]:
        """Document id → those of all that its file's name holds; and how many there are in all.

        `words` must be whole words or numbers of the name, `beginnings` must begin one, `pieces`
        may stand anywhere.
        """
        endings = {" ": words, "": beginnings, None: pieces}
        wanted = [(part, ending) for ending, parts in endings.items() for part in parts]
        with self._database.read() as con:
            facts = self._database.known(statistics_of)
            only, parameters = condition_of(scope, con, facts, "document_id")
            sought = _folded(con, [part for part, _ in wanted])
            # One look for all parts, as most names hold none of them.
            holders = con.execute(
                "SELECT document_id, parse_filename(path), plain_name FROM documents"
                f" WHERE chunk_count > 0 AND regexp_matches(plain_name, $any){only}",
                {"any": "|".join(re.escape(part) for part in sought), **parameters},
            ).fetchall()
            rows = _standing(con, holders, wanted, sought) if holders and wanted else []
        found: dict[str, set[str]] = {}
        for document_id, part in rows:
            found.setdefault(document_id, set()).add(part)
        # Documents may come and go between the two looks.
        return found, max(facts.filled, len(found))


def _folded(con: Connection, parts: Sequence[str]) -> list[str]:
    """The parts as the names are folded."""
    if all(part.isascii() for part in parts):
        # Most are; to ask takes as long as to look through a fifth of 50,000 names.
        return [part.lower() for part in parts]
    sql = f"SELECT list_transform($parts, lambda part: {folded('part')})"
    [(found,)] = con.execute(sql, {"parts": list(parts)}).fetchall()
    return found


def _standing(
    con: Connection,
    holders: Sequence[tuple[str, str, str]],
    wanted: Sequence[tuple[str, str | None]],
    sought: Sequence[str],
) -> list[tuple[str, str]]:
    """(document id, part) of the parts that stand in a name where they must."""
    ids, written, names = zip(*holders, strict=True)
    parts, endings = zip(*wanted, strict=True)
    return con.execute(
        "WITH names AS (SELECT unnest($ids) AS document_id, unnest($written) AS written,"
        " unnest($names) AS name), wanted AS (SELECT unnest($parts) AS part,"
        " unnest($endings) AS ending, unnest($sought) AS sought)"
        " SELECT DISTINCT document_id, part FROM names JOIN wanted"
        f" ON contains(name, sought) WHERE {_STANDS}",
        {
            "ids": list(ids), "written": list(written), "names": list(names),
            "parts": list(parts), "endings": list(endings), "sought": list(sought),
        },
    ).fetchall()  # fmt: skip
