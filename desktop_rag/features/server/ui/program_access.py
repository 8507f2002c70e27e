"""What the page about other programs works with. Protocols; their methods block."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.values.access_values import (
    AccessRule,
    CertificateFacts,
    TokenFacts,
    TokenWish,
)
from desktop_rag.features.server.values.usage_figures import (
    RequestRecord,
    RequestSearch,
    UsageFigures,
)


class ProgramRecords(Protocol):
    """The tokens of the server, and the log of what was asked with them."""

    def tokens(self) -> Sequence[TokenFacts]:
        """All tokens, the oldest first."""
        ...

    def add_token(self, wish: TokenWish) -> str:
        """Make a token; returns its secret. AppError for a taken name."""
        ...

    def revoke(self, token_id: str) -> None:
        """Refuse a token from now on."""
        ...

    def collections(self) -> Mapping[str, str]:
        """The names of all collections by id."""
        ...

    def models(self) -> Mapping[str, str]:
        """The names of everything that a token may be limited to, by key."""
        ...

    def set_models(self, token_id: str, keys: Sequence[str]) -> None:
        """Limit a token to these; none of them means all."""
        ...

    def access_rules(self) -> Sequence[AccessRule]:
        """The rules that say which applications decide about readers."""
        ...

    def set_access_rule(self, rule: AccessRule) -> None:
        """Keep a rule in place of an earlier one. AppError for one that can't be kept to."""
        ...

    def remove_access_rule(self, collection_id: str) -> None:
        """Let every token for the collection read it again."""
        ...

    def filters(self) -> Sequence[str]:
        """The names of the filters of installed packages."""
        ...

    def requests(self, wanted: RequestSearch, most: int) -> Sequence[RequestRecord]:
        """The newest requests that fit."""
        ...

    def usage(self, days: int) -> UsageFigures:
        """The figures of the last days."""
        ...

    def delete_requests(self) -> None:
        """Forget every request."""
        ...


class ProgramAccess(Protocol):
    """The local server."""

    @property
    def address(self) -> str:
        """Where it is asked, "" while it is off."""
        ...

    @property
    def port(self) -> int:
        """The port it listens on, which may not be the one of the settings; 0 while it is off."""
        ...

    @property
    def fault(self) -> AppError | None:
        """Why it is off although it should be on."""
        ...

    def certificate(self, settings: ServerSettings) -> CertificateFacts | None:
        """What the certificate of these settings says. AppError when it can't be used now."""
        ...

    def check(self, settings: ServerSettings) -> CertificateFacts | None:
        """As `certificate`; AppError as well when another program has the port. Changes nothing."""
        ...

    def own_names(self) -> list[str]:
        """The name and the addresses by which other computers may ask this one."""
        ...

    @property
    def records(self) -> ProgramRecords:
        """Its tokens and its log."""
        ...
