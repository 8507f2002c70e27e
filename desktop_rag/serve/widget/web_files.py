"""The files of the embedded chat: its script, its client, the page that shows it. Pure but for
reading them.

The sources are ES modules. The script that pages load is one file: the modules one after the other
in one function, without what joins them, without comments, indentation and the blanks of the style
that mean nothing. Their lines stay otherwise as they are, and can be read in a debugger.
"""

import re
from functools import cache
from pathlib import Path

from desktop_rag.core.paths import resources_dir

_HEAD = """\
// The chat of desktop-rag. Its sources, with comments, are in resources/web.
(() => {
"use strict";
"""
_END = """\
globalThis.DesktopRag = { Client, init };
})();
"""
# In the order in which each uses only those before it.
_PARTS = ("client.js", "words.js", "markup.js", "style.js", "chat.js")
_IMPORT = re.compile(r"^import\s+\{[^}]*\}\s+from\s+\"\./[\w.]+\";\n", re.MULTILINE)
_COMMENT = re.compile(r"^(?:\s*(?://|/\*\*)|\s+\*(?:/| |$)).*\n", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_STYLE = re.compile(r"(?<=const STYLE = `)[^`]*")
# A blank before a colon parts two selectors.
_BLANKS = re.compile(r" ?([{;,}]) ?|(:) ")
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


def web_folder() -> Path:
    """Where the files are."""
    return resources_dir() / "web"


@cache
def web_file(name: str) -> str:
    """The text of a file."""
    return (web_folder() / name).read_text("utf-8")


@cache
def chat_script() -> str:
    """The chat as one file, for a `script` element or a copy on another server."""
    body = "".join(_joined(web_file(name)) for name in _PARTS)
    return f"{_HEAD}{body}{_END}"


def _joined(module: str) -> str:
    for dropped in (_IMPORT, _COMMENT, _INDENT, _EXPORT):
        module = dropped.sub("", module)
    return _STYLE.sub(lambda style: _BLANKS.sub(r"\1\2", style[0]), module)
