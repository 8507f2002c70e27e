"""A disk of a few megabytes that a test can fill to the last byte and free again."""

import os
import subprocess
import tempfile
from pathlib import Path

_BLOCK = b"x" * 65_536


class SmallDisk:
    """A mounted file system in memory; its ballast is what other programs have written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ballast = root / "ballast"

    def fill(self, leave_bytes: int = 0) -> None:
        """Leave this much room, rounded down to whole pages."""
        with self._ballast.open("ab", buffering=0) as file:
            for block in (_BLOCK, _BLOCK[:4096], _BLOCK[:1]):
                while self.free_bytes > leave_bytes or not leave_bytes:
                    try:
                        file.write(block)
                    except OSError:
                        break

    def free(self) -> None:
        """Give all room back that `fill` took."""
        self._ballast.unlink()

    def remount(self, mode: str) -> None:
        """Make it "ro", as a system does after an error of the disk, or "rw" again."""
        command = ["mount", "-o", f"remount,{mode}", str(self.root)]
        subprocess.run(command, check=True, capture_output=True)

    @property
    def free_bytes(self) -> int:
        """The room that is left."""
        found = os.statvfs(self.root)
        return found.f_bavail * found.f_frsize


def mounted(megabytes: int) -> SmallDisk | None:
    """A new disk; None where this user may not mount.

    Outside pytest's folders: it could not remove one that a killed run has left mounted.
    """
    root = Path(tempfile.mkdtemp(prefix="small-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(root)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        done = None
    if done and done.returncode == 0:
        return SmallDisk(root)
    root.rmdir()
    return None


def unmount(disk: SmallDisk) -> None:
    """Take the disk away; what still has a file open there keeps it until it ends."""
    subprocess.run(["umount", "-l", str(disk.root)], check=True)
    disk.root.rmdir()
