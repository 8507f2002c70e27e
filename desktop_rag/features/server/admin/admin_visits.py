"""One request to the admin page, and what its pages answer with. Values, pure."""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from desktop_rag.features.server.admin.admin_sessions import AdminSession
from desktop_rag.features.server.html_writer import Html
from desktop_rag.features.server.refusals import Refusal

FORM_KEY = "form_key"
_LARGEST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is logged in: its query, its form, and the parts of its path."""

    session: AdminSession
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    parts: Mapping[str, str] = field(default_factory=dict[str, str])

    def sent(self, name: str) -> str:
        """The value of a field of the form, without blanks around it; "" without one."""
        return next(iter(self.form.get(name, ())), "").strip()

    def sent_all(self, name: str) -> tuple[str, ...]:
        """All values of a field, such as ticked boxes."""
        return tuple(self.form.get(name, ()))

    def sent_lines(self, name: str) -> tuple[str, ...]:
        """The lines of a field that are not empty."""
        return tuple(line.strip() for line in self.sent(name).splitlines() if line.strip())

    def asked(self, name: str) -> str:
        """A value of the query, "" without one."""
        return self.query.get(name, "").strip()

    @property
    def page(self) -> int:
        """The number of the page of a list, from 0."""
        number = self.query.get("page", "")
        return min(int(number), _LARGEST_PAGE) if number.isascii() and number.isdecimal() else 0

    def with_page(self, page: int) -> str:
        """The address of another page of the same list."""
        kept = {name: value for name, value in self.query.items() if name != "page"}
        return f"{self.path}?{urlencode({**kept, 'page': page})}"

    def check_form_key(self) -> None:
        """Refuses a form that no page of this session has shown."""
        sent = self.sent(FORM_KEY).encode("utf-8", "replace")
        if not hmac.compare_digest(sent, self.session.form_key.encode()):
            raise Refusal(403, "This form is out of date. Go back, load the page anew, try again.")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page that is shown."""

    title: str
    body: Html
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """Another page is shown, with a sentence about what was done."""

    path: str
    said: str = ""


Answer = Shown | Moved
Handler = Callable[[Visit], Answer]
# A path, a method, and what answers it.
Handled = tuple[str, str, Handler]
