"""The confinement of the parser process in words. Pure."""

import sys
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The row of `doctor`: what the system keeps from the parser process, and what it does not."""

    is_ok: bool
    title: str
    hint: str = ""


def report_on(guards: Collection[str], system: str = sys.platform) -> SandboxReport:
    """The report on the guards that a parser process named. Ok with the strongest known here."""
    if {"seccomp", "landlock"} <= set(guards):
        title = "The parser process has no network, starts no program and opens no other file."
        return SandboxReport(True, title)
    if "seccomp" in guards:
        title = "The parser process has no network, starts no program and writes no file."
        hint = (
            "It could read other files of yours: for that, Linux 5.13 or newer with Landlock is "
            "needed, and libraries that are files and not links."
        )
        return SandboxReport(True, title, hint)
    if "landlock" in guards:
        title = "The parser process opens no other file, but could reach the network."
        return SandboxReport(False, title, "This kernel accepts no seccomp filter.")
    if "seatbelt" in guards:
        title = "The parser process has no network, starts no program and writes no file."
        return SandboxReport(True, title, "It could read other files of yours.")
    if "no child processes" in guards:
        title = "The parser process starts no program."
        hint = "Windows does not keep it from the network or from other files of yours."
        return SandboxReport(True, title, hint)
    return SandboxReport(
        False,
        f"The system ({system}) does not confine the parser process.",
        "Only Python itself keeps it from the network and from other programs; a fault in native "
        "code could get past that. Be careful with files from strangers.",
    )
