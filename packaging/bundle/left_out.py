"""The list of what the bundle leaves out: reading it, and matching modules and files with it."""

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

LIST = Path(__file__).with_name("left_out.toml")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Modules, each with its submodules, and patterns of paths inside the bundle."""

    modules: tuple[str, ...]
    files: tuple[str, ...]

    def has_module(self, name: str) -> bool:
        """True for a module that is left out, itself or with a package that holds it."""
        return any(name == module or name.startswith(f"{module}.") for module in self.modules)

    def has_file(self, path: str) -> bool:
        """True for a path inside the bundle, with slashes, that is left out."""
        return any(fnmatchcase(path, pattern) for pattern in self.files)


def left_out(path: Path = LIST) -> LeftOut:
    """The list in the file."""
    groups = tomllib.loads(path.read_text("utf-8"))["left_out"]
    return LeftOut(
        tuple(name for group in groups for name in group.get("modules", ())),
        tuple(pattern for group in groups for pattern in group.get("files", ())),
    )
