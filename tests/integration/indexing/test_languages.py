"""Documents and questions in several languages, with both bundled models."""

from pathlib import Path

from desktop_rag.app import Services
from desktop_rag.core.domain import DocumentState
from desktop_rag.store.duckdb.duckdb_engine import database_of

ENGLISH = (
    "# Ferry\n\nThe boat to the island leaves at nine in the morning and returns at six.\n",
    "# Bees\n\nThe colonies are fed with sugar water in autumn, and checked for mites.\n",
    "# Bread\n\nThe dough rests for twelve hours in a cool cellar before it is baked.\n",
)
GERMAN = "# Bienen\n\nDie Völker werden im Herbst mit Zuckerwasser gefüttert und untersucht.\n"
GREEK = "# Ψωμί\n\nΤο ζυμάρι ξεκουράζεται δώδεκα ώρες σε δροσερό κελάρι πριν ψηθεί.\n"


def index(services: Services, folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    services.library.sources.add(folder)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(60)


def models_of(services: Services, name: str) -> set[str]:
    """The models that have embedded the file of this name."""
    with database_of(services.engine).read() as con:
        models = con.execute("SELECT model_id, name FROM models").fetchall()
        return {
            model.partition("@")[0]
            for model_id, model in models
            if con.execute(
                f"SELECT 1 FROM vectors_{model_id} JOIN chunks USING (content_hash)"
                " JOIN documents USING (document_id) WHERE ends_with(path, $1)",
                [name],
            ).fetchone()
        }


def best(services: Services, question: str) -> str:
    return services.chat.search(question, mode="dense", limit=1)[0].path.rpartition("/")[2]


def test_a_question_finds_documents_in_another_language(services: Services, tmp_path: Path) -> None:
    names = ("ferry.md", "bees.md", "bread.md")
    index(services, tmp_path / "papers", dict(zip(names, ENGLISH, strict=True)))
    assert best(services, "Wie lange ruht der Teig vor dem Backen?") == "bread.md"
    assert best(services, "Когда корабль отправляется на остров?") == "ferry.md"
    assert best(services, "What do the colonies get to eat?") == "bees.md"


def test_each_language_has_its_model(services: Services, tmp_path: Path) -> None:
    texts = {"bread.md": ENGLISH[2], "bienen.md": GERMAN, "psomi.md": GREEK}
    index(services, tmp_path / "papers", texts)
    assert models_of(services, "bread.md") == {"all-MiniLM-L6-v2", "use-multilingual-3"}
    assert models_of(services, "bienen.md") == {"use-multilingual-3"}
    assert models_of(services, "psomi.md") == set()
    found = {document.state for document in services.library.documents.all()}
    assert found == {DocumentState.SEARCHABLE}
    assert best(services, "When are the bees fed with sugar water?") == "bienen.md"


def test_a_language_that_no_model_reads_is_searched_by_words(
    services: Services, tmp_path: Path
) -> None:
    index(services, tmp_path / "papers", {"bread.md": ENGLISH[2], "psomi.md": GREEK})
    asked = "ζυμάρι κελάρι"
    by_words = services.chat.search(asked, mode="lexical")
    assert [p.chunk_id for p in services.chat.search(asked)] == [p.chunk_id for p in by_words]
    assert by_words[0].path.endswith("psomi.md")
