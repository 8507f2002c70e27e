"""Access rules, certificates and tokens of the local server. Frozen values, pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from desktop_rag.core.records import Record

# Only with a public key: with the others, whoever can check a token can make one.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
USUAL_ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "ES256", "EdDSA")


@dataclass(frozen=True, slots=True)
class AccessRule(Record):
    """The application that says who may read which documents of a collection.

    Its users come with a token signed with the key in `key_file`, a public key in PEM or a JWKS, by
    one of the `algorithms`, from `issuer` and for `audience`. The application is asked at
    `address` which documents they may read.
    """

    collection_id: str
    key_file: str
    algorithms: tuple[str, ...]
    issuer: str
    audience: str
    address: str


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """The names and addresses that a certificate is for, and its end in Unix time."""

    names: tuple[str, ...]
    ends_at: float

    def left_out(self, names: Iterable[str]) -> list[str]:
        """The names that it is not for: programs that ask by one refuse it."""
        return [name for name in names if not any(_is_for(known, name) for known in self.names)]


def _is_for(known: str, name: str) -> bool:
    """True for the same name, and for a name with one word in the place of a star."""
    known, name = known.casefold(), name.casefold()
    star, _, rest = known.partition(".")
    return known == name or (star == "*" and bool(rest) and name.partition(".")[2] == rest)


@dataclass(frozen=True, slots=True)
class TokenWish:
    """A token to be made. Without `collection_ids` it covers all; `days` 0 means for ever."""

    name: str
    allows: tuple[str, ...]
    collection_ids: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    requests_per_minute: int = 120
    days: float = 0
    lists_sources: bool = False
    passes_markup: bool = False
