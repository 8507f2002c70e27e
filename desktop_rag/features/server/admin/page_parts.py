"""Visits to the admin page, in sessions, and the parts that its pages have. Worker threads."""

import hmac
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from desktop_rag.features.server.access.access_tokens import Token
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.access.sessions import Session
from desktop_rag.features.server.html_writer import Child, Html, document, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.serving import Serving
from desktop_rag.ingest.library import Library

_Row = TypeVar("_Row")

NOBODY = Session(Token("", "", "", frozenset()))
FORM_KEY = "form_key"
_LARGEST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page: its query, its form, and the parts of its path.

    `files` of the form are names and contents. A page gets the `session` of who is logged in.
    """

    exchange: Exchange
    session_id: str
    query: Mapping[str, str]
    parts: Mapping[str, str]
    form: Mapping[str, Sequence[str]]
    is_post: bool
    files: Sequence[tuple[str, bytes]]
    session: Session

    def one_of(self, rows: Iterable[_Row], part: str, unknown: str) -> _Row:
        """The row whose attribute is the `part` of this name in the path; refuses an `unknown`."""
        for row in rows:
            if getattr(row, part) == self.parts[part]:
                return row
        raise Refusal(404, unknown)

    def sent(self, name: str) -> str:
        """The value of a field of the form, without blanks around it; "" without one."""
        return next(iter(self.form.get(name, ())), "").strip()

    def sent_all(self, name: str) -> tuple[str, ...]:
        """All values of a field, such as ticked boxes."""
        return tuple(self.form.get(name, ()))

    def sent_lines(self, name: str) -> tuple[str, ...]:
        """The lines of a field that are not empty."""
        return tuple(line.strip() for line in self.sent(name).splitlines() if line.strip())

    def number(self, name: str, most: int) -> int:
        """A number of the form, 0 without one; refuses one above the most."""
        text = self.sent(name) or "0"
        if not (text.isascii() and text.isdecimal() and int(text[:12]) <= most):
            raise Refusal(400, f"“{text[:40]}” is not a number up to {most:,}.")
        return int(text)

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
        return f"{self.exchange.path}?{urlencode({**kept, 'page': page})}"

    def check_form_key(self) -> None:
        """Refuses a form that no page of this session has shown."""
        sent = self.sent(FORM_KEY).encode("utf-8", "replace")
        if not hmac.compare_digest(sent, self.session.form_key.encode()):
            raise Refusal(403, "This form is out of date. Go back, load the page anew, try again.")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as the answer."""

    title: str
    body: Html
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect to another page, with a sentence about what was done."""

    path: str
    said: str = ""


Answer = Shown | Moved
Handler = Callable[[Visit], Answer]
# A path, its methods, and what answers them.
Handled = tuple[str, tuple[str, ...], Handler]
_Method = TypeVar("_Method", bound=Callable[..., Answer])


class AdminPages:
    """The pages about one subject."""

    def __init__(self, serving: Serving) -> None:
        self._serving, self._library, self._chat = serving, serving.library, serving.chat


def page(path: str, *methods: str) -> Callable[[_Method], _Method]:
    """Declares a method of a page, which answers a path: a GET if no method is named."""

    def declared(method: _Method) -> _Method:
        vars(method)["answers"] = (path, methods or ("GET",))
        return method

    return declared


def handlers_of(subject: object) -> list[Handled]:
    """All that the methods of a page answer, in their order. They run on worker threads."""
    return [
        (*member.answers, getattr(subject, name))
        for name, member in vars(type(subject)).items()
        if hasattr(member, "answers")
    ]


STYLESHEET = "/admin/admin.css"
PAGE_ROWS = 100
_BAR_STEPS = 20


def framed(
    title: str, body: Html, visit: Visit | None, pages: Sequence[tuple[str, str]] = ()
) -> Html:
    """A whole page; with a `visit` it has the list of `pages` (path and title) and a way out."""
    parts: list[Child] = [tag("a", "Skip to the page", href="#page", class_="skip")]
    said: Child = None
    if visit:
        logout = form(visit, "/admin/logout", button("Log out"))
        who = tag("span", f"Logged in with “{visit.session.token.name}”", class_="who")
        parts.append(tag("header", tag("strong", "desktop-rag"), who, logout))
        parts.append(tag("nav", tag("ul", _links(visit, pages)), aria_label="Admin pages"))
        said = [tag("p", each, class_="said", role="status") for each in visit.session.said]
        visit.session.said.clear()
    parts.append(tag("main", tag("h1", title), said, body, id="page"))
    return document(f"{title} – desktop-rag", tag("body", *parts), stylesheet=STYLESHEET)


def _links(visit: Visit, pages: Sequence[tuple[str, str]]) -> list[Html]:
    def is_current(path: str) -> bool:
        return visit.exchange.path == path or (
            path != "/admin" and visit.exchange.path.startswith(f"{path}/")
        )

    return [
        tag("li", tag("a", title, href=path, aria_current="page" if is_current(path) else None))
        for path, title in pages
    ]


# --- text ------------------------------------------------------------------------------------


def note(*children: Child) -> Html:
    """A sentence of explanation."""
    return tag("p", *children, class_="note")


def section(title: str, *children: Child) -> Html:
    """A part of a page under a heading."""
    return tag("section", tag("h2", title), *children)


def when(moment: float) -> Html:
    """A time in the words of this computer's clock; "never" for 0."""
    if not moment:
        return tag("span", "never")
    said = time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
    return tag("span", said, class_="when")


def chip(text: str, tone: str = "") -> Html:
    """A short word about a state; the tones are good, bad and wait."""
    return tag("span", text, class_=f"chip {tone}".strip())


def figures(*shown: tuple[str, str]) -> Html:
    """Numbers with what they count."""
    items = [tag("li", tag("span", tag("strong", number), label)) for number, label in shown]
    return tag("ul", items, class_="figures")


def collection_names(library: Library) -> dict[str, str]:
    """The names of all collections by id."""
    return {each.collection_id: each.name for each in library.collections.all()}


# --- tables ----------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], *, empty: str) -> Html:
    """A table that scrolls sideways where it is wide; `empty` stands for one without rows."""
    written = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    if not written:
        return tag("p", empty, class_="empty")
    head = tag("thead", tag("tr", [tag("th", each, scope="col") for each in heads]))
    whole = tag("table", head, tag("tbody", written))
    return tag("div", whole, class_="wide", tabindex=0, role="region", aria_label=", ".join(heads))


def pager(visit: Visit, total: int) -> Html:
    """Links to the pages before and after, and which of the rows are shown."""
    first = visit.page * PAGE_ROWS
    last = min(total, first + PAGE_ROWS)
    said = f"{first + 1:,}–{last:,} of {total:,}" if last > first else f"{total:,} in all"
    before = tag("a", "Before", href=visit.with_page(visit.page - 1)) if visit.page else None
    after = tag("a", "Next", href=visit.with_page(visit.page + 1)) if last < total else None
    return tag("p", tag("span", said), before, after, class_="pager")


def rows_of_page(visit: Visit, rows: Sequence[object]) -> slice:
    """The rows that this page of a list shows."""
    first = min(visit.page * PAGE_ROWS, len(rows))
    return slice(first, first + PAGE_ROWS)


def bar(share: float) -> Html:
    """A bar as wide as a share from 0 to 1; the figure stands beside it."""
    step = max(0, min(_BAR_STEPS, round(share * _BAR_STEPS)))
    filled = tag("span", class_=f"filled w{step * 100 // _BAR_STEPS}")
    return tag("span", filled, class_="bar", aria_hidden="true")


# --- forms -----------------------------------------------------------------------------------


def form(visit: Visit, action: str, *children: Child, enctype: str | None = None) -> Html:
    """A form that changes something; it holds the key of the session."""
    key = tag("input", type="hidden", name=FORM_KEY, value=visit.session.form_key)
    return tag("form", key, *children, method="post", action=action, enctype=enctype)


def upload_form(visit: Visit, action: str, label: str, hint: str) -> Html:
    """A form that sends files."""
    chosen = form_field(label, "files", hint=hint, kind="file", multiple=True, required=True)
    sent = tag("p", button("Upload"))
    return form(visit, action, chosen, sent, enctype="multipart/form-data")


def filters(visit: Visit, *children: Child) -> Html:
    """A form that only asks for other rows of the same page."""
    show = tag("button", "Show", type="submit")
    return tag("form", *children, show, method="get", action=visit.exchange.path, class_="filters")


def button(text: str, *, is_danger: bool = False, about: str = "") -> Html:
    """A button that sends its form; `about` says what it is for, where many are alike."""
    name = f"{text}: {about}" if about else None
    kind = "danger" if is_danger else None
    return tag("button", text, type="submit", class_=kind, aria_label=name)


def form_field(
    label: str, name: str, value: str = "", *, hint: str = "", **more: str | int
) -> Html:
    """A line of text with its label."""
    box = tag("input", type=more.pop("kind", "text"), name=name, value=value or None, **more)
    return _labelled(label, box, hint)


def text_area(label: str, name: str, value: str = "", *, hint: str = "", rows: int = 3) -> Html:
    """A field for several lines."""
    # The first line break of a text area is not part of its text.
    box = tag("textarea", f"\n{value}", name=name, rows=rows)
    return _labelled(label, box, hint)


def select(label: str, name: str, choices: Mapping[str, str], chosen: str = "") -> Html:
    """A choice of one; the keys are sent, the values shown."""
    options = [
        tag("option", shown, value=value, selected=value == chosen)
        for value, shown in choices.items()
    ]
    return _labelled(label, tag("select", options, name=name))


def ticks(label: str, name: str, choices: Mapping[str, str], chosen: Iterable[str] = ()) -> Html:
    """A choice of several."""
    ticked = frozenset(chosen)
    boxes = [
        tag("label", tag("input", type="checkbox", name=name, value=value, checked=value in ticked),
            f" {shown}")
        for value, shown in choices.items()
    ]  # fmt: skip
    return tag("fieldset", tag("legend", label), boxes)


def question(visit: Visit, title: str, said: str, yes: str, back: str) -> Shown:
    """A page that asks before something that can't be undone; its form comes to the same path."""
    cancel = tag("a", "Cancel", href=back)
    buttons = tag("p", button(yes, is_danger=True), " ", cancel)
    return Shown(title, form(visit, visit.exchange.path, tag("p", said), buttons))


def _labelled(label: str, box: Html, hint: str = "") -> Html:
    return tag(
        "label", tag("span", label), box, tag("small", hint) if hint else None, class_="field"
    )
