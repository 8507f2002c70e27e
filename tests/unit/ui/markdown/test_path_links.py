"""Relative links of documents: paths for the library, and nothing else."""

import pytest

from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import load_scheme
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, linked_path, render_html

LOOK = MarkdownStyle(load_scheme(resources_dir() / "themes" / "light.toml").roles)


@pytest.mark.parametrize("target", ["a.md", "../b/c%20d.pdf", "./e", "f.md#part", "sub/g?x=1"])
def test_paths_are_links_where_they_are_wanted(target: str) -> None:
    written = render_html(f"See [it]({target}).", (), LOOK, links_paths=True)
    assert f'href="path:{target}"' in written
    assert linked_path(f"path:{target}") == target
    assert "href" not in render_html(f"See [it]({target}).", (), LOOK)


@pytest.mark.parametrize(
    "target",
    [
        "/etc/passwd",
        "//host/a",
        "file:///etc/passwd",
        "C:/a",
        "javascript:x",
        "#part",
        "data:,x",
        "",
    ],
)
def test_what_is_no_relative_path_is_no_link_to_one(target: str) -> None:
    assert "path:" not in render_html(f"See [it]({target}).", (), LOOK, links_paths=True)
