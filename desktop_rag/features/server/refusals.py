"""A request that is not answered, and why. Pure."""

from dataclasses import KW_ONLY, dataclass

from desktop_rag.core.errors import AppError, LibraryAwayError

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_SERVER_FAULT = 500
_AWAY_S = 5


@dataclass(eq=False)
class Refusal(Exception):  # noqa: N818  the request is at fault, not the app
    """Answered with this status and message, in the form of OpenAI's errors.

    `param` names the field at fault, `code` is for programs. The message reaches the client, so it
    holds nothing about what the client may not read.
    """

    status: int
    message: str
    _: KW_ONLY
    param: str | None = None
    code: str | None = None
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @classmethod
    def of_error(
        cls,
        error: AppError,
        status: int = 400,
        *,
        param: str | None = None,
        code: str | None = None,
    ) -> "Refusal":
        """The refusal that says what an AppError says; 503 while the library is away."""
        if isinstance(error, LibraryAwayError):
            # The hint, for whoever looks after it, may quote the database.
            said = f"{error.title} Try again soon."
            return cls(503, said, code="library_away", retry_after_s=_AWAY_S)
        return cls(status, str(error), param=param, code=code)

    def to_json(self) -> dict[str, object]:
        """The body of the response."""
        other = "server_error" if self.status >= _SERVER_FAULT else _TYPES[400]
        kind = _TYPES.get(self.status, other)
        return {
            "error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        }
