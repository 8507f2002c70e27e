"""Synapse, the homeserver of Matrix, on this computer: SQLite, no federation, no telemetry.

    with Synapse(folder) as homeserver:
        homeserver.register("ann")
        homeserver.restart()

It is under the AGPL and heavy, so it runs in a process of an environment of its own, which
`make synapse` builds.
"""

import hashlib
import hmac
import json
import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

import pytest

PASSWORD = "a password of the tests"
SERVER_NAME = "matrix.test"
_ROOT = Path(__file__).parents[2]
_USUAL = _ROOT / "build" / "synapse" / "bin" / "python"
_START_LIMIT_S = 50.0
_POLL_S = 0.05


def synapse_python() -> Path:
    """The interpreter that has Synapse; without one the test is skipped."""
    python = Path(os.environ.get("DESKTOP_RAG_SYNAPSE", _USUAL))
    if not python.exists():
        pytest.skip("Synapse is not installed here: make synapse")
    return python


class Synapse:
    """A homeserver with everything below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = synapse_python()
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self._secret = "registration of the tests"

    def __enter__(self) -> Self:
        (self._folder / "homeserver.json").write_text(json.dumps(self._settings()))
        self._run("--generate-keys")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "synapse.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self._folder, stdout=log, stderr=log
            )
        until = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < until:
            assert self._process.poll() is None, (self._folder / "synapse.log").read_text()[-2000:]
            try:
                self._call("GET", "/_matrix/client/versions")
            except OSError:
                time.sleep(_POLL_S)
            else:
                return
        raise TimeoutError("Synapse did not start.")

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(20)

    def restart(self) -> None:
        self.stop()
        self.start()

    def register(self, name: str) -> str:
        """A new account; its Matrix id."""
        path = "/_synapse/admin/v1/register"
        nonce = self._call("GET", path)["nonce"]
        signed = b"\0".join(each.encode() for each in (nonce, name, PASSWORD, "notadmin"))
        mac = hmac.new(self._secret.encode(), signed, hashlib.sha1).hexdigest()
        body = {"nonce": nonce, "username": name, "password": PASSWORD, "mac": mac}
        return str(self._call("POST", path, body)["user_id"])

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            self._command(*arguments), cwd=self._folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]

    def _command(self, *arguments: str) -> list[str]:
        module = ["-m", "synapse.app.homeserver", "-c", "homeserver.json"]
        return [str(self._python), *module, *arguments]

    def _settings(self) -> dict[str, Any]:
        fast = {"per_second": 10_000, "burst_count": 10_000}
        listener: dict[str, Any] = {
            "port": self.port,
            "bind_addresses": ["127.0.0.1"],
            "type": "http",
            "resources": [{"names": ["client"]}],
        }
        return {
            "server_name": SERVER_NAME,
            "report_stats": False,
            "database": {"name": "sqlite3", "args": {"database": str(self._folder / "rooms.db")}},
            "listeners": [listener],
            "media_store_path": str(self._folder / "media"),
            "signing_key_path": str(self._folder / "signing.key"),
            "pid_file": str(self._folder / "synapse.pid"),
            "registration_shared_secret": self._secret,
            "trusted_key_servers": [],
            "federation_domain_whitelist": [],
            "allow_public_rooms_over_federation": False,
            "enable_metrics": False,
            "presence": {"enabled": False},
            "password_config": {"enabled": True},
            "bcrypt_rounds": 4,
            "rc_message": fast,
            "rc_login": {"address": fast, "account": fast, "failed_attempts": fast},
            "rc_registration": fast,
            "rc_joins": {"local": fast, "remote": fast},
            "rc_joins_per_room": fast,
            "rc_invites": {"per_room": fast, "per_user": fast, "per_issuer": fast},
            "rc_admin_redaction": fast,
        }
