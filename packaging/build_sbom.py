"""Writes the software bill of materials: every package the app needs at run time, and its models.

    make sbom

CycloneDX 1.6 in JSON, from the lock files (versions and hashes), the metadata of the installed
packages (needs and licences), and the files of the bundled models. The same input gives the same
bytes, but for the number and the time of the document. Packages for other systems are included.
"""

# The library's decorators hide the types of its classes.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportReturnType=false

from __future__ import annotations

import argparse
import hashlib
import re
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "resources" / "models"
PROJECT = ROOT / "pyproject.toml"
LICENCES = ROOT / "packaging" / "supply_chain" / "licences.toml"
# The app's packages, and beside them those of the tools and extras.
LOCKS = (ROOT / "requirements.lock", ROOT / "requirements-dev.lock")
# The extra that an installed app may have.
EXTRA = "ocr"


@dataclass(frozen=True, slots=True)
class Locked:
    """A package of the lock file with the hashes of its files, and the systems it is for."""

    name: str
    version: str
    hashes: tuple[str, ...]
    marker: str


def lock_text() -> str:
    """Everything that is locked, for the app and for work on it."""
    return "".join(path.read_text("utf-8") for path in LOCKS)


def locked_packages(lock: str) -> dict[str, list[Locked]]:
    """The packages by name; a name has several versions where systems need different ones."""
    found: dict[str, list[Locked]] = {}
    for block in re.split(r"\n(?=[a-z0-9])", lock):
        line = block.partition("\n")[0].rstrip(" \\")
        requirement = Requirement(line)
        version = str(requirement.specifier).removeprefix("==")
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
        name = canonicalize_name(requirement.name)
        marker = str(requirement.marker or "")
        found.setdefault(name, []).append(Locked(name, version, hashes, marker))
    return found


def needed_at_run_time(locked: dict[str, list[Locked]]) -> dict[str, bool]:
    """Names of all packages that the app needs on any system; True for those of the extra only."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    always = _closure([Requirement(line) for line in project["dependencies"]], locked)
    lines = project["optional-dependencies"][EXTRA]
    optional = _closure([Requirement(line) for line in lines], locked)
    return {name: name not in always for name in sorted(always | optional)}


def _closure(wanted: list[Requirement], locked: dict[str, list[Locked]]) -> set[str]:
    """These packages and all that they need, whatever the system: the lock holds them all."""
    found: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name in found or name not in locked:
            continue
        found.add(name)
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # for another system; those need nothing more
        needs = [Requirement(line) for line in lines]
        wanted += [need for need in needs if "extra" not in str(need.marker)]
    return found


def licence_of(name: str, spellings: dict[str, str], stated: dict[str, str]) -> str:
    """The licence expression of a package; "" when nothing states it."""
    try:
        fields = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return stated.get(name, "")
    classifiers = fields.get_all("Classifier") or []
    said = [*(fields.get_all("License-Expression") or []), *(fields.get_all("License") or [])]
    said += [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    short = [text for text in said if text and "\n" not in text]
    return spellings.get(short[0], short[0]) if short else ""


def package_component(package: Locked, licence: str, *, is_optional: bool) -> Component:
    """A package with one reference for each of its files."""
    purl = PackageURL("pypi", name=package.name, version=package.version)
    files = [
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(str(purl)),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        )
        for digest in package.hashes
    ]
    markers = [Property(name="desktop-rag:systems", value=package.marker)] if package.marker else []
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        licenses=[LicenseExpression(licence)] if licence else [],
        external_references=files,
        properties=markers,
        scope=ComponentScope.OPTIONAL if is_optional else ComponentScope.REQUIRED,
    )


def model_components() -> list[Component]:
    """The bundled models, each with its files."""
    return [
        Component(
            name=folder.name,
            # A model has no number of its own, so that of the package with its weights.
            version="{package} {version}".format(**_model_source(folder)),
            type=ComponentType.MACHINE_LEARNING_MODEL,
            bom_ref=f"model:{folder.name}",
            licenses=[LicenseExpression(_model_source(folder)["licence"])],
            components=[_file_component(path, folder) for path in sorted(folder.iterdir())],
            scope=ComponentScope.REQUIRED,
        )
        for folder in sorted(path for path in MODELS.iterdir() if path.is_dir())
    ]


def _model_source(folder: Path) -> dict[str, str]:
    return tomllib.loads((folder / "model.toml").read_text("utf-8"))["source"]


def _file_component(path: Path, folder: Path) -> Component:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Component(
        name=path.name,
        type=ComponentType.FILE,
        bom_ref=f"model:{folder.name}/{path.name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )


def build_bom() -> Bom:
    """The whole document."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    app = Component(
        name=project["name"],
        version=project["version"],
        type=ComponentType.APPLICATION,
        bom_ref=project["name"],
        licenses=[LicenseExpression(project["license"])],
    )
    rules = tomllib.loads(LICENCES.read_text("utf-8"))
    locked = locked_packages(lock_text())
    bom = Bom()
    bom.metadata.component = app
    components = model_components()
    for name, is_optional in needed_at_run_time(locked).items():
        licence = licence_of(name, rules["spellings"], rules["stated"])
        components += [package_component(p, licence, is_optional=is_optional) for p in locked[name]]
    for component in components:
        bom.components.add(component)
    bom.register_dependency(app, components)
    return bom


def main() -> int:
    """Write the document; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "sbom.cdx.json")
    out: Path = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    bom = build_bom()
    out.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n", encoding="utf-8")
    print(f"{len(bom.components)} components: {out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
