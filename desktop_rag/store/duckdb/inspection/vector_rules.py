"""The rules of vectors, made for the models in the library. Any thread, on an open cursor."""

from collections.abc import Mapping

from desktop_rag.core.language.model_languages import MULTILINGUAL_MODEL
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.inspection.rules import Rule
from desktop_rag.store.duckdb.search.vector_table import table_name


def vector_rules(models: Mapping[int, int]) -> list[Rule]:
    """The rules for these models, by number with their dimensions; each has a table."""
    rules: list[Rule] = []
    for number, dimensions in models.items():
        table = table_name(number)
        rules += [
            Rule(
                "contents with two vectors",
                f"(SELECT content_hash FROM {table} GROUP BY content_hash HAVING count(*) > 1)",
            ),
            Rule(
                "vectors of a wrong size",
                f"{table} WHERE content_hash IS NULL OR vector IS NULL"
                f" OR octet_length(vector) <> {dimensions:d}",
            ),
        ]
    return [*rules, _without_vectors(models)]


# Documents in other languages need no vector; they may have one of a model that somebody chose.
_READ = ", ".join(f"'{code}'" for code in sorted(MULTILINGUAL_MODEL))


def contents_without_vector(models: Mapping[int, int]) -> str:
    """SQL that follows FROM: the chunks that have no vector of any model, and should have one."""
    joins = "".join(f" ANTI JOIN {table_name(n)} USING (content_hash)" for n in models)
    read = f"(SELECT document_id FROM documents WHERE language IN ({_READ}))"
    return f"chunks{joins} SEMI JOIN {read} USING (document_id)"


def _without_vectors(models: Mapping[int, int]) -> Rule:
    return Rule(
        "passages that lack their vector",
        f"(FROM {contents_without_vector(models)}) SEMI JOIN"
        " (SELECT document_id FROM documents WHERE state = 'searchable') USING (document_id)",
    )


def models_with_table(con: Connection) -> dict[int, int]:
    """The models that have a table of vectors: their dimensions by number."""
    tables = _vector_tables(con)
    rows = con.execute("SELECT model_id, dimensions FROM models").fetchall()
    return {number: dimensions for number, dimensions in rows if table_name(number) in tables}


def stray_tables(con: Connection) -> int:
    """The number of models without a table, and of tables without a model."""
    named = {table_name(n) for (n,) in con.execute("SELECT model_id FROM models").fetchall()}
    return len(named ^ _vector_tables(con))


def _vector_tables(con: Connection) -> set[str]:
    rows = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'vectors\\_%' ESCAPE '\\'"
    ).fetchall()
    return {name for (name,) in rows}
