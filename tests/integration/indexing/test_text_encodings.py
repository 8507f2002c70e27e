"""Texts that do not name their encoding, in the real library."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.domain import Document, SourceRules

QUIET_S = 30.0
# One line in which ľ and ž, and two languages, are equally likely.
DOUBTFUL = "Umowa najmu magazynu wygasa w październiku."
CERTAIN = (
    "Naprawa dachu będzie kosztować więcej niż zakładano.\n"
    "Wszystkie klucze należy zwrócić dozorcy, a umowę proszę podpisać.\n"
)


def read(services: Services, folder: Path, rules: SourceRules | None = None) -> None:
    services.library.sources.add(folder, rules=rules)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(QUIET_S)


def named(services: Services, name: str) -> Document:
    return next(d for d in services.library.documents.all() if d.path.name == name)


def text_of(services: Services, name: str) -> str | None:
    return services.library.documents.text(named(services, name).document_id)


@pytest.mark.slow
def test_neighbours_settle_what_is_uncertain(services: Services, tmp_path: Path) -> None:
    for place, encoding in (("dos", "cp852"), ("windows", "cp1250")):
        folder = tmp_path / "all" / place
        folder.mkdir(parents=True)
        (folder / "doubtful.txt").write_bytes(DOUBTFUL.encode(encoding))
        (folder / "certain.txt").write_bytes(CERTAIN.encode(encoding))
        (folder / "modern.txt").write_text("Wszystko zostało już zapłacone.", encoding="utf-8")
    read(services, tmp_path / "all")
    rows = [d for d in services.library.documents.all() if d.path.name == "doubtful.txt"]
    texts = {services.library.documents.text(row.document_id) for row in rows}
    assert (texts, {row.reason for row in rows}) == ({DOUBTFUL}, {""})


@pytest.mark.slow
def test_a_guess_is_read_again_once_a_neighbour_tells_more(
    services: Services, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "doubtful.txt").write_bytes(DOUBTFUL.encode("cp852"))
    read(services, folder)
    assert "does not name its encoding" in named(services, "doubtful.txt").reason
    (folder / "certain.txt").write_bytes(CERTAIN.encode("cp852"))
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(QUIET_S)
    assert text_of(services, "doubtful.txt") == DOUBTFUL
    assert named(services, "doubtful.txt").reason == ""


@pytest.mark.slow
def test_what_is_uncertain_is_said_and_can_be_chosen(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.txt").write_bytes(DOUBTFUL.encode("cp852"))
    (folder / "b.csv").write_bytes(b"name;town\n" + "Źródło;Łódź\n".encode("cp852"))
    read(services, folder)
    assert "does not name its encoding" in named(services, "a.txt").reason
    ids = [named(services, name).document_id for name in ("a.txt", "b.csv")]
    assert services.library.exclusions.choose_encoding(ids, "cp852") == 2
    assert services.library.indexing.wait_until_idle(QUIET_S)
    assert (text_of(services, "a.txt"), named(services, "a.txt").reason) == (DOUBTFUL, "")
    assert "Łódź" in (text_of(services, "b.csv") or "")
    [source] = services.library.sources.all()
    assert source.rules.encodings == {"a.txt": "cp852", "b.csv": "cp852"}
    (folder / "a.txt").write_bytes("Źle.".encode("cp852"))
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(QUIET_S)
    assert text_of(services, "a.txt") == "Źle."
    services.library.exclusions.choose_encoding(ids, "")
    [source] = services.library.sources.all()
    assert source.rules.encodings == {}


@pytest.mark.slow
def test_a_folder_can_have_an_encoding(services: Services, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "old.txt").write_bytes(DOUBTFUL.encode("cp852"))
    (tmp_path / "papers" / "new.txt").write_text("Źródło w Łodzi", encoding="utf-8")
    read(services, tmp_path / "papers", SourceRules(encodings={".": "cp852"}))
    assert (text_of(services, "old.txt"), text_of(services, "new.txt")) == (
        DOUBTFUL, "Źródło w Łodzi",
    )  # fmt: skip
    assert named(services, "old.txt").reason == ""


@pytest.mark.slow
def test_a_folder_that_is_there_gets_an_encoding(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "own.txt"):
        (folder / name).write_bytes(f"{DOUBTFUL} {name}".encode("cp852"))
    read(services, folder)
    services.library.exclusions.choose_encoding([named(services, "own.txt").document_id], "cp1250")
    assert services.library.indexing.wait_until_idle(QUIET_S)
    [source] = services.library.sources.all()
    own = text_of(services, "own.txt")
    assert services.library.exclusions.choose_folder_encoding(source.source_id, "cp852") == 2
    assert services.library.indexing.wait_until_idle(QUIET_S)
    assert text_of(services, "a.txt") == f"{DOUBTFUL} a.txt"
    assert text_of(services, "own.txt") == own != f"{DOUBTFUL} own.txt"
    services.library.exclusions.choose_folder_encoding(source.source_id, "")
    [source] = services.library.sources.all()
    assert source.rules.encodings == {"own.txt": "cp1250"}
