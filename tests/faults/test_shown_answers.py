"""S-01: an answer on the screen opens no file and no connection, while it streams and afterwards.

The window is a process of its own: Qt opens files in native code, which only the system sees.
"""

import io
import json
import subprocess
from pathlib import Path

import pytest

from tests.faults.system_calls import SystemCalls, needs_strace

SHOWING = """
import json, sys
from PySide6.QtWidgets import QApplication
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_body import AnswerBody
from desktop_rag.ui.messages.answer_body import SegmentView

opened = []
sys.addaudithook(lambda event, said: opened.append(str(said[0])) if event == "open" else None)
qt = QApplication([])
theme = Theme(qt, resources_dir(), AppearanceSettings(ColourScheme.LIGHT))
body, view = AnswerBody(theme), SegmentView(theme)
for widget in (body, view):
    widget.resize(600, 400)
    widget.show()
text, html = sys.argv[1:]
view.show_html(html, ())
view.grab()
for end in range(1, len(text), 7):
    body.show_text(text[:end], (), is_live=True)
    body.grab()
body.show_text(text, ())
body.grab()
qt.processEvents()
print(json.dumps(opened))
"""
WEB = "127.0.0.1:9"


def forms(file: str) -> list[str]:
    """An answer for each way to name a picture."""
    escaped = file.replace("/", "&#47;")
    return [
        f"![x](file://{file})",
        f"![x]({file})",
        f"![x](http://{WEB}/a) ![x](//{WEB}/share/a.png)",
        f"![x][1]\n\n[1]: file://{file}\n[x]: {file}",
        f"<img src='file://{file}'> <img src={escaped}> &lt;img src={file}&gt;",
        f"<table background='{file}'><td>x</td></table>",
        f"<link rel=stylesheet href='{file}'><style>body{{background:url({file})}}</style>",
        f"| ![x]({file}) |\n|---|\n| <img src={file}> |",
        f"[![x]({file})](https://example.org)",
        "![x](data:image/svg+xml;utf8,<svg><image href='" + file + "'/></svg>)",
    ]


@needs_strace
def test_s01_an_answer_on_the_screen_opens_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture())
    calls = SystemCalls(tmp_path / "calls.log")
    answer = "\n\n".join(forms(str(secret)))
    # The second line of defence: HTML that the renderer of answers would never make.
    html = f"<img src='file://{secret}'><img src='{secret}'><img src='http://{WEB}/b'>x"
    done = subprocess.run(
        calls.command(["-c", SHOWING, answer, html]), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    opened = json.loads(done.stdout)
    assert [name for name in opened if str(secret) in name] == []
    assert calls.naming("libqoffscreen"), "the trace shows what native code opens"
    assert calls.naming(f'"{secret}', f"//{secret}") == []
    assert calls.connections() == []


def picture() -> bytes:
    image = pytest.importorskip("PIL.Image", reason="the extra `ocr` is not installed")
    buffer = io.BytesIO()
    image.new("RGB", (40, 40), "red").save(buffer, "PNG")
    return buffer.getvalue()
