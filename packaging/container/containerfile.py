"""Reads a Containerfile as a list of instructions. Pure."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CONTAINERFILE = HERE / "Containerfile"


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line of a Containerfile: `RUN` and what it says, with continued lines as one."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its words, or the items of the JSON list that it is."""
        return json.loads(self.text) if self.text.startswith("[") else self.text.split()

    @property
    def pairs(self) -> dict[str, str]:
        """The names and values of an ENV."""
        return dict(re.findall(r"(\w+)=(\S*)", self.text))


def instructions(text: str) -> list[Instruction]:
    """The instructions of a Containerfile, in order."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [line.strip().partition(" ") for line in whole.splitlines() if line.strip()]
    return [Instruction(name.upper(), rest.strip()) for name, _, rest in found]


def last_stage(read: list[Instruction]) -> list[Instruction]:
    """The instructions of the image itself."""
    begin = max(n for n, each in enumerate(read) if each.name == "FROM")
    return read[begin:]
