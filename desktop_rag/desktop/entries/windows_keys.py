"""The registry keys that enter the app for one person: links, and the menus of Explorer.

Any thread. The installer of Windows has the same keys written by the app itself.
"""

import sys
from collections.abc import Mapping, Sequence

from desktop_rag.desktop.identity import APP_NAME, ASK_ABOUT, URL_SCHEME

_CLASSES = r"Software\Classes"
# All files, and all folders.
_MENUS = (rf"{_CLASSES}\*\shell\{APP_NAME}", rf"{_CLASSES}\Directory\shell\{APP_NAME}")
_SCHEME = rf"{_CLASSES}\{URL_SCHEME}"

Keys = Mapping[str, Mapping[str, str]]


def registry_keys(command: Sequence[str]) -> Keys:
    """The values of each key below HKEY_CURRENT_USER; "" names a key's own value."""
    icon = {"Icon": f'"{command[0]}"'}
    keys = {
        _SCHEME: {"": f"URL:{APP_NAME}", "URL Protocol": ""},
        rf"{_SCHEME}\DefaultIcon": {"": f'"{command[0]}"'},
        rf"{_SCHEME}\shell\open\command": {"": _line(command, "open-url")},
    }
    for menu in _MENUS:
        keys[menu] = {"": ASK_ABOUT, **icon}
        keys[rf"{menu}\command"] = {"": _line(command, "quick-ask", "--about")}
    return keys


def _line(command: Sequence[str], *arguments: str) -> str:
    # No path of Windows holds a quotation mark.
    return " ".join(f'"{part}"' for part in [*command, *arguments, "%1"])


if sys.platform == "win32":
    import contextlib
    import winreg

    def write_keys(keys: Keys) -> None:
        """Write them all; OSError when one is refused."""
        for path, values in keys.items():
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, path) as key:
                for name, text in values.items():
                    winreg.SetValueEx(key, name, 0, winreg.REG_SZ, text)

    def delete_keys(keys: Keys) -> None:
        """Delete them, and the keys between, which hold nothing else."""
        for path in (*keys, rf"{_SCHEME}\shell\open", rf"{_SCHEME}\shell"):
            _delete_tree(path)

    def _delete_tree(path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                below = [winreg.EnumKey(key, n) for n in range(winreg.QueryInfoKey(key)[0])]
            for name in below:
                _delete_tree(rf"{path}\{name}")
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, path)
