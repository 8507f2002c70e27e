"""Documents and questions in several languages, with both bundled models."""

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.answer.writing.answer_texts import refusals
from desktop_rag.app import Services, build_services
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.paths import Home
from desktop_rag.core.query import Query
from desktop_rag.core.settings import IndexSettings, Settings
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.models.embedding import joined_embedding
from desktop_rag.models.embedding.joined_embedding import (
    BUNDLED,
    BUNDLED_MULTILINGUAL,
    NAMES,
    OnnxEmbedder,
)
from desktop_rag.store.contract.search import EVERYWHERE
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.asking import ask

pytestmark = pytest.mark.slow

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


def test_a_table_is_asked_in_another_language(services: Services, tmp_path: Path) -> None:
    rows = ("category,amount,date", "travel,40,2025-03-01", "travel,25,2025-05-02")
    costs = "\n".join((*rows, "meals,9,2025-05-04"))
    stock = "Ware,Menge,Preis\nHonig,12,5\nKäse,7,8\nBrot,30,3\n"
    index(services, tmp_path / "papers", {"costs.csv": costs, "stock.csv": stock})
    travel = ask(services, "Wie viel haben wir 2025 für Reisen ausgegeben?")
    assert travel.text.startswith("**65**: "), travel.text
    assert "category = travel" in travel.text
    honey = ask(services, "What is the price of the honey?")
    assert honey.text.startswith("**5"), honey.text
    cars = ask(services, "Wie viel haben wir 2025 für Autos ausgegeben?")
    assert "Summe" not in cars.text


@pytest.mark.parametrize(
    ("text", "loaded"), [(ENGLISH[0], [BUNDLED]), (GERMAN, [BUNDLED, BUNDLED_MULTILINGUAL])]
)
def test_a_start_loads_the_models_of_the_languages_of_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, loaded: list[str]
) -> None:
    home = Home(tmp_path / "home")
    with closing(build_services(home)) as services:
        index(services, tmp_path / "papers", {"a.md": text})
    read_files: list[str] = []
    read = joined_embedding.Tokenizer.from_file

    def counted(file: str) -> object:
        read_files.append(Path(file).parent.name)
        return read(file)

    monkeypatch.setattr(joined_embedding, "Tokenizer", SimpleNamespace(from_file=counted))
    # Not those that the tests share.
    monkeypatch.setattr(joined_embedding, "OnnxEmbedder", OnnxEmbedder)
    with closing(build_services(home)) as services:
        services.library.start(watch=False)
        assert services.library.indexing.wait_until_idle(60)
        assert read_files == [NAMES[spec] for spec in loaded]


def test_a_name_of_files_does_not_outweigh_what_is_asked_about_them(
    services: Services, tmp_path: Path
) -> None:
    cover = "Skerry plc. The registered office of Skerry plc. Shares of Skerry plc."
    texts = {
        "Skerry_cover.md": f"{cover}\n",
        "Skerry_figures.md": "Sales rose to 88 million pounds, as more boats were sold.\n",
        **{f"note{n}.md": f"The meeting number {n} was about the roof.\n" for n in range(16)},
    }
    index(services, tmp_path / "papers", texts)
    assert best(services, "Wie hoch war der Umsatz von Skerry?") == "Skerry_figures.md"


def test_in_the_language_of_the_question_a_name_may_be_what_is_asked_about(
    services: Services, tmp_path: Path
) -> None:
    texts = {
        "Schwimmbad.md": "Das Schwimmbad am Anger verlangt 5 Euro Eintritt.\n",
        "Heft.md": "Was kostet das? Das kostet 3 Euro.\n",
        **{f"note{n}.md": f"Die Sitzung {n} war über das Dach.\n" for n in range(16)},
    }
    index(services, tmp_path / "papers", texts)
    assert best(services, "Was kostet das Schwimmbad?") == "Schwimmbad.md"


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


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("Wie lange ruht der Teig vor dem Backen?", "bread.md"),
        # "Was" may be English, but the library has none of the other words.
        ("Was fressen Bienen?", "bees.md"),
        ("¿Cuándo vuelve el barco de la isla?", "ferry.md"),
        ("Когда корабль отправляется на остров?", "ferry.md"),
    ],
)
def test_a_question_in_another_language_is_answered(
    services: Services, tmp_path: Path, question: str, file: str
) -> None:
    names = ("ferry.md", "bees.md", "bread.md")
    index(services, tmp_path / "papers", dict(zip(names, ENGLISH, strict=True)))
    answer = ask(services, question)
    assert answer.sources
    assert answer.sources[0].path.endswith(file)
    [cited, *_] = [source for source in answer.sources if source.is_cited]
    assert cited.path.endswith(file), "the sentence is chosen by the model that reads the question"


def test_what_is_not_there_is_refused_in_the_language_of_the_question(
    services: Services, tmp_path: Path
) -> None:
    names = ("ferry.md", "bees.md", "bread.md")
    index(services, tmp_path / "papers", dict(zip(names, ENGLISH, strict=True)))
    question = "Welche Schacheröffnung spielte der Großmeister im Finale?"
    answer = ask(services, question)
    assert not answer.sources
    assert answer.text.startswith(refusals(question).said("nothing_relevant"))
    assert answer.text.startswith("Nichts in Ihren Dokumenten")


def test_words_still_tell_what_is_relevant_in_the_own_language(
    services: Services, tmp_path: Path
) -> None:
    texts = {"bread.md": ENGLISH[2], "bienen.md": GERMAN}
    index(services, tmp_path / "papers", texts)
    search = services.retriever.candidate_search

    def across(question: str) -> dict[str, float]:
        query = Query(question)
        asked = SearchQuestion(question, lambda: services.retriever.reader.read(query))
        found = search.gather(asked, EVERYWHERE)
        assert found is not None
        passages = services.retriever.lexical.passages(dict.fromkeys(found.ids, 0.0))
        names = {p.chunk_id: Path(p.path).name for p in passages}
        return {names[i]: value for i, value in zip(found.ids, found.is_across, strict=True)}

    assert across("Womit werden die Völker im Herbst gefüttert?") == {
        "bread.md": 1.0, "bienen.md": 0.0
    }  # fmt: skip
    assert across("What are the colonies fed with?") == {"bread.md": 0.0, "bienen.md": 1.0}
    assert across("¿Con qué se alimentan las abejas?") == {"bread.md": 1.0, "bienen.md": 1.0}


def test_each_language_of_a_library_has_a_place_among_the_best(
    services: Services, tmp_path: Path
) -> None:
    covered = ("storm", "flood", "theft", "fire", "hail", "frost", "fraud", "strikes", "riots")
    texts = {
        f"{risk}.md": f"# Policy {n}\n\nThe insurance of boat {n} covers losses by {risk}, and the"
        f" contents of its cabin are insured for {n},000 pounds.\n"
        for n, risk in enumerate(covered, start=1)
    }
    texts["seguro.md"] = "# Seguro\n\nEl seguro del barco cubre el contenido hasta 900 euros.\n"
    texts["notizen.md"] = "# Büro\n\nDie Inhaltsversicherung deckt 85.000 Euro und das Glas.\n"
    index(services, tmp_path / "papers", texts)
    found = services.chat.search("What does the contents insurance cover?", limit=8)
    assert {"seguro.md", "notizen.md"} <= {Path(passage.path).name for passage in found}


@pytest.mark.parametrize("question", ["What do bees eat?", "Was fressen Bienen?", "Bienen"])
def test_texts_of_both_languages_are_compared_with_a_question(
    services: Services, tmp_path: Path, question: str
) -> None:
    index(services, tmp_path / "papers", {"bees.md": ENGLISH[1]})
    compared = services.retriever.meaning_of(question, None)
    assert compared is not None
    texts = ["Bienen fressen Pollen.", "Bees eat pollen.", "Der Zug hält.", "Trains stop."]
    german, english, *others = compared.nearness(texts, ["de", "en", "de", "en"])
    assert min(german, english) > max(others)


def test_progress_counts_the_work_of_both_models(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    refined: list[int] = []
    begin, add = ProgressMeter.begin_refining, ProgressMeter.add_refined

    def noted_begin(meter: ProgressMeter, to_refine: int) -> None:
        begun.append(to_refine)
        begin(meter, to_refine)

    def noted(meter: ProgressMeter, count: int) -> None:
        refined.append(count)
        add(meter, count)

    services.library.apply(Settings(index=IndexSettings(makes_windows=False)))
    long = " ".join(
        f"Sentence {n} tells of the boat to the island in its harbour." for n in range(60)
    )
    index(services, tmp_path / "papers", {"boat.md": long})
    monkeypatch.setattr(ProgressMeter, "begin_refining", noted_begin)
    monkeypatch.setattr(ProgressMeter, "add_refined", noted)
    services.library.apply(Settings(index=IndexSettings(makes_windows=True)))
    assert services.library.indexing.wait_until_idle(60)
    assert sum(refined) == begun[0] > 1


def test_excerpts_for_a_question_in_another_language_are_more_than_a_name(
    services: Services, tmp_path: Path
) -> None:
    text = (
        "Lanternco lanterns, Lanternco lamps and Lanternco oil are trademarks of Lanternco.\n\n"
        "The revenue of the company was four million last year.\n\n"
        "Lanternco is known to every harbour, and Lanternco has been kept for a century.\n"
    )
    index(services, tmp_path / "papers", {"lanternco.md": text, "bees.md": ENGLISH[1]})
    answer = ask(services, "Wie hoch war der Umsatz von Lanternco?").text
    assert "The revenue of the company was four million last year." in answer


def test_an_english_question_is_answered_from_a_german_file(
    services: Services, tmp_path: Path
) -> None:
    lease = (
        "# Mietvertrag\n\nDie Miete beträgt 820 Euro im Monat.\n\n"
        "Die Kaution beträgt drei Monatsmieten und wird verzinst angelegt.\n\n"
        "Die Haltung von Hunden bedarf der Zustimmung des Vermieters.\n"
    )
    names = ("ferry.md", "bees.md", "bread.md")
    texts = dict(zip(names, ENGLISH, strict=True)) | {"mietvertrag.md": lease}
    # It has the words of the question, and another subject.
    texts["weather.md"] = "# Weather\n\nHow much rain falls per month is written into a book.\n"
    index(services, tmp_path / "papers", texts)
    answer = ask(services, "How much is the rent per month?").text
    assert "Die Miete beträgt 820 Euro im Monat." in answer


def test_a_sentence_in_another_language_than_the_rest_of_its_file_answers(
    services: Services, tmp_path: Path
) -> None:
    notes = (
        "The school by the river has forty pupils, and their lessons start at eight.\n\n"
        "Der Aufzug wird jedes Jahr im Juni vom Techniker geprüft.\n\n"
        "The teachers meet in the hall on the first of the month.\n"
    )
    index(services, tmp_path / "papers", {"notes.md": notes})
    answer = ask(services, "When is the elevator inspected?").text
    assert "Der Aufzug wird jedes Jahr im Juni" in answer
