"""Lists the hashes of the bundled model files, which `desktop-rag doctor` compares.

Run it after a change of these files: `python packaging/model_manifest.py`; build_model.py does so.
"""

from pathlib import Path

from desktop_rag.features.diagnosis.diagnosis import MANIFEST, sha256_of

MODELS = Path(__file__).parent.parent / "resources" / "models"


def write_manifest(models: Path = MODELS) -> None:
    """Write the list anew, in the format of sha256sum."""
    files = sorted(path for path in models.rglob("*") if path.is_file() and path.name != MANIFEST)
    lines = [f"{sha256_of(path)}  {path.relative_to(models).as_posix()}\n" for path in files]
    (models / MANIFEST).write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_manifest()
