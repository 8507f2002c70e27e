from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.ingest.indexing.indexer import ReadAhead


def document(number: int, size_bytes: int = 10) -> Document:
    return Document(
        document_id=str(number),
        source_id="s",
        path=Path(f"{number}.txt"),
        title="",
        format="text",
        stat=FileStat(size_bytes, 0, 0),
        content_hash="",
        state=DocumentState.WAITING,
        reason="",
    )


def test_documents_come_in_their_order_with_what_reading_gave() -> None:
    def read(found: Document) -> str:
        if found.document_id == "3":
            raise FileNotFoundError
        return f"text of {found.document_id}"

    with ReadAhead(read) as ahead:
        read_to = 0
        for number, (found, text) in enumerate(ahead.over(map(document, range(40)))):
            read_to += 1
            assert found.document_id == str(number)
            if number == 3:
                with pytest.raises(FileNotFoundError):
                    text.result()
            else:
                assert text.result() == f"text of {number}"
    assert read_to == 40


@pytest.mark.parametrize(("size_bytes", "most"), [(10, 17), (3_000_000, 2)])
def test_only_a_few_are_taken_ahead_of_their_turn(size_bytes: int, most: int) -> None:
    taken: list[int] = []

    def waiting() -> Document:
        taken.append(len(taken))
        return document(taken[-1], size_bytes)

    with ReadAhead(lambda found: found.document_id) as ahead:
        found, _ = next(ahead.over(iter(waiting, None)))
    assert found.document_id == "0"
    assert len(taken) == most


def test_nothing_is_being_read_after_the_end() -> None:
    read: list[str] = []
    with ReadAhead(lambda found: read.append(found.document_id)) as ahead:
        next(ahead.over(map(document, range(40))))[1].result()
    count = len(read)
    assert 1 <= count <= 17
    assert read == [str(number) for number in range(count)]
