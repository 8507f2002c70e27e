"""Which private addresses a list of hosts opens, and that it opens nothing else."""

from ipaddress import ip_address

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.web_pages.intranet_hosts import intranet_hosts_of, parse_intranet_hosts


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (" Wiki.Example ", "wiki.example"),
        ("wiki.example:8080", "wiki.example:8080"),
        ("wiki.example:8080   10.1.0.0/16", "wiki.example:8080 10.1.0.0/16"),
        ("10.1.2.3", "10.1.2.3"),
        ("[fd00::1]:8443", "[fd00::1]:8443"),
        ("fd00::1", "[fd00::1]"),
        ("192.168.0.0/24", "192.168.0.0/24"),
        ("127.0.0.1:9000", "127.0.0.1:9000"),
    ],
)
def test_lines_are_kept_in_one_form_that_is_read_again(line: str, kept: str) -> None:
    assert parse_intranet_hosts([line, "", line]) == (kept,)
    assert parse_intranet_hosts([kept]) == (kept,)


@pytest.mark.parametrize(
    "line",
    [
        "http://wiki.example/", "wiki.example/path", "*.example", "wiki.example:0", "a:b",
        "wiki.example:", "wiki.example:99999", "wiki.example:8080x", "169.254.169.254",
        "169.254.0.0/16", "0.0.0.0/0", "0.0.0.0", "8.8.8.0/24", "10.0.0.0/7", "10.1.2.3/8",
        "fe80::1", "fe80::/10", "::/0", "224.0.0.1", "0x7f000001", "wiki.example 0.0.0.0/0",
        "a.example b.example", "a.example 10.0.0.0/8 10.0.0.0/8", "me@wiki.example",
    ],
)  # fmt: skip
def test_other_lines_are_refused_and_allow_nothing(line: str) -> None:
    with pytest.raises(AppError) as caught:
        parse_intranet_hosts([line])
    assert caught.value.title
    assert intranet_hosts_of([line]).allowed == ()


@pytest.mark.parametrize(
    ("line", "host", "port", "address", "expected"),
    [
        ("wiki.example", "wiki.example", 443, "10.0.0.1", True),
        ("wiki.example", "wiki.example", 80, "fd00::7", True),
        ("wiki.example", "wiki.example", 80, "::ffff:10.0.0.1", True),
        ("wiki.example", "wiki.example", 8080, "10.0.0.1", False),
        ("wiki.example:8080", "wiki.example", 8080, "10.0.0.1", True),
        ("wiki.example:8080", "wiki.example", 443, "10.0.0.1", False),
        ("wiki.example", "a.wiki.example", 443, "10.0.0.1", False),
        ("wiki.example", "wiki.example.evil", 443, "10.0.0.1", False),
        ("wiki.example", "10.0.0.1", 443, "10.0.0.1", False),
        # A name never leads to this computer, or to a cloud's secrets, by itself.
        ("wiki.example", "wiki.example", 443, "127.0.0.1", False),
        ("wiki.example", "wiki.example", 443, "::ffff:127.0.0.1", False),
        ("wiki.example", "wiki.example", 443, "169.254.169.254", False),
        ("wiki.example", "wiki.example", 443, "0.0.0.0", False),
        ("wiki.example", "wiki.example", 443, "fe80::1", False),
        ("wiki.example 10.1.0.0/16", "wiki.example", 443, "10.1.2.3", True),
        ("wiki.example 10.1.0.0/16", "wiki.example", 443, "10.2.2.3", False),
        ("wiki.example 10.1.0.0/16", "wiki.example", 443, "fd00::1", False),
        ("wiki.example 127.0.0.0/8", "wiki.example", 443, "127.0.0.1", True),
        ("localhost:9000", "localhost", 9000, "127.0.0.1", True),
        ("127.0.0.1:9000", "127.0.0.1", 9000, "127.0.0.1", True),
        ("127.0.0.1:9000", "127.0.0.1", 9001, "127.0.0.1", False),
        ("10.1.0.0/16", "10.1.2.3", 8080, "10.1.2.3", True),
        ("10.1.0.0/16", "evil.example", 8080, "10.1.2.3", False),
        ("10.1.0.0/16", "10.2.2.3", 8080, "10.2.2.3", False),
    ],
)
def test_only_what_is_listed_is_open(
    line: str, host: str, port: int, address: str, expected: bool
) -> None:
    assert intranet_hosts_of([line]).allows(host, port, ip_address(address)) is expected


def test_without_a_list_nothing_is_open() -> None:
    assert not intranet_hosts_of([]).allows("wiki.example", 443, ip_address("10.0.0.1"))
