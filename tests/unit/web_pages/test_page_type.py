import pytest

from desktop_rag.features.web_pages.page_address import PageRefused
from desktop_rag.features.web_pages.page_type import in_utf8, refuse_other_types, suffix_of


def headers(content_type: str) -> dict[str, str]:
    return {"content-type": content_type}


@pytest.mark.parametrize(
    ("content_type", "url", "body", "expected"),
    [
        ("text/html; charset=utf-8", "http://a.example/x.pdf", b"a", ".html"),
        ("TEXT/HTML", "http://a.example/", b"a", ".html"),
        ("application/xhtml+xml", "http://a.example/", b"a", ".html"),
        ("text/plain", "http://a.example/notes", b"a", ".txt"),
        ("text/plain", "http://a.example/README.MD?raw=1", b"a", ".md"),
        ("text/markdown", "http://a.example/notes", b"a", ".md"),
        ("application/pdf", "http://a.example/", b"a", ".pdf"),
        ("text/xml", "http://a.example/", b"a", ".xml"),
        ("", "http://a.example/", b"%PDF-1.7", ".pdf"),
        ("application/octet-stream", "http://a.example/", b" <!DOCTYPE html><p>a", ".html"),
        ("application/octet-stream", "http://a.example/", b"\x1f\x8b\x08", ".xml"),
    ],
)
def test_what_a_page_is(content_type: str, url: str, body: bytes, expected: str) -> None:
    refuse_other_types(headers(content_type))
    assert suffix_of(headers(content_type), url, body) == expected


@pytest.mark.parametrize(
    "content_type", ["image/png", "text/css", "application/javascript", "html"]
)
def test_other_types_are_refused_before_they_are_read(content_type: str) -> None:
    with pytest.raises(PageRefused):
        refuse_other_types(headers(content_type))


def test_bytes_that_say_nothing_are_refused() -> None:
    with pytest.raises(PageRefused):
        suffix_of({}, "http://a.example/", b"\x89PNG")


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html; charset=windows-1252", b"caf\xe9", "\ufeffcafé".encode()),
        ('text/html; charset="KOI8-R"', b"\xc4\xc1", "\ufeff\u0434\u0430".encode()),
        ("text/html; charset=utf-8", b"caf\xe9", b"caf\xe9"),
        ("text/html", b"caf\xe9", b"caf\xe9"),
        ("text/html; charset=shift_jis", b"\xff\xff", b"\xff\xff"),
        ("text/html; charset=unicode_escape", b"\\x41", b"\\x41"),
        ("text/html; charset=zlib", b"a", b"a"),
        ("text/html; charset=latin-1", b"\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
    ],
)
def test_the_encoding_that_only_the_server_knows_is_kept(
    content_type: str, body: bytes, expected: bytes
) -> None:
    assert in_utf8(headers(content_type), ".html", body) == expected


def test_a_pdf_is_left_as_it_is() -> None:
    assert in_utf8(headers("application/pdf; charset=latin-1"), ".pdf", b"\xe9") == b"\xe9"
