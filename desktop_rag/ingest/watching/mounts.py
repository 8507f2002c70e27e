"""The file system of a source, and the identity of its folder.

Read by the watcher, on its own thread and on the one that adds a source.
"""

import stat
from pathlib import Path

import psutil

_REMOTE_FILE_SYSTEMS = frozenset(
    {
        *("afs", "ceph", "cifs", "davfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"),
        *("afpfs", "smb2", "smb3", "smbfs", "webdav"),
        *("fuse.davfs2", "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs"),
        *("fuse.sshfs", "fuse.vmhgfs-fuse"),
        *("9p", "prl_fs", "vboxsf", "virtiofs", "vmhgfs"),  # shared with a virtual machine
    }
)


def is_remote(path: Path) -> bool:
    """True for network file systems, whose changes by others the kernel does not report."""
    real = path.resolve()
    if real.drive.startswith("\\\\"):
        return True
    mounts = [
        mount for mount in psutil.disk_partitions(all=True) if real.is_relative_to(mount.mountpoint)
    ]
    # Of two mounts at one place the later one is seen.
    mount = max(reversed(mounts), key=lambda mount: len(mount.mountpoint), default=None)
    if mount is None:
        return False
    return mount.fstype.lower() in _REMOTE_FILE_SYSTEMS or "remote" in mount.opts.split(",")


def identity(root: Path) -> tuple[int, int] | None:
    """The identity of a folder, or of the folder of a file; None if it is missing.

    Another value says that the folder was replaced, or its drive was mounted or unmounted.
    """
    try:
        status = root.stat()
        if stat.S_ISREG(status.st_mode):
            status = root.resolve().parent.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
