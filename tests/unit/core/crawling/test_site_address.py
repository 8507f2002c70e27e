from pathlib import PurePosixPath, PureWindowsPath

import pytest

from desktop_rag.core.crawling import site_address

_ROOT = PurePosixPath("/mirror")


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("guide/page.html", "https://a.example/en/guide/page.html"),
        ("guide/index.html", "https://a.example/en/guide/"),
        ("Index.HTM", "https://a.example/en/"),
        ("reindex.html", "https://a.example/en/reindex.html"),
        ("50% off?.pdf", "https://a.example/en/50%25%20off%3F.pdf"),
        ("a#b/ü.md", "https://a.example/en/a%23b/%C3%BC.md"),
    ],
)
@pytest.mark.parametrize("base", ["https://a.example/en", "https://a.example/en/"])
def test_files_have_addresses_below_the_base(base: str, below: str, expected: str) -> None:
    assert site_address(base, _ROOT, _ROOT / below) == expected


def test_paths_of_windows_become_addresses() -> None:
    root = PureWindowsPath("C:\\mirror")
    address = site_address("https://a.example/", root, root / "b" / "c d.html")
    assert address == "https://a.example/b/c%20d.html"


def test_a_file_elsewhere_and_a_folder_without_a_base_have_none() -> None:
    assert site_address("https://a.example/", _ROOT, PurePosixPath("/other/a.html")) == ""
    assert site_address("", _ROOT, _ROOT / "a.html") == ""


def test_a_source_that_is_a_file_has_the_base() -> None:
    assert site_address("https://a.example/a.pdf", _ROOT, _ROOT) == "https://a.example/a.pdf"
