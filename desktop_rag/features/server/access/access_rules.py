"""The rules by which other applications decide who reads a collection, in a file of their own.

A rule holds no secret: the key that it names is public. Any thread; processes take turns. The
libraries for keys are imported only when a rule is set.
"""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.features.server.access.access_tokens import RowFile
from desktop_rag.features.server.values.access_values import ALGORITHMS, AccessRule
from desktop_rag.models.endpoint_address import is_this_computer

_LIKE = "Write it like https://app.example/rights."
_FORM = "There is a fault in it. Correct it, or delete it and set the rules again."


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError as exc:
        raise AppError("The address of the application is not valid.", _LIKE) from exc
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise AppError("The address of the application is not valid.", _LIKE)
    if parts.username is not None or parts.password is not None:
        raise AppError("The address of the application holds no user or password.", address)
    if any(char.isspace() or not char.isprintable() for char in address):
        raise AppError("The address of the application is not valid.", "Remove the blank from it.")
    if parts.scheme == "http" and not is_this_computer(address):
        hint = "Tokens of users would cross the network in plain sight."
        raise AppError("An application on another computer is asked by https.", hint)


class AccessRules(RowFile[AccessRule]):
    """Keeps the rules, one for each collection. A change holds from the next request on.

    While the file can't be read, nobody knows what is protected.
    """

    kind, rows = tuple[AccessRule, ...], "rules"
    unreadable = "The rules of access can't be read."
    busy = "Another process changes the rules."
    unsaved = "The rules of access can't be changed."

    def hint(self, fault: Exception) -> str:
        """The fault itself."""
        if isinstance(fault, AppError):
            return str(fault)
        return f"{fault.strerror}." if isinstance(fault, OSError) else _FORM

    def check(self, row: AccessRule) -> None:
        """AppError for a rule that is not valid. The key is not read."""
        if not row.issuer.strip() or not row.audience.strip():
            raise AppError("The issuer and the audience of the tokens are needed.")
        unknown = [name for name in row.algorithms if name not in ALGORITHMS]
        if unknown or not row.algorithms:
            said = f"“{unknown[0]}” is not one of them." if unknown else "None is named."
            raise AppError(f"The algorithms are {', '.join(ALGORITHMS)}.", said)
        if not Path(row.key_file).is_absolute():
            raise AppError("The file of the key is named by its full path.", row.key_file)
        _check_address(row.address)

    def of(self, collection_id: str) -> AccessRule | None:
        """The rule of a collection. AppError as in `all`."""
        return next((r for r in self.all() if r.collection_id == collection_id), None)

    def set(self, rule: AccessRule, key: str = "") -> None:
        """Store a rule, and the text of its public `key`, if given. AppError if one is invalid."""
        from desktop_rag.features.server.access.user_tokens import UserTokens, check_key  # noqa: PLC0415

        kept = self._key_file(rule.collection_id)
        if key:
            rule = replace(rule, key_file=str(kept))
        self.check(rule)
        if key:
            check_key(key, rule)
        else:
            UserTokens().keys(rule)
        with self.writing():
            others = [r for r in self.all() if r.collection_id != rule.collection_id]
            if key:
                kept.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(kept, key)
            self.write([*others, rule])
            if rule.key_file != str(kept):
                kept.unlink(missing_ok=True)

    def remove(self, collection_id: str) -> None:
        """Let everyone with a token for it read the collection again."""
        with self.writing():
            self.write([r for r in self.all() if r.collection_id != collection_id])
            self._key_file(collection_id).unlink(missing_ok=True)

    def _key_file(self, collection_id: str) -> Path:
        return self._path.parent / "user_keys" / f"{collection_id}.key"
