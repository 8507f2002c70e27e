"""A collection whose readers another application decides about. A frozen value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

# Only with a public key: with the others, whoever can check a token can make one.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
USUAL_ALGORITHMS: tuple[Algorithm, ...] = ("RS256", "ES256", "EdDSA")


@dataclass(frozen=True, slots=True)
class AccessRule:
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

    def to_json(self) -> dict[str, Any]:
        """The stored form."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "AccessRule":
        """The inverse of `to_json`. TypeError or KeyError for anything else."""
        names = ("collection_id", "key_file", "issuer", "audience", "address")
        texts = {name: fields[name] for name in names}
        algorithms = fields["algorithms"]
        if not all(isinstance(value, str) for value in (*texts.values(), *algorithms)):
            raise TypeError("not a text")
        return cls(algorithms=tuple(algorithms), **texts)
