"""What is stored of documents, whatever their terms are made of."""

from collections import Counter
from dataclasses import replace

from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import add, add_source, document, found, indexed

# Each means something in a literal of an array.
ODD = ['a"b', "c\\d", "{e,f}", "NULL", "g'h", "%s", "é\u20ac", " i j "]


def test_terms_of_any_letters_are_stored_and_found(engine: Engine) -> None:
    for n, terms in enumerate((ODD, [*ODD, "lamp"])):
        row = document(f"{n}.txt", add_source(engine, f"{n}.txt"))
        add(engine, row)
        outcome = indexed(row, f"text {n}")
        engine.documents.settle([replace(outcome, term_counts=(Counter(terms),))])
    for term in ODD:
        assert found(engine, term) == ["text 0", "text 1"]
    assert found(engine, "lamp") == ["text 1"]
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        stored = {term for (term,) in con.execute("SELECT term FROM terms").fetchall()}
    assert stored == {*ODD, "lamp"}


def test_texts_are_compressed_the_fast_way_or_not_at_all(engine: Engine) -> None:
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        [(can, *used)] = con.execute(
            "SELECT 'lz4' = ANY (s.enumvals), a.attcompression, a.attstorage FROM pg_settings s,"
            " pg_attribute a WHERE s.name = 'default_toast_compression' AND a.attname = 'text'"
            " AND a.attrelid = 'document_texts_p0'::regclass"
        ).fetchall()
    assert used == (["l", "x"] if can else ["", "e"])
