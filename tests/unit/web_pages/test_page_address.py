import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.errors import AppError
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    joined,
    normalise,
    parse_links,
    target_of,
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("example.org", ("https://example.org/",)),
        ("  http://Example.ORG:80/A?q=1#part \n", ("http://example.org/A?q=1",)),
        ("https://a.example\n\nb.example/x, c.example", (
            "https://a.example/", "https://b.example/x", "https://c.example/")),
        ("a.example,b.example", ("https://a.example/", "https://b.example/")),
        ("https://a.example/x,y.html,https://b.example", (
            "https://a.example/x,y.html", "https://b.example/")),
        ("a.example a.example/", ("https://a.example/",)),
        ("https://bücher.example/straße?ü", (
            "https://xn--bcher-kva.example/stra%C3%9Fe?%C3%BC",)),
        ("example.org:8443/a", ("https://example.org:8443/a",)),
        ("https://example.org./", ("https://example.org/",)),
        ("https://[2606:4700::1111]/a", ("https://[2606:4700::1111]/a",)),
        ("https://intranet/wiki", ("https://intranet/wiki",)),
    ],
)  # fmt: skip
def test_addresses_are_taken_as_people_write_them(typed: str, expected: tuple[str, ...]) -> None:
    assert parse_links(typed) == expected


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("https://a.example\nhello", "hello"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("ftp://a.example/x", "ftp://a.example/x"),
        ("https://me:secret@a.example", "https://me:secret@a.example"),
        ("a.example:22", "a.example:22"),
        ("/etc/passwd", "/etc/passwd"),
        ("https://a..example", "https://a..example"),
    ],
)
def test_the_line_that_is_no_address_is_named(typed: str, named: str) -> None:
    with pytest.raises(AppError) as caught:
        parse_links(typed)
    assert named in caught.value.title
    assert caught.value.hint


def test_nothing_entered_is_said() -> None:
    with pytest.raises(AppError, match="no address"):
        parse_links(" ,\n ")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "https://a.example/b"), ("b?c", "https://a.example/x/b?c"),
        ("//b.example", "https://b.example/"), ("?q", "https://a.example/x/y?q"),
        ("http://a.example:443/", "http://a.example:443/"), ("/ü", "https://a.example/%C3%BC"),
    ],
)  # fmt: skip
def test_a_redirect_is_followed_from_where_it_stands(location: str, expected: str) -> None:
    assert joined("https://a.example/x/y", location) == expected


def test_what_a_server_is_asked_for() -> None:
    assert target_of("https://a.example/") == "/"
    assert target_of("http://[2606:4700::1111]:8080/a?b=c") == "/a?b=c"


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_is_refused_or_has_one_form(text: str) -> None:
    try:
        url = normalise(f"https://{text}")
    except PageRefused:
        return
    assert normalise(url) == url
    assert url.isascii()
