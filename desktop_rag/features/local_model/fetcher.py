"""Fetches a model file from its host; what was fetched before is not fetched again.

Runs on the calling thread. The host is asked for nothing but the file, and states its hash.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import httpcore2

from desktop_rag.core.errors import AppError, Cancelled, DiskFullError, PassingError, os_error_as
from desktop_rag.core.waits import pause_s, wait_s_in
from desktop_rag.models.endpoint_address import is_this_computer
from desktop_rag.models.endpoints.client.connection import open_pool
from desktop_rag.models.endpoints.client.interruptible_sockets import Interruption

HOST_VARIABLE = "HF_ENDPOINT"
_HOST = "https://huggingface.co"
_HASH = re.compile(r'(?:W/)?"?([0-9a-f]{64})"?')
_MOST_REDIRECTS = 5
_PIECE_BYTES = 1 << 20
# Left free on the disk.
_SPARE_BYTES = 500 << 20
_TIMEOUTS = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 10.0}
_OK, _PARTIAL, _REDIRECTS = 200, 206, range(300, 400)
_CLOSED = (401, 403)
_MISSING = 404
_AGAIN = "What was fetched is kept: continue to fetch the rest."
_GB = 1e9
# A host that is busy is asked again after the pause that it wants, unless that is long.
_LONGEST_PAUSE_S = 60.0
_MOST_IDLE = 3

# (bytes fetched, bytes in all)
Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as its host states it."""

    url: str
    sha256: str
    size_bytes: int


class HostBusyError(PassingError):
    """The host refuses for now; `wait_s` is the pause that it asks for, None without one."""

    wait_s: float | None = None


def host() -> str:
    """The address of the host: that of HF_ENDPOINT if set."""
    return (os.environ.get(HOST_VARIABLE) or _HOST).rstrip("/")


def part_of(folder: Path, file: str, sha256: str) -> Path:
    """The file in which a download grows; another content has another one."""
    return folder / f"{file}.{sha256[:16]}.part"


def fetch(repository: str, file: str, folder: Path, cancel: Event, tell: Tell) -> Path:
    """Fetch the file into the folder, or the rest of it; returns its path.

    AppError when the host, the network or the disk fails, or the content is not what the host
    states. Cancelled soon after `cancel` is set.
    """
    with os_error_as(f"“{file}” could not be saved.", folder):
        folder.mkdir(parents=True, exist_ok=True)
        remote = _look_up(f"{host()}/{quote(repository)}/resolve/main/{quote(file)}", cancel)
        part = part_of(folder, file, remote.sha256)
        digest, done = _hashed(part, remote.size_bytes, cancel)
        idle = 0
        _check_space(folder, remote.size_bytes - done)
        with part.open("ab", buffering=0) as growing:
            while done < remote.size_bytes:
                before = done
                try:
                    for piece, is_from_start in _pieces(remote, done, cancel):
                        if is_from_start and done:
                            growing.truncate(0)
                            digest, done = hashlib.sha256(), 0
                        growing.write(piece)
                        digest.update(piece)
                        done += len(piece)
                        tell(done, remote.size_bytes)
                except PassingError as error:
                    idle = 0 if done > before else idle + 1
                    _pause(error, idle, cancel)
            os.fsync(growing.fileno())
        if done != remote.size_bytes or digest.hexdigest() != remote.sha256:
            part.unlink()
            hint = "Its content is not what the host states, so it was deleted. Fetch it again."
            raise AppError(f"“{file}” was changed on its way.", hint)
        return part.replace(folder / file)


def _pause(error: PassingError, idle: int, cancel: Event) -> None:
    """Wait before the next request, as long as the host wants; raises `error` if there is none.

    `idle` is the number of requests in a row that brought nothing: only a host that says when to
    come back gets more than one of them.
    """
    asked_s = error.wait_s if isinstance(error, HostBusyError) else None
    planned_s = 0.0 if not idle else asked_s if idle <= _MOST_IDLE else None
    wait_s = pause_s(planned_s, asked_s, _LONGEST_PAUSE_S)
    if wait_s is None:
        raise error
    if cancel.wait(wait_s):
        raise Cancelled


def _look_up(url: str, cancel: Event) -> RemoteFile:
    """The size and the hash, which a host states with the file or where it points to another."""
    with _answer("HEAD", url, {}, cancel) as answer:
        headers = _headers(answer)
        if answer.status != _OK and answer.status not in _REDIRECTS:
            raise _refusal(url, answer.status, headers)
    stated = headers.get("x-linked-etag") or headers.get("etag", "")
    size = headers.get("x-linked-size") or headers.get("content-length", "")
    found = _HASH.fullmatch(stated)
    if not (found and size.isascii() and size.isdigit() and int(size)):
        hint = "Without it the file can't be checked. Use another host, or add a file of yours."
        raise AppError(f"{urlsplit(url).hostname} states no hash for the file.", hint)
    return RemoteFile(url, found[1], int(size))


def _hashed(part: Path, most: int, cancel: Event) -> tuple[Any, int]:
    """The hash so far and the bytes of what was fetched before."""
    digest, done = hashlib.sha256(), 0
    if part.exists() and part.stat().st_size > most:
        part.unlink()
    if part.exists():
        with part.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                _check(cancel)
                digest.update(piece)
                done += len(piece)
    return digest, done


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise DiskFullError(
            f"The model takes {needed / _GB:.1f} GB, and {free / _GB:.1f} GB are free."
        )


def _pieces(remote: RemoteFile, done: int, cancel: Event) -> Iterator[tuple[bytes, bool]]:
    """The rest of the file; True with pieces of a host that sends it from its start."""
    url = remote.url
    for _ in range(_MOST_REDIRECTS):
        asked = {"Range": f"bytes={done}-"} if done else {}
        with _answer("GET", url, asked, cancel) as answer:
            if answer.status in _REDIRECTS:
                url = _target(url, answer)
                continue
            if answer.status not in (_OK, _PARTIAL):
                raise _refusal(url, answer.status, _headers(answer))
            is_from_start = answer.status == _OK
            left = remote.size_bytes - (0 if is_from_start else done)
            for piece in answer.iter_stream():
                _check(cancel)
                # More than was stated would fill the disk.
                yield piece[:left], is_from_start
                is_from_start, left = False, left - len(piece)
                if left <= 0:
                    return
            return
    raise AppError("The host points from one address to another.", "Try again later.")


@contextmanager
def _answer(
    method: str, url: str, headers: dict[str, str], cancel: Event
) -> Generator[httpcore2.Response]:
    """One request, through the system's proxy. Nothing but the app's name is sent with it."""
    interruption = Interruption()
    sent = {"Host": urlsplit(url).netloc, "User-Agent": "desktop-rag", "Accept": "*/*", **headers}
    sent_headers = [(name.encode(), value.encode()) for name, value in sent.items()]
    timeouts = {"timeout": _TIMEOUTS}
    place = urlsplit(url).hostname or ""
    try:
        with (
            closing(open_pool(url, interruption)) as pool,
            interruption.by(cancel),
            pool.stream(method, url, headers=sent_headers, extensions=timeouts) as answer,
        ):
            yield answer
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError) as exc:
        title = f"The connection to {place} failed."
        raise PassingError(title, f"Check the network. {_AGAIN}") from exc
    except httpcore2.TimeoutException as exc:
        raise PassingError(f"{place} does not answer.", f"Check the network. {_AGAIN}") from exc


def _target(url: str, answer: httpcore2.Response) -> str:
    """Where a redirect leads, never from a protected connection to an open one."""
    target = urljoin(url, _headers(answer).get("location", ""))
    is_open = urlsplit(target).scheme != "https"
    if is_open and not (is_this_computer(url) and is_this_computer(target)):
        raise AppError("The host points to an address without https.", "Use another host.")
    return target


def _headers(answer: httpcore2.Response) -> dict[str, str]:
    return {name.decode("latin-1").lower(): v.decode("latin-1") for name, v in answer.headers}


def _refusal(url: str, status: int, headers: Mapping[str, str]) -> AppError:
    place = urlsplit(url).hostname
    if status in _CLOSED:
        hint = "It wants to know who asks, which this app doesn't tell. Choose another model."
        return AppError(f"{place} does not give the file to everybody.", hint)
    if status == _MISSING:
        return AppError(f"{place} does not have the file any more.", "Choose another model.")
    error = HostBusyError(f"{place} failed with status {status}.", f"Try again later. {_AGAIN}")
    error.wait_s = wait_s_in("", headers=headers)
    return error


def _check(cancel: Event) -> None:
    if cancel.is_set():
        raise Cancelled
