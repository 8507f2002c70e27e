"""Rounds over a WebDAV folder or a mailbox: what is found within one, what it costs, what kills do.

    python -m benchmarks.remote_sources [--files 5000] [--kills 20] [--kind ids|plain|sync|imap]

A first round over the files, killed at random; then 100 files changed, 50 moved and 30 deleted, and
one round, killed as well. Mails never change: there, 100 new ones come. Said are the seconds, the
requests, the bytes that came against those that changed, the files that were fetched twice, and
those that are wrong: kept copies are compared with the files of the server. The server is the one
of the tests, in this process. Nothing is indexed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.imap import IMAP
from desktop_rag.features.remote_sources.webdav import WEBDAV
from tests.remote_room import RemoteRoom
from tests.servers.dav_server import DavServer
from tests.servers.imap_server import ImapServer, message

_DAV = {"ids": (True, False), "plain": (False, False), "sync": (False, True)}
Place = DavServer | ImapServer
_CHANGED, _MOVED, _DELETED = 100, 50, 30
_PATIENCE = PlaceLimits(seconds=300.0)


def one_round(home: Path, url: str) -> None:
    """Run a round in this process, which another one may kill."""
    room = RemoteRoom(Home(home), _PATIENCE, IMAP if url.startswith("imap:") else WEBDAV)
    room.remotes.start()
    if room.sources.sources():
        room.remotes.request(room.sources.sources()[0])
    else:
        room.add_remote(url, "", limit=1_000_000)
    while not room.remotes.is_idle:
        time.sleep(0.05)
    summary, [report] = room.heard.scanned[-1], room.remotes.reports.values()
    print(json.dumps({"state": report.state.value, "found": summary.label()}))
    room.close()


def killed(command: list[str], cloud: Place, after: int) -> bool:
    """Start a round and kill it after so many requests; False when it ended before."""
    before = len(cloud.asked)
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while child.poll() is None and len(cloud.asked) < before + after:
        time.sleep(0.005)
    time.sleep(random.uniform(0.0, 0.05))
    is_running = child.poll() is None
    child.kill()
    child.wait()
    return is_running


def rounds(home: Path, cloud: Place, kills: int, most_requests: int) -> dict[str, object]:
    """Rounds that are killed at random moments, and one that is not."""
    cloud.asked.clear()
    cloud.sent_bytes = 0
    if isinstance(cloud, ImapServer):
        cloud.read.clear()
    command = [sys.executable, "-m", "benchmarks.remote_sources", "--child", str(home), cloud.url()]
    began_at = time.monotonic()
    done = sum(killed(command, cloud, random.randint(1, most_requests)) for _ in range(kills))
    begun_at = time.monotonic()
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lived_s = time.monotonic() - begun_at
    gets = Counter(cloud.asked_for("GET") if isinstance(cloud, DavServer) else cloud.read)
    return json.loads(said) | {
        "kills": done,
        "seconds": round(time.monotonic() - began_at, 1),
        "seconds of the last": round(lived_s, 1),
        "requests": len(cloud.asked),
        "bytes": cloud.sent_bytes,
        "fetched twice": sum(n - 1 for n in gets.values()),
    }


def wrong(home: Path, cloud: Place) -> int:
    """How many files are missing here, are too many, or have another content."""
    room = RemoteRoom(Home(home), _PATIENCE, WEBDAV if isinstance(cloud, DavServer) else IMAP)
    try:
        [source] = room.sources.sources()
        rows = {row.document_id: row for row in room.documents.documents()}
        kept = {
            each.item.path: rows[each.document_id].path.read_bytes()
            for each in room.journal.items(source.source_id)
        }
        files = contents(cloud)
        copies = [path for path in source.path.rglob("*") if path.is_file()]
        differing = {p for p in kept.keys() | files.keys() if kept.get(p) != files.get(p)}
        return len(differing) + abs(len(rows) - len(files)) + abs(len(copies) - len(files))
    finally:
        room.close()


def contents(cloud: Place) -> dict[str, bytes]:
    """The files and their contents as they should be here."""
    if isinstance(cloud, DavServer):
        return {path: file.content for path, file in cloud.files.items()}
    return {
        f"{name}/2024-05-14 {_subject(mail.content)} ({uid}).eml": mail.content
        for name, folder in cloud.folders.items()
        for uid, mail in folder.mails.items()
    }


def _subject(content: bytes) -> str:
    return content.partition(b"Subject: ")[2].partition(b"\r")[0].decode()


def change(cloud: Place, chance: random.Random) -> int:
    """Change, move and delete files; returns the bytes that changed."""
    if not isinstance(cloud, DavServer):
        return _change_mails(cloud, chance)
    chosen = chance.sample(sorted(cloud.files), _CHANGED + _MOVED + _DELETED)
    changed = chosen[:_CHANGED]
    for path in changed:
        cloud.write(path, f"Changed: {path}. " * chance.randint(1, 100))
    for path in chosen[_CHANGED : _CHANGED + _MOVED]:
        cloud.move(path, f"moved/{chance.randint(0, 9)}/{path.replace('/', '-')}")
    for path in chosen[_CHANGED + _MOVED :]:
        cloud.delete(path)
    return sum(len(cloud.files[path].content) for path in changed)


def _change_mails(mail: ImapServer, chance: random.Random) -> int:
    there = [(name, uid) for name, folder in mail.folders.items() for uid in folder.mails]
    chosen = chance.sample(there, _MOVED + _DELETED)
    for name, uid in chosen[:_MOVED]:
        mail.move(name, uid, f"Moved-{chance.randint(0, 9)}")
    for name, uid in chosen[_MOVED:]:
        del mail.folders[name].mails[uid]
    return sum(_put(mail, chance, 1_000_000 + number) for number in range(_CHANGED))


def _put(mail: ImapServer, chance: random.Random, number: int) -> int:
    content = message(
        f"Mail {number}", f"This is mail {number}. " * chance.randint(50, 2_000), number
    )
    mail.put(f"Folder-{number % 10}", content)
    return len(content)


def _server(kind: str) -> Place:
    if kind == "imap":
        return ImapServer(password="")
    has_ids, has_sync = _DAV[kind]
    return DavServer(has_ids=has_ids, has_sync=has_sync, password="")


def main() -> None:
    """Print a line of JSON for each round."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--kind", choices=[*_DAV, "imap"], default="ids")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", nargs=2, metavar=("HOME", "URL"))
    given = parser.parse_args()
    if given.child:
        one_round(Path(given.child[0]), given.child[1])
        return
    chance = random.Random(given.seed)
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as folder, _server(given.kind) as cloud:
        home = Path(folder)
        for number in range(given.files):
            if not isinstance(cloud, DavServer):
                _put(cloud, chance, number)
                continue
            path = f"folder-{number % 100}/sub-{number % 7}/file-{number}.txt"
            cloud.write(path, f"This is file {number}. " * chance.randint(1, 60))
        total = sum(map(len, contents(cloud).values()))
        half = given.kills // 2
        kills = given.kills - half
        first = rounds(home, cloud, kills, 2 * given.files // max(1, kills))
        first |= {"times the bytes": round(int(str(first["bytes"])) / total, 3)}
        print(json.dumps({"round": "first", "load": os.getloadavg()[0]} | first), flush=True)
        print(json.dumps({"wrong": wrong(home, cloud)}), flush=True)
        changed = change(cloud, chance)
        second = rounds(home, cloud, half, 30)
        second |= {"times the bytes": round(int(str(second["bytes"])) / changed, 3)}
        print(json.dumps({"round": "changes", "load": os.getloadavg()[0]} | second), flush=True)
        print(json.dumps({"wrong": wrong(home, cloud)}), flush=True)
        print(json.dumps({"round": "nothing new"} | rounds(home, cloud, 0, 1)), flush=True)


if __name__ == "__main__":
    main()
