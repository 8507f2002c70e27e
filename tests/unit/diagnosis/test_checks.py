"""Each check of the system, seen failing on a thing that is really broken."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from keyring.backends.null import Keyring as NullKeyring

from desktop_rag import app
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.features.diagnosis.diagnosis import (
    check_bundled,
    check_endpoint,
    check_folders,
    check_keyring,
    check_watching,
    findings,
    permissions,
    read_manifest,
    sha256_of,
    space,
    watching,
    within,
)
from desktop_rag.features.diagnosis.finding import Finding, State, Subject, closed_home
from desktop_rag.models.embedding.joined_embedding import BUNDLED, NAMES
from desktop_rag.models.system_keyring import KeyStore
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer

NOBODY = 65534
is_root = hasattr(os, "geteuid") and os.geteuid() == 0
needs_root = pytest.mark.skipif(not is_root, reason="only root can become another user or mount")


@pytest.fixture
def subject(home: Home) -> Iterator[Subject]:
    """A home with an empty library."""
    app.build_services(home).close()
    with closed_home(home) as found:
        yield found


def only(found: Iterator[Finding]) -> Finding:
    [finding] = found
    return finding


# --- model files --------------------------------------------------------------------------------


def test_the_list_of_model_files_is_that_of_the_committed_files() -> None:
    models = resources_dir() / "models"
    files = {str(p.relative_to(models)) for p in models.rglob("*") if p.is_file()}
    listed = read_manifest(models)
    assert set(listed) == files - {"manifest.sha256"}
    assert {name: sha256_of(models / name) for name in listed} == listed


@pytest.mark.slow
def test_a_cut_a_changed_and_a_missing_model_file_are_named(
    subject: Subject, tmp_path: Path
) -> None:
    models = shutil.copytree(subject.models, tmp_path / "models")
    copied = replace(subject, models=models)
    assert only(check_bundled(copied, Event())).state is State.OK
    folder = models / NAMES[BUNDLED]
    with (folder / "model.onnx").open("r+b") as file:
        file.truncate(1000)
    (folder / "model.toml").write_text((folder / "model.toml").read_text() + "\n")
    (folder / "tokenizer.json").unlink()
    found = only(check_bundled(copied, Event()))
    assert found.state is State.PROBLEM
    for told in ("model.onnx was changed or cut", "model.toml was changed", "json is missing"):
        assert told in found.title
    (models / "manifest.sha256").write_text("nonsense\n")
    assert "cannot be read" in only(check_bundled(copied, Event())).title


# --- folders, watching --------------------------------------------------------------------------


@contextmanager
def with_sources(home: Home, *folders: Path) -> Iterator[Subject]:
    services = app.build_services(home)
    for folder in folders:
        services.library.sources.add(folder)
    services.close()
    with closed_home(home) as subject:
        yield subject


@pytest.mark.slow
def test_a_removed_folder_is_found(home: Home, tmp_path: Path) -> None:
    there, gone = tmp_path / "there", tmp_path / "gone"
    there.mkdir()
    gone.mkdir()
    with with_sources(home, there, gone) as subject:
        assert {f.state for f in check_folders(subject, Event())} == {State.OK}
        gone.rmdir()
        rows = {f.title: f.state for f in check_folders(subject, Event())}
    assert rows == {f"{there} has 0 files.": State.OK, f"{gone} cannot be reached.": State.WARNING}


@pytest.mark.slow
@needs_root
def test_a_folder_that_may_not_be_read_is_found(home: Home) -> None:
    closed = Path(tempfile.mkdtemp())  # others can come as far as this, but not into it
    with with_sources(home, closed) as subject:
        os.seteuid(NOBODY)
        try:
            found = only(check_folders(subject, Event()))
        finally:
            os.seteuid(0)
            closed.rmdir()
    assert (found.state, "may not be read" in found.title) == (State.WARNING, True)


def test_a_call_that_never_returns_is_given_up() -> None:
    never = Event()
    try:
        assert within(0.05, never.wait, otherwise=False) is False
    finally:
        never.set()


def test_too_few_watches_are_found_with_the_way_out(tmp_path: Path) -> None:
    limits, root = tmp_path / "limits", tmp_path / "root"
    limits.mkdir()
    for n in range(9):
        (root / str(n)).mkdir(parents=True)
    (limits / "max_user_instances").write_text("128\n")
    states = {}
    for most in (100, 11, 9):
        (limits / "max_user_watches").write_text(f"{most}\n")
        found = watching([root], Event(), limits, lambda: True)
        states[most] = found.state
    assert states == {100: State.OK, 11: State.WARNING, 9: State.WARNING}
    assert "sudo sysctl fs.inotify.max_user_watches=" in found.hint
    one = watching([root / "1"], Event(), limits, lambda: True)
    assert one.title.startswith("1 folder is watched")
    found = watching([root], Event(), limits, lambda: False)
    assert (found.state, "max_user_instances" in found.hint) == (State.WARNING, True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these limits")
def test_watching_without_a_free_watcher_is_found(subject: Subject) -> None:
    """Descriptors run out, which makes the same call fail as too many watchers."""
    import resource

    assert only(check_watching(subject, Event())).state is State.OK
    code = (
        "import resource, sys\n"
        "from desktop_rag.features.diagnosis.diagnosis import _can_watch\n"
        "assert _can_watch()\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "print(_can_watch())\n"
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 3
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- space, permissions -------------------------------------------------------------------------


def test_little_space_is_found(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    missing = tmp_path / "not" / "yet"
    assert space("library", missing, free // 2, free // 4).state is State.OK
    assert space("library", missing, free * 2, free // 4).state is State.WARNING
    assert space("library", missing, free * 4, free * 2).state is State.PROBLEM


@needs_root
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system of Linux")
def test_a_full_file_system_is_found(tmp_path: Path) -> None:
    options = "size=2m,nr_inodes=2000"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this system does not allow mounting")
    try:
        assert space("library", tmp_path, 1_000_000, 100_000).state is State.OK
        (tmp_path / "filling").write_bytes(b"x" * 2_050_000)
        found = space("library", tmp_path, 1_000_000, 100_000)
        assert (found.state, found.title[:4]) == (State.PROBLEM, "Only")
        (tmp_path / "filling").unlink()
        for n in range(1200):
            (tmp_path / str(n)).touch()
        assert "more files fit" in space("library", tmp_path, 1_000_000, 100_000).title
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_files_and_folders_that_others_may_use_are_named(tmp_path: Path) -> None:
    root = tmp_path / "home"
    (root / "logs").mkdir(parents=True)
    (root / "logs" / "a.log").touch()
    (root / "link").symlink_to("/")
    for path in (root, root / "logs"):
        path.chmod(0o700)
    (root / "logs" / "a.log").chmod(0o600)
    assert permissions(root, Event()).state is State.OK
    (root / "logs" / "a.log").chmod(0o644)
    found = permissions(root, Event())
    assert (found.state, "logs/a.log" in found.title) == (State.WARNING, True)
    assert "chmod -R go= " in found.hint
    root.chmod(0o755)
    assert permissions(root, Event()).state is State.PROBLEM


@needs_root
def test_a_file_of_another_user_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "theirs").touch(mode=0o600)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    found = permissions(tmp_path, Event())
    assert (found.state, "theirs" in found.title) == (State.PROBLEM, True)


# --- endpoint, keyring, cancelling --------------------------------------------------------------


@pytest.mark.slow
def test_only_an_endpoint_that_is_set_is_asked(subject: Subject) -> None:
    assert only(check_endpoint(subject, Event())).title.startswith("No endpoint is set")
    with ChatServer("Yes.") as server:
        asked = replace(subject, settings=Settings(endpoint=server.endpoint()))
        assert only(check_endpoint(asked, Event())).state is State.OK
        server.models = ("another",)
        server.wanted_key = "another"
        assert only(check_endpoint(asked, Event())).state is State.PROBLEM
    found = only(check_endpoint(asked, Event()))
    assert (found.state, bool(found.hint)) == (State.PROBLEM, True)


@pytest.mark.slow
def test_a_missing_keyring_matters_to_a_distant_endpoint_only(subject: Subject) -> None:
    def keyring(store: KeyStore, base_url: str) -> Finding:
        settings = Settings(endpoint=EndpointSettings(base_url, "m"))
        return only(check_keyring(replace(subject, settings=settings, keys=store), Event()))

    ring = MemoryKeyring()
    assert "MemoryKeyring" in keyring(KeyStore(lambda: ring), "https://far.example/v1").title
    assert ring.entries == {}
    without = KeyStore(NullKeyring)
    assert keyring(without, "http://localhost:1/v1").state is State.OK
    assert keyring(without, "https://far.example/v1").state is State.WARNING


@pytest.mark.slow
def test_a_cancelled_diagnosis_ends(subject: Subject) -> None:
    cancel = Event()
    found = findings(subject, cancel)
    assert next(found).check == "settings"
    cancel.set()
    assert list(found) == []
