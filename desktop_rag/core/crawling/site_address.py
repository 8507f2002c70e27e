"""The address of a file on the site that its folder mirrors. Pure."""

from pathlib import PurePath
from urllib.parse import quote

# What may stand in a path as it is; everything else, `?` and `#` included, is a part of a name.
_PATH_CHARACTERS = "/~!$&'()*+,;=:@-._"
# Servers show these for the folder they are in.
_INDEX_NAMES = frozenset({"index.html", "index.htm", "index.xhtml"})


def site_address(base: str, root: PurePath, path: PurePath) -> str:
    """The address of the file `path` of the folder `root`, whose files are below `base`.

    The page of a folder has the address of the folder. A source that is a file itself has the base
    for its address. "" without a base, or for a file that is not in the folder.
    """
    if not base or not path.is_relative_to(root):
        return ""
    if path == root:
        return base
    below = path.relative_to(root).as_posix()
    folder, slash, name = below.rpartition("/")
    if name.lower() in _INDEX_NAMES:
        below = folder + slash
    encoded = quote(below, safe=_PATH_CHARACTERS, errors="surrogateescape")
    return f"{base.rstrip('/')}/{encoded}"
