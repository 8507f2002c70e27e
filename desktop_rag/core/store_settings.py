"""The settings of where the library is kept, and of one that is searched beside it."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The engine that keeps the library; see `store/opening.py` for its names.

    For an engine on a server, `address` is its connection string without a password, and `library`
    the library's name there. Searches use the streaming replica at `read_address`, if set, while it
    is at most `read_lag_s` seconds behind.
    """

    engine: str = "duckdb"
    address: str = ""
    library: str = "desktop_rag"
    read_address: str = ""
    read_lag_s: float = 5.0


class Encryption(StrEnum):
    """The encryption of the connection to a shared library, by PostgreSQL's names."""

    VERIFIED = "verify-full"
    UNVERIFIED = "require"
    NONE = "disable"


@dataclass(frozen=True, slots=True)
class SharedLibrarySettings:
    """A library on a PostgreSQL server that is searched beside the own one.

    `certificate` is the file of the authority that signed the server's certificate; "" trusts the
    system's. The password is in the keyring and never here.
    """

    host: str = ""
    port: int = 5432
    database: str = ""
    role: str = ""
    library: str = "desktop_rag"
    encryption: Encryption = Encryption.VERIFIED
    certificate: str = ""

    @property
    def is_set(self) -> bool:
        """True once there is enough to connect with."""
        return bool(self.host and self.database and self.role)

    @property
    def address(self) -> str:
        """The address for people, and for the password in the keyring; "" when it isn't set."""
        if not self.is_set:
            return ""
        return f"postgresql://{self.role}@{self.host}:{self.port}/{self.database}"
