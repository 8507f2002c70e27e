"""Checks the signed tokens (JWT) of users of another application. Worker threads."""

import hashlib
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jwt

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.values.access_values import AccessRule

log = logging.getLogger(__name__)

# The clocks of two computers may differ by so much.
_LEEWAY_S = 10
_LONGEST_TOKEN = 8_192
_LARGEST_KEY_FILE = 256 * 1024
_LEAST_RSA_BITS = 2048
# Names a key that came as a text in error messages.
_GIVEN = "The text"


@dataclass(frozen=True, slots=True)
class User:
    """A user by a name that identifies nobody, and when the token expires in Unix time."""

    name: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class Key:
    """A public key. `kid` and `algorithm` are "" where the file does not name them."""

    key: Any
    kid: str = ""
    algorithm: str = ""


class UserTokens:
    """Checks tokens by the keys in files, which are read again when they have changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, tuple[str, ...]], tuple[tuple[int, int], list[Key]]] = {}

    def user(self, token: str, rule: AccessRule) -> User | None:
        """The user of a token, None if it is not valid for the rule. AppError for a bad key."""
        if len(token) > _LONGEST_TOKEN:
            return None
        claims = claims_in(token, self.keys(rule), rule)
        return None if claims is None else User(name_of(claims), float(claims["exp"]))

    def keys(self, rule: AccessRule) -> list[Key]:
        """The keys of a rule. AppError when there are none, or they are no public keys."""
        path = Path(rule.key_file)
        place = (rule.key_file, rule.algorithms)
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            with self._lock:
                if (known := self._keys.get(place)) and known[0] == stamp:
                    return known[1]
            if status.st_size > _LARGEST_KEY_FILE:
                raise _unusable(path, "It is too large for a key.")
            content = path.read_bytes()
        except OSError as exc:
            raise _unusable(path, f"{exc.strerror}.") from exc
        keys = keys_in(content, rule, path)
        with self._lock:
            self._keys[place] = (stamp, keys)
        return keys


def claims_in(token: str, keys: Sequence[Key], rule: AccessRule) -> dict[str, Any] | None:
    """What a token says, None if it is not valid for the rule or signed by none of the keys."""
    try:
        chosen = _chosen(keys, jwt.get_unverified_header(token), rule)
        if chosen is None:
            return None
        key, algorithm = chosen
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            audience=rule.audience,
            issuer=rule.issuer,
            leeway=_LEEWAY_S,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as exc:
        log.info("a token of a user was refused: %s", type(exc).__name__)
        return None
    return claims if claims["sub"] else None


def name_of(claims: Mapping[str, Any]) -> str:
    """A short name for the user of a token, which identifies nobody."""
    who = hashlib.sha256(f"{claims['iss']}\0{claims['sub']}".encode("utf-8", "replace"))
    return who.hexdigest()[:16]


def is_meant_for(token: str, rule: AccessRule) -> bool:
    """True when a token that was checked before comes from the issuer of a rule, for it."""
    claims = jwt.decode(token, options={"verify_signature": False})
    audience = claims["aud"]
    return claims["iss"] == rule.issuer and rule.audience in (
        audience if isinstance(audience, list) else [audience]
    )


def check_key(content: str, rule: AccessRule) -> None:
    """AppError for a text that holds no public key for the rule."""
    if len(content) > _LARGEST_KEY_FILE:
        raise _unusable(_GIVEN, "It is too large for a key.")
    keys_in(content.encode("utf-8", "replace"), rule, _GIVEN)


def _chosen(
    keys: Sequence[Key], header: dict[str, Any], rule: AccessRule
) -> tuple[Key, str] | None:
    """The key for a token, and the algorithm; None unless exactly one key fits.

    The header can only choose among the algorithms of the rule, and those that fit the key.
    """
    algorithm, kid = header.get("alg"), header.get("kid", "")
    if algorithm not in rule.algorithms or header.get("crit") is not None:
        return None
    fitting = [k for k in keys if k.kid == kid] if kid else list(keys)
    if kid and len(keys) == 1 and not keys[0].kid:
        fitting = list(keys)
    if len(fitting) != 1 or fitting[0].algorithm not in ("", algorithm):
        return None
    return fitting[0], str(algorithm)


def keys_in(content: bytes, rule: AccessRule, path: Path | str) -> list[Key]:
    """The public keys in PEM or a JWKS, which `path` names. AppError if there are none."""
    if b"PRIVATE KEY" in content:
        raise _unusable(path, "It holds a private key. Give the public one, and no more.")
    is_set = content.lstrip()[:1] == b"{"
    keys = _in_set(content, path) if is_set else _in_pem(content, rule)
    if not keys:
        raise _unusable(path, "It holds no public key for these algorithms.")
    rsa = [k.key for k in keys if type(k.key).__name__.startswith("RSA")]
    if any(getattr(key, "key_size", _LEAST_RSA_BITS) < _LEAST_RSA_BITS for key in rsa):
        raise _unusable(path, f"A key has fewer than {_LEAST_RSA_BITS} bits.")
    return keys


def _in_pem(content: bytes, rule: AccessRule) -> list[Key]:
    """The key of a PEM file, as the first algorithm that it fits reads it."""
    for name in rule.algorithms:
        try:
            return [Key(jwt.get_algorithm_by_name(name).prepare_key(content))]
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
    return []


def _in_set(content: bytes, path: Path | str) -> list[Key]:
    try:
        given = cast("list[dict[str, Any]]", json.loads(content)["keys"])
        keys: list[Key] = []
        for each in given:
            if each.get("kty") == "oct" or "d" in each or "k" in each:
                raise _unusable(path, "It holds a secret key. Give the public ones, and no more.")
            if each.get("use", "sig") == "sig":
                algorithm = str(each.get("alg", ""))
                keys.append(Key(jwt.PyJWK(each).key, str(each.get("kid", "")), algorithm))
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise _unusable(path, "It is neither a public key in PEM nor a JWKS.") from exc
    return keys


def _unusable(path: Path | str, hint: str) -> AppError:
    return AppError("The key for users' tokens can't be used.", f"{path}: {hint}")
