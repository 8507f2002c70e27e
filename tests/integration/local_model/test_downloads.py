"""Models are fetched from a host on this computer: paused, resumed, checked."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError, DiskFullError
from desktop_rag.features.local_model import fetcher
from desktop_rag.features.local_model.catalogue import OfferedModel, offered_models
from desktop_rag.features.local_model.downloads import DownloadChanged, Downloads, DownloadState
from tests.servers.model_host import ModelHost
from tests.waiting import until

CONTENT = bytes(range(256)) * 16_384  # 4 MB
MODEL: OfferedModel = offered_models()[0]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHost]:
    made = ModelHost(CONTENT)
    monkeypatch.setenv(fetcher.HOST_VARIABLE, made.url)
    yield made
    made.close()


@pytest.fixture
def downloads(tmp_path: Path) -> Iterator[Downloads]:
    made = Downloads(tmp_path / "models", Changes())
    yield made
    made.close()


def file_of(downloads: Downloads) -> Path:
    return downloads.folder / MODEL.file


def test_nothing_is_asked_before_a_press_and_progress_is_told(
    host: ModelHost, tmp_path: Path
) -> None:
    told: list[DownloadChanged] = []
    changes = Changes()
    changes.hear(DownloadChanged, told.append)
    downloads = Downloads(tmp_path / "models", changes)
    assert downloads.all() == ()
    assert downloads.host == host.url.removeprefix("http://")
    assert host.requests == []
    downloads.fetch(MODEL)
    done = downloads.wait(MODEL.name)
    assert (done.state, done.title) == (DownloadState.DONE, "")
    assert done.done_bytes == done.total_bytes == len(CONTENT)
    assert file_of(downloads).read_bytes() == CONTENT
    assert [path.name for path in downloads.folder.iterdir()] == [MODEL.file]
    assert told[0].download.state is DownloadState.RUNNING
    assert told[-1].download == done
    path = f"/{MODEL.repository}/resolve/main/{MODEL.file}"
    assert [request[:2] for request in host.requests] == [
        ("HEAD", path), ("GET", path), ("GET", "/store/blob"),
    ]  # fmt: skip


def test_a_pause_keeps_what_was_fetched(host: ModelHost, downloads: Downloads) -> None:
    host.most = 2_000_000
    downloads.fetch(MODEL)
    until(lambda: downloads.all()[0].done_bytes >= 1_900_000)
    downloads.pause(MODEL.name)
    [paused] = downloads.all()
    assert paused.state is DownloadState.PAUSED
    host.most = 1 << 30
    host.goes_on.set()
    # As after a start of the app.
    again = Downloads(downloads.folder, Changes())
    [left] = again.all()
    assert (left.state, left.done_bytes) == (DownloadState.PAUSED, paused.done_bytes)
    again.fetch(MODEL)
    assert again.wait(MODEL.name).state is DownloadState.DONE
    assert host.requests[-1][2] == f"bytes={paused.done_bytes}-"
    assert file_of(downloads).read_bytes() == CONTENT


def test_a_broken_connection_is_made_again(host: ModelHost, downloads: Downloads) -> None:
    host.most, host.breaks = 1_000_000, 1
    downloads.fetch(MODEL)
    assert downloads.wait(MODEL.name).state is DownloadState.DONE
    assert host.sent_bytes < len(CONTENT) + 1_000_000
    assert file_of(downloads).read_bytes() == CONTENT


def test_a_busy_host_is_asked_again_when_it_wants(host: ModelHost, downloads: Downloads) -> None:
    host.refused = 2
    downloads.fetch(MODEL)
    assert downloads.wait(MODEL.name).state is DownloadState.DONE
    assert file_of(downloads).read_bytes() == CONTENT


@pytest.mark.parametrize(("count", "wait_s"), [(10, "0.1"), (1, "3600"), (1, "soon")])
def test_a_host_that_stays_busy_is_left_alone(
    host: ModelHost, downloads: Downloads, count: int, wait_s: str
) -> None:
    host.refused, host.refusal = count, (503, wait_s)
    downloads.fetch(MODEL)
    failed = downloads.wait(MODEL.name)
    assert (failed.state, "status 503" in failed.title) == (DownloadState.FAILED, True)


def test_a_host_that_knows_no_ranges_sends_it_from_its_start(
    host: ModelHost, downloads: Downloads
) -> None:
    part = fetcher.part_of(downloads.folder, MODEL.file, host.stated)
    downloads.folder.mkdir()
    part.write_bytes(CONTENT[:1_000_000])
    host.knows_ranges = False
    downloads.fetch(MODEL)
    assert downloads.wait(MODEL.name).state is DownloadState.DONE
    assert file_of(downloads).read_bytes() == CONTENT


def test_another_content_is_refused_and_deleted(host: ModelHost, downloads: Downloads) -> None:
    host.content = CONTENT[:-1] + b"x"
    downloads.fetch(MODEL)
    failed = downloads.wait(MODEL.name)
    assert failed.state is DownloadState.FAILED
    assert "was changed on its way" in failed.title
    assert "deleted" in failed.hint
    assert list(downloads.folder.iterdir()) == []


def test_a_host_without_a_hash_is_refused(host: ModelHost, downloads: Downloads) -> None:
    host.stated = ""
    downloads.fetch(MODEL)
    assert "states no hash" in downloads.wait(MODEL.name).title


def test_a_full_disk_is_told_before_anything_is_fetched(
    host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1_000_000

    monkeypatch.setattr(fetcher.shutil, "disk_usage", lambda _folder: Usage)
    with pytest.raises(DiskFullError, match="The model takes"):
        fetcher.fetch("a/b", "c.gguf", tmp_path, threading.Event(), lambda *_: None)
    assert [method for method, *_ in host.requests] == ["HEAD"]


def test_a_host_that_is_not_there_is_told(
    downloads: Downloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fetcher.HOST_VARIABLE, "http://127.0.0.1:9")
    downloads.fetch(MODEL)
    failed = downloads.wait(MODEL.name)
    assert failed.state is DownloadState.FAILED
    assert failed.title == "The connection to 127.0.0.1 failed."


def test_a_discarded_download_leaves_nothing(host: ModelHost, downloads: Downloads) -> None:
    host.most = 1_000_000
    downloads.fetch(MODEL)
    until(lambda: downloads.all()[0].done_bytes >= 900_000)
    downloads.discard(MODEL)
    assert downloads.all() == ()
    assert list(downloads.folder.iterdir()) == []


_FETCHING = """
import sys, threading
from pathlib import Path
from desktop_rag.features.local_model import fetcher
fetcher.fetch(*sys.argv[1:3], Path(sys.argv[3]), threading.Event(),
              lambda done, _: print(done, flush=True))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_killed_download_goes_on_where_it_stopped(host: ModelHost, downloads: Downloads) -> None:
    host.most = 2_000_000
    command = [sys.executable, "-c", _FETCHING, MODEL.repository, MODEL.file]
    command.append(str(downloads.folder))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout
        while int(killed.stdout.readline()) < 1_900_000:
            pass
        os.kill(killed.pid, signal.SIGKILL)
    first_bytes = host.sent_bytes
    host.most = 1 << 30
    host.goes_on.set()
    downloads.fetch(MODEL)
    assert downloads.wait(MODEL.name).state is DownloadState.DONE
    assert file_of(downloads).read_bytes() == CONTENT
    assert host.sent_bytes - first_bytes < len(CONTENT) - 1_900_000 + (1 << 20)


def test_a_protected_address_does_not_lead_to_an_open_one() -> None:
    class Answer:
        headers = ((b"Location", b"http://elsewhere.example/blob"),)

    answer: Any = Answer()
    with pytest.raises(AppError, match="without https"):
        fetcher._target("https://host.example/a", answer)  # noqa: SLF001
