import pytest

from desktop_rag.ingest.read.foundation.format_names import format_of_name, is_readable_name


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
    assert is_readable_name(name.replace("makefile.am", "Makefile.am"))


@pytest.mark.parametrize(
    "name",
    ["song.mp3", "photo.arw", "messages.mo", "data.nc", "figure.eps", "drawing.svg", "notes", ".x"],
)
def test_other_names_promise_nothing(name: str) -> None:
    assert not is_readable_name(name)


@pytest.mark.parametrize("name", ["id_rsa", "id_ed25519", "server.pem", "key.asc"])
def test_keys_are_no_documents(name: str) -> None:
    assert not is_readable_name(name)


def test_source_code_of_every_programming_language_is_read() -> None:
    assert all(map(is_readable_name, ["a.py", "a.rs", "a.go", "a.kt", "a.zig", "a.ada"]))
    assert not is_readable_name("a.cobol")


@pytest.mark.parametrize("name", ["a.exe", "a.zip", "a.svg", "a.pem"])
def test_other_suffixes_are_not_read(name: str) -> None:
    assert not is_readable_name(name)
