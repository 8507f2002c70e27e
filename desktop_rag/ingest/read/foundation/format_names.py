"""The format that a file name promises: by its suffix, or as a whole (`Makefile`).

Imports no format library, so the parent asks it too; pure.
"""

import fnmatch
import re
from functools import cache

from desktop_rag.ingest.read.foundation.format_table import FORMATS, MAILBOX, TEXT

_FORMAT_OF_SUFFIX = {suffix: row.name for row in FORMATS for suffix in row.suffixes}
# Pygments has a lexer for these, yet most files with such names are pictures, sound, archives or
# programs, or belong to another format.
_NO_TEXT = {
    ".aes", ".art", ".arw", ".asc", ".cdf", ".eml", ".eps", ".max", ".mo", ".mod",
    ".nc", ".orc", ".pack", ".pem", ".ps", ".run", ".sig", ".svg", ".tlb", ".usd",
}  # fmt: skip
# Private keys stay out: passages may be sent to an endpoint.
_KEYS = {
    "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_rsa",
}  # fmt: skip
# Sound, films, photographs, fonts, programs and their parts, disks, and keys: not opened to see
# what they are. An archive is, since half of all documents are one inside.
_NEVER_TEXT = {
    ".3gp", ".aac", ".aif", ".aiff", ".amr", ".ape", ".au", ".avi", ".divx", ".f4v", ".flac",
    ".flv", ".m2ts", ".m4a", ".m4b", ".m4v", ".mid", ".midi", ".mka", ".mkv", ".mov", ".mp2",
    ".mp3", ".mp4", ".mpeg", ".mpg", ".oga", ".ogg", ".ogv", ".opus", ".ra", ".rm", ".vob", ".wav",
    ".weba", ".webm", ".wma", ".wmv", ".arw", ".cr2", ".cr3", ".dng", ".heic", ".heif", ".nef",
    ".orf", ".raf", ".rw2", ".psd", ".psb", ".xcf", ".ico", ".icns", ".cur", ".jp2", ".avif",
    ".jxl", ".eot", ".otf", ".ttc", ".ttf", ".woff", ".woff2", ".a", ".apk", ".app", ".class",
    ".com", ".deb", ".dll", ".dmg", ".dylib", ".elf", ".exe", ".img", ".iso", ".jar", ".ko",
    ".lib", ".msi", ".o", ".obj", ".pdb", ".pyc", ".pyd", ".pyo", ".rpm", ".so", ".sys", ".vdi",
    ".vhd", ".vhdx", ".vmdk", ".wasm", ".whl", ".7z", ".bz2", ".gz", ".lz4", ".rar", ".tar",
    ".tgz", ".xz", ".zst", ".db", ".db3", ".mdb", ".accdb", ".sqlite", ".sqlite3", ".parquet",
    ".npy", ".npz", ".onnx", ".pkl", ".pt", ".safetensors", ".h5", ".hdf5", ".blend", ".fbx",
    ".glb", ".stl", ".dwg", ".pst", ".ost", ".asc", ".der", ".gpg", ".jks", ".kdbx", ".key",
    ".p12", ".pem", ".pfx", ".pgp", ".ppk", ".sig",
}  # fmt: skip
_SUFFIX_PATTERN = re.compile(r"\*(\.[^.*?\[\]]+)")
_TEXT_NAMES = (
    "readme license licence copying copyright notice notices changelog changes history news authors"
    " contributors maintainers credits thanks install todo faq version manifest codeowners"
    " jenkinsfile justfile brewfile containerfile podfile guardfile"
)
# A mail program's folders are mailboxes without a suffix.
_MAILBOX_NAMES = {
    "inbox", "sent", "drafts", "trash", "junk", "archive", "archives", "templates",
}  # fmt: skip


def format_of_name(name: str) -> str | None:
    """The format that a file name promises, None for a name that is not read."""
    by_suffix = _FORMAT_OF_SUFFIX.get(_suffix(name))
    if by_suffix:
        return by_suffix
    if name.lower() in _MAILBOX_NAMES:
        return MAILBOX
    return TEXT if _is_text_name(name) else None


def is_worth_reading(name: str) -> bool:
    """True unless a file of this name surely holds no text; its content decides."""
    return _suffix(name) not in _NEVER_TEXT and name.lower() not in _KEYS


def _is_text_name(name: str) -> bool:
    suffix = _suffix(name)
    if suffix in _text_suffixes() or name.lower() in _text_names():
        return True
    return suffix not in _NO_TEXT and _text_patterns().fullmatch(name) is not None


def _suffix(name: str) -> str:
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


@cache
def _pygments_patterns() -> frozenset[str]:
    """The file names of all programming languages; loads their list, no lexer."""
    from pygments.lexers import get_all_lexers

    lexers = get_all_lexers(plugins=False)
    return frozenset(pattern for _, _, patterns, _ in lexers for pattern in patterns)


@cache
def _text_suffixes() -> frozenset[str]:
    matches = map(_SUFFIX_PATTERN.fullmatch, _pygments_patterns())
    return frozenset(match[1].lower() for match in matches if match) - _NO_TEXT


@cache
def _text_names() -> frozenset[str]:
    plain = {name.lower() for name in _pygments_patterns() if not re.search(r"[*?\[]", name)}
    return frozenset(plain.union(_TEXT_NAMES.split())) - _KEYS


@cache
def _text_patterns() -> re.Pattern[str]:
    """The patterns that are neither a suffix nor a whole name, such as `Makefile.*`."""
    patterns = (
        pattern
        for pattern in sorted(_pygments_patterns())
        if re.search(r"[*?\[]", pattern) and not _SUFFIX_PATTERN.fullmatch(pattern)
    )
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns))
