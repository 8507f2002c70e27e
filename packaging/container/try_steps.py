"""Runs the steps of the Containerfile where there is no container engine, and uses what they made.

    sudo -E .venv/bin/python packaging/container/try_steps.py

The image lives in a root of its own, whose folders of the system are this computer's, read-only.
Its command runs there as the user of the image, with everything but the volume and /tmp read-only.
Then it is asked for its health, given a folder and a token, asked a question that a scripted model
answers, and ended by SIGTERM. This does not prove that the base image has the libraries of the
system that are needed: those that were loaded are printed. Needs root and the package registry.
"""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from containerfile import CONTAINERFILE, Instruction, instructions

CHECKOUT = CONTAINERFILE.parents[2]
PREFIX = Path(sys.base_prefix)
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
_INSIDE = "TRY_STEPS_ROOT"
_PORT = 8642
_WAIT_S = 60.0
_NO_WINDOW = re.compile(r"Qt6|PySide|libEGL|libGL\.|libxcb|libX11|wayland")
_REGISTRY = re.compile(r"(?:PIP|SSL|REQUESTS|https?|no)_\w+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Done:
    """A program that has ended."""

    returncode: int
    stdout: str
    stderr: str


class Image:
    """The root that the steps fill, and what they say of the container."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.user = 0
        self.env: dict[str, str] = {}
        self.said: dict[str, list[str]] = {}
        self._folder = "/"

    def apply(self, step: Instruction) -> None:
        """Do what an instruction says."""
        match step.name:
            case "FROM":
                # The later stage has a file system of its own; what it copies has the same path.
                for left in ("src", "wheel", "opt/tools"):
                    shutil.rmtree(self.root / left, ignore_errors=True)
                self.env, self._folder = {"PATH": f"{PREFIX}/bin:/usr/sbin:/usr/bin:/bin"}, "/"
            case "ENV":
                path = self.env["PATH"]
                self.env |= {k: v.replace("$PATH", path) for k, v in step.pairs.items()}
            case "WORKDIR":
                self._folder = step.text
                (self.root / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(step.words)
            case "RUN":
                done = self.run(["sh", "-ec", step.text], user=0)
                assert done.returncode == 0, f"{step.text}\n{done.stdout}\n{done.stderr}"
            case "USER":
                self.user = int(self.run(["id", "-u", step.text], user=0).stdout)
            case _:
                self.said[step.name] = step.words

    def _copy(self, words: Sequence[str]) -> None:
        *sources, target = words
        if sources[0].startswith("--from"):
            assert (self.root / sources[1].lstrip("/")).exists(), sources[1]
            return
        goal = self.root / str(Path(self._folder) / target).lstrip("/")
        for source in sources:
            found = CHECKOUT / source
            if found.is_dir():
                skipped = shutil.ignore_patterns("__pycache__")
                shutil.copytree(found, goal, ignore=skipped, dirs_exist_ok=True)
            else:
                shutil.copy(found, goal / found.name if target.endswith("/") else goal)

    def started(self, command: Sequence[str], user: int | None = None) -> "subprocess.Popen[str]":
        """A program in the root, by default as the user of the image."""
        number = str(self.user if user is None else user)
        drop = ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
        kept = [] if number == "0" else ["--no-new-privs", "--bounding-set=-all"]
        registry = {k: v for k, v in os.environ.items() if _REGISTRY.fullmatch(k)}
        enter = f'cd {self._folder} && exec "$@"'
        return subprocess.Popen(
            ["chroot", str(self.root), *drop, *kept, "sh", "-c", enter, "sh", *command],
            env=self.env | registry, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, command: Sequence[str], user: int | None = None) -> Done:
        """The same until its end."""
        process = self.started(command, user)
        out, err = process.communicate()
        return Done(process.returncode, out, err)


class Model(BaseHTTPRequestHandler):
    """Answers every question with the first source."""

    def do_GET(self) -> None:
        """List the model."""
        self._send({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        """Answer, as a stream or whole."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "The lamp is lit at dusk [1]."
        choice = {"index": 0, "finish_reason": "stop"}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": text}
            choices = [choice | {"message": message}]
            self._send({"id": "1", "object": "chat.completion", "choices": choices})
            return
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "scripted"}
        first = chunk | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}
        last = chunk | {"choices": [choice | {"delta": {}}]}
        body = "".join(f"data: {json.dumps(each)}\n\n" for each in (first, last))
        self._send(f"{body}data: [DONE]\n\n".encode(), "text/event-stream")

    def _send(self, body: object, kind: str = "application/json") -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def main() -> int:
    """Do it; returns the exit code."""
    if _INSIDE not in os.environ:
        root = tempfile.mkdtemp(prefix="image-")
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, __file__]
        try:
            return subprocess.run(command, env=os.environ | {_INSIDE: root}, check=False).returncode
        finally:
            Path(root).rmdir()
    image = Image(Path(os.environ[_INSIDE]))
    _mount_system(image.root)
    for step in instructions(CONTAINERFILE.read_text("utf-8")):
        print(f"== {step.name} {step.text[:90]}", flush=True)
        image.apply(step)
    _seal(image)
    _use(image)
    return 0


def _mount_system(root: Path) -> None:
    _call("mount", "-t", "tmpfs", "-o", "mode=755", "image", str(root))
    for folder in (*_SYSTEM, str(PREFIX)):
        if Path(folder).is_dir():
            (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
            _call("mount", "--rbind", folder, f"{root}{folder}")
            _call("mount", "-o", "remount,bind,ro", f"{root}{folder}")
    shutil.copytree("/etc", root / "etc", symlinks=True, ignore_dangling_symlinks=True)
    for name in ("proc", "dev"):
        (root / name).mkdir()
        _call("mount", "--rbind", f"/{name}", str(root / name))
    (root / "tmp").mkdir(mode=0o1777)
    (root / "tmp").chmod(0o1777)
    (root / "documents").mkdir()
    lamp = root / "documents" / "lamp.md"
    lamp.write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.\n")
    hour_ago = time.time() - 3600
    os.utime(lamp, (hour_ago, hour_ago))


def _seal(image: Image) -> None:
    """Everything read-only but the volume and /tmp."""
    [volume] = image.said["VOLUME"]
    for folder in (volume, "/tmp"):
        place = str(image.root / folder.lstrip("/"))
        _call("mount", "--bind", place, place)
    _call("mount", "-o", "remount,bind,ro", str(image.root))


def _use(image: Image) -> None:
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{model.server_address[1]}/v1"
    server = image.started([*image.said["ENTRYPOINT"], *image.said["CMD"]])
    heard: list[str] = []
    threading.Thread(target=lambda: heard.extend(server.stderr or ()), daemon=True).start()
    try:
        _until_well(image, server)
        # chroot, setpriv and sh have been replaced by it.
        pid = server.pid
        assert "desktop-rag" in Path(f"/proc/{pid}/cmdline").read_text()
        print("user", Path(f"/proc/{pid}/status").read_text().split("Uid:")[1].split()[0])
        program = image.said["ENTRYPOINT"]
        secret = _ok(image, [*program, "token", "add", "try", "--allow", "ask"]).strip()
        _say("index", _ok(image, [*program, "index", "/documents"]))
        add = [*program, "endpoint", "add", address, "--model", "scripted"]
        _say("endpoint", _ok(image, add))
        _say("answer", _asked(secret))
        _check_libraries(pid)
        _check_read_only(image)
        assert secret not in "".join(heard), "the log holds a token"
    finally:
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        code = server.wait(_WAIT_S)
    print(f"ended by SIGTERM with {code} after {time.monotonic() - began:.1f} s")
    assert code == 0, "".join(heard)
    print("".join(heard))


def _until_well(image: Image, server: "subprocess.Popen[str]") -> None:
    check = image.said["HEALTHCHECK"]
    command = json.loads(" ".join(check[check.index("CMD") + 1 :]))
    began = time.monotonic()
    while image.run(command).returncode:
        assert server.poll() is None, "the server ended"
        assert time.monotonic() - began < _WAIT_S, "the server is not well"
    print(f"well after {time.monotonic() - began:.1f} s")


def _asked(secret: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", _PORT, timeout=_WAIT_S)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection.request("GET", "/v1/models", headers=headers)
    models = json.loads(connection.getresponse().read())
    question = {"role": "user", "content": "When is the lamp lit?"}
    body = json.dumps({"model": models["data"][0]["id"], "messages": [question]})
    connection.request("POST", "/v1/chat/completions", body, headers)
    answer = json.loads(connection.getresponse().read())
    text = answer["choices"][0]["message"]["content"]
    assert "dusk [1]" in text, answer
    assert answer["desktop_rag"]["sources"][0]["title"], answer
    return text


def _check_libraries(pid: int) -> None:
    maps = {line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()}
    window = sorted(each for each in maps if _NO_WINDOW.search(each))
    assert not window, window
    system = sorted(Path(each).name for each in maps if re.match(r"/(?:usr/)?lib.*\.so", each))
    _say("libraries of the system", " ".join(system))


def _check_read_only(image: Image) -> None:
    for place, may in (("/opt/desktop-rag/x", False), ("/etc/x", False), ("/data/x", True)):
        assert (image.run(["touch", place]).returncode == 0) is may, place


def _ok(image: Image, command: Sequence[str]) -> str:
    done = image.run(command)
    assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
    return done.stdout


def _say(what: str, text: str) -> None:
    print(f"{what}: {text.strip()}", flush=True)


def _call(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    raise SystemExit(main())
