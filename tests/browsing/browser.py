"""Chromium without a window, driven over its own protocol through a pair of pipes.

with Browser() as browser:
    page = browser.open("http://127.0.0.1:8642/demo")
    page.wait("document.title !== ''")
    assert page.complaints() == []
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio",
    "--force-color-profile=srgb", "--remote-debugging-pipe",
)  # fmt: skip
_WAIT_S = 45.0
# It finds the ends of its pipes at 3 and 4.
_START = """
import fcntl, os, sys
# Out of the way of each other first.
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for at, end in zip((3, 4), ends):
    os.dup2(end, at)
os.execv(sys.argv[3], sys.argv[3:])
"""
# What a policy blocks, as the page itself is told.
_LISTEN = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""


class Browser:
    """Runs between `__enter__` and `__exit__`, with a profile of its own."""

    def __enter__(self) -> Self:
        """Start it."""
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self._to = os.pipe()
        self._from, from_child = os.pipe()
        options = [*_OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(to_child), str(from_child), CHROMIUM, *options],
            pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._waiting = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            self.call("Browser.close")
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._profile.cleanup()

    def open(
        self, address: str, *, width: int = 900, height: int = 900, scheme: str = "light"
    ) -> "Page":
        """A page in a tab of its own, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, attached["sessionId"])
        page.show(width, height, scheme)
        page.go(address)
        return page

    def call(self, method: str, session: str = "", **given: Any) -> dict[str, Any]:
        """The result of a command of the protocol; events on the way are kept."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": given}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _WAIT_S
        while True:
            answer = self._next(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def until(self, happened: Callable[[], object]) -> None:
        """Go on listening until something has happened outside the pages."""
        end = time.monotonic() + _WAIT_S
        while not happened():
            assert time.monotonic() < end
            self.call("Browser.getVersion")

    def _next(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._from], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self._from, 1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self._waiting += got
        whole, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(whole)


class Page:
    """One tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session
        for room in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{room}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=_LISTEN)

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """The result of a command to this tab."""
        return self._browser.call(method, self._session, **given)

    def show(self, width: int, height: int, scheme: str) -> None:
        """Use a window of this size in pixels, and a light or dark scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        wish = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[wish])

    def go(self, address: str) -> None:
        """Load an address and wait until it is complete."""
        failed = self.call("Page.navigate", url=address).get("errorText")
        assert not failed, failed
        self.wait(f"location.href === {json.dumps(address)} && document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """The value of an expression, or of the promise that it is."""
        result = self.call(
            "Runtime.evaluate",
            expression=expression, awaitPromise=True, returnByValue=True, userGesture=True,
        )  # fmt: skip
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a condition in the page is true."""
        until = time.monotonic() + _WAIT_S
        while not self.value(f"!!({condition})"):
            assert time.monotonic() < until, f"{condition}\n{self.value('document.body.innerText')}"

    def press(self, key: str, code: int, **more: Any) -> None:
        """Press and release a key as a person does."""
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code, **more}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Write a picture of what is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def addresses(self) -> list[str]:
        """The address of every request."""
        return [
            event["params"]["request"]["url"]
            for event in self._heard("Network.requestWillBeSent")
            if not event["params"]["request"]["url"].startswith("data:")
        ]

    def sent(self) -> list[dict[str, Any]]:
        """The JSON bodies of the requests that had one."""
        requests = [e["params"]["request"] for e in self._heard("Network.requestWillBeSent")]
        return [json.loads(each["postData"]) for each in requests if each.get("postData")]

    def complaints(self) -> list[str]:
        """Violations of the policy, errors in the console, exceptions."""
        found: list[str] = self.value("globalThis.violations")
        for event in self._heard("Log.entryAdded"):
            entry = event["params"]["entry"]
            if entry["level"] in ("error", "warning"):
                found.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        found += [str(e["params"]) for e in self._heard("Runtime.exceptionThrown")]
        return found

    def _heard(self, method: str) -> list[dict[str, Any]]:
        return [
            event
            for event in self._browser.events
            if event["method"] == method and event.get("sessionId") == self._session
        ]
