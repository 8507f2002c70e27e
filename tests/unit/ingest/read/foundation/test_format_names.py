import pytest

from desktop_rag.ingest.read.foundation.format_names import format_of_name, is_worth_reading


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("Report.PDF", "PDF"),
        ("talk.ppsx", "slides"),
        ("old.doc", "Word 97-2003"),
        ("letter.odt", "OpenDocument text"),
        ("All mail.mbox", "mailbox"),
        ("Inbox", "mailbox"),
        ("page.xhtml", "HTML"),
        ("article.nxml", "XML"),
        ("main.tex", "LaTeX"),
        ("analysis.f90", "text"),
        ("Makefile", "text"),
        ("makefile.am", "text"),
        ("Dockerfile", "text"),
        ("README", "text"),
        ("tar.1", "text"),
        ("site.css.in", "text"),
        ("bash_notes.pdf", "PDF"),
    ],
)
def test_a_name_promises_a_format(name: str, format_name: str) -> None:
    assert format_of_name(name.replace("makefile.am", "Makefile.am")) == format_name
    assert is_worth_reading(name.replace("makefile.am", "Makefile.am"))


@pytest.mark.parametrize(
    "name",
    ["song.mid", "photo.arw", "messages.mo", "data.nc", "figure.eps", "drawing.svg", "notes", ".x"],
)
def test_other_names_promise_nothing(name: str) -> None:
    assert format_of_name(name) is None


@pytest.mark.parametrize("name", ["id_rsa", "id_ed25519", "server.pem", "key.asc"])
def test_keys_are_no_documents(name: str) -> None:
    assert not is_worth_reading(name)
    assert format_of_name(name) is None


def test_source_code_of_every_programming_language_is_read() -> None:
    names = ["a.py", "a.rs", "a.go", "a.kt", "a.zig", "a.ada"]
    assert [format_of_name(name) for name in names] == ["text"] * len(names)
    assert format_of_name("a.cobol") is None


@pytest.mark.parametrize(
    "name", ["notes", "a.cobol", "letter.2019", "table.dat", "old.bak", "a.zip"]
)
def test_the_content_decides_of_a_name_that_promises_nothing(name: str) -> None:
    assert is_worth_reading(name)


@pytest.mark.parametrize("name", ["song.mp3", "photo.ARW", "a.exe", "a.iso", "a.ttf", "a.7z"])
def test_files_that_are_surely_no_text_are_not_opened(name: str) -> None:
    assert not is_worth_reading(name)
