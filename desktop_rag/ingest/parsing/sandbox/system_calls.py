"""Numbers of the system calls that the parser process never needs, by architecture.

Pure. From the kernel's tables: arch/x86/entry/syscalls/syscall_64.tbl, asm-generic/unistd.h.
"""

from collections.abc import Mapping

# The newest call that these tables know. One that came later is refused, whatever it does.
NEWEST = 462
# The address space of x32 on x86-64 begins above NEWEST, so that it is refused, too.
ARCHITECTURES: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Each name with its number on x86-64 and on ARM64, where -1 is a call that does not exist.
_NETWORK = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206),
    "sendmsg": (46, 211), "sendmmsg": (307, 269), "setsockopt": (54, 208),
}  # fmt: skip
_PROGRAMS = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1),
    "personality": (135, 92),
}  # fmt: skip
_OTHER_PROCESSES = {
    "ptrace": (101, 117), "kcmp": (312, 272), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140), "setpgid": (109, 154),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}  # fmt: skip
# Landlock does not cover modes, owners, times and attributes.
_CHANGES_TO_FILES = {
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "creat": (85, -1), "truncate": (76, 45), "unlink": (87, -1), "unlinkat": (263, 35),
    "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1), "rename": (82, -1),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, -1), "linkat": (265, 37),
    "symlink": (88, -1), "symlinkat": (266, 36), "mknod": (133, -1), "mknodat": (259, 33),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
}  # fmt: skip
# Attack surface: much of what has been broken in the kernel lies behind these.
_KERNEL = {
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "perf_event_open": (298, 241),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "fanotify_init": (300, 262), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "syslog": (103, 116), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "reboot": (169, 142), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
}  # fmt: skip
_BY_ARGUMENT = {
    "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261), "clone": (56, 220),
    "open": (2, -1), "openat": (257, 56), "ioctl": (16, 29), "fcntl": (72, 25),
}  # fmt: skip
# Their arguments lie in memory, which a filter can't see; libraries do without them.
_UNSEEN = {"clone3": (435, 435), "openat2": (437, 437)}


def _numbers(calls: Mapping[str, tuple[int, int]], architecture: str) -> dict[str, int]:
    column = list(ARCHITECTURES).index(architecture)
    return {name: number[column] for name, number in calls.items() if number[column] >= 0}


def refused_calls(architecture: str) -> list[int]:
    """The calls that are refused whatever their arguments are."""
    rooms = (_NETWORK, _PROGRAMS, _OTHER_PROCESSES, _CHANGES_TO_FILES, _KERNEL)
    return [number for room in rooms for number in _numbers(room, architecture).values()]


def missing_calls(architecture: str) -> list[int]:
    """The calls that look as if the kernel did not have them, so that libraries use older ones."""
    return list(_numbers(_UNSEEN, architecture).values())


def calls_by_argument(architecture: str) -> dict[str, int]:
    """The calls that depend on an argument, by name."""
    return _numbers(_BY_ARGUMENT, architecture)
