"""The server of llama.cpp with a tiny model of ours, in a process of its own.

    with LlamaServer(folder) as server:
        client = ChatClient(server.endpoint())

Run as a program it serves until its standard input ends:

    python tests/llama_server.py model.gguf '{"n_ctx": 512}'
"""

import importlib
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

MODEL = "tiny"


class LlamaServer:
    """Listens between `__enter__` and `__exit__`. With `ends` False its answers never end.

    `options` are parameters of llama.cpp; every request must carry `key`.
    """

    def __init__(
        self, folder: Path, *, ends: bool = True, key: str = "", **options: object
    ) -> None:
        self._model = folder / f"{MODEL}.gguf"
        self._ends = ends
        self._key = key
        self._options = {"n_ctx": 8192, **options} | ({"api_keys": [key]} if key else {})
        self.base_url = ""

    def __enter__(self) -> Self:
        from tests.servers.tiny_llama import write_model

        write_model(self._model, ends=self._ends)
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._model), json.dumps(self._options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout
        self.base_url = self._process.stdout.readline().strip() + "/v1"
        assert self.base_url.startswith("http"), "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=20)

    def kill(self) -> None:
        """Kill it, as in a crash."""
        self._process.kill()

    def slots(self) -> list[dict[str, Any]]:
        """The state of each of its slots."""
        url = self.base_url.removesuffix("/v1") + "/slots"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self._key}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


def serve(model: str, options: dict[str, Any]) -> None:
    """Print the address, and serve until standard input is closed."""
    xllamacpp: Any = importlib.import_module("xllamacpp")  # untyped, and not available everywhere
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {MODEL}
    parameters.port = 0
    parameters.n_parallel = 1
    parameters.endpoint_slots = True
    parameters.sampling.seed = 1
    for name, value in options.items():
        setattr(parameters, name, value)
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], json.loads(sys.argv[2]))
