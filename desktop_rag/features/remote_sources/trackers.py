"""Issues of GitHub, GitLab and Jira, and pages of Confluence, by their REST APIs and a token.

An issue with its comments is one document, its state and labels are tags. GitHub and GitLab list
issues by pages in the order in which they were made, each with an ETag, so that only pages with
changes come again. Jira and Confluence list what is there with no more than times and versions.
"""

import html
import threading
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.setting_text import marked
from desktop_rag.features.remote_sources.http_place import PlaceLimits, Refused, basic
from desktop_rag.features.remote_sources.json_remote import (
    MOST_REQUESTS,
    Answer,
    JsonRemote,
    checked_address,
    file_name,
    needed,
    needed_rows,
    one_line,
    rows_of,
    seconds_of,
    text_of,
    unreadable,
    value_of,
    with_front,
)
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    RemoteKind,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.features.web_pages.page_address import host_of, origin_of, target_of

_A_PAGE = 100
_MISSING = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Said:
    """A comment."""

    by: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as it is now; moments are in ISO."""

    number: str
    title: str
    state: str
    labels: tuple[str, ...]
    by: str
    made: str
    changed: str
    text: str
    page: str

    def document(self, project: str, comments: Iterable[Said]) -> str:
        """The document in Markdown; each comment is a section."""
        name = f"{project} {self.number}".strip()
        facts = (name, self.state, f"by {self.by}" if self.by else "", self.made[:10])
        lines = [f"# {one_line(self.title)}", " · ".join(filter(None, facts)), self.text]
        lines += [f"## Comment by {c.by or '?'}, {c.at[:10]}\n\n{c.text}" for c in comments]
        tags = (self.state, *self.labels)
        return with_front(self.title, self.made, tags, "\n\n".join(lines))

    def item(self, folder: str, place: str, item_id: str) -> Item:
        """The issue as it is listed."""
        mark = self.number.removeprefix("#")
        return Item(
            item_id, f"{folder}/{file_name(f'{mark} {self.title}', '.md')}", self.changed,
            modified=seconds_of(self.changed), place=place, page=self.page,
        )  # fmt: skip


class _PagedIssues(JsonRemote):
    """Issues that are listed by pages with an ETag each."""

    @abstractmethod
    def projects(self) -> Iterator[tuple[str, str]]:
        """The folder and the path of each project."""

    @abstractmethod
    def issue(self, row: object) -> Issue:
        """An issue of a listing, or one by itself."""

    @abstractmethod
    def comments(self, issue_path: str) -> Iterator[Said]:
        """The comments of an issue, the oldest first."""

    query: Mapping[str, str]

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: a part is a page of a hundred issues."""
        for folder, path in self.projects():
            if self.is_chosen(folder):
                yield from self._pages(folder, path, tokens)

    def _pages(self, folder: str, path: str, tokens: Mapping[str, str]) -> Iterator[Part]:
        for number in range(1, MOST_REQUESTS):
            key = f"{folder}/{number:05}/"
            is_full, etag = tokens.get(key, "")[:1] == "+", tokens.get(key, "")[1:]
            try:
                found = self._listed_page(f"{path}/issues", etag, number)
            except Refused as refused:
                if refused.status not in {403, *_MISSING} or refused.wait_s is not None:
                    raise
                # A project without issues, or without those that this person may read.
                yield Part(f"{folder}/", problem=refused.reason)
                return
            if found.is_same:
                yield Part(key, Told.SAME, token=tokens[key])
            else:
                rows = needed_rows(found.value)
                is_full = len(rows) >= _A_PAGE
                items = tuple(self._item(folder, path, row) for row in rows)
                token = f"{'+' if is_full else '.'}{found.etag}" if found.etag else ""
                yield Part(key, items=items, token=token)
            if not is_full:
                return
        raise unreadable()

    def _listed_page(self, path: str, etag: str, number: int) -> Answer:
        return self.listed(path, etag, per_page=_A_PAGE, page=number, **self.query)

    def _item(self, folder: str, path: str, row: object) -> Item:
        issue = self.issue(row)
        place = f"{path}/issues/{quote(issue.number.removeprefix('#'), safe='')}"
        return issue.item(folder, place, needed(row, "id"))

    def written(self, item: Item) -> tuple[Item, str]:
        """As `JsonRemote.written`."""
        issue = self.issue(self.got(item.place).value)
        text = issue.document(item.path.partition("/")[0], self.comments(item.place))
        return replace(item, version=issue.changed), text

    def every(self, path: str, **query: str) -> Iterator[object]:
        """All rows of a list of pages."""
        for number in range(1, MOST_REQUESTS):
            rows = needed_rows(self.got(path, per_page=_A_PAGE, page=number, **query).value)
            yield from rows
            if len(rows) < _A_PAGE:
                return


class GitHub(_PagedIssues):
    """Issues and pull requests of a repository, or of all of a user or an organisation."""

    query: Mapping[str, str] = {"state": "all", "sort": "created", "direction": "asc"}

    def projects(self) -> Iterator[tuple[str, str]]:
        """As `_PagedIssues.projects`."""
        owner, _, name = target_of(self._links.urls[0]).strip("/").partition("/")
        if name:
            yield name, f"repos/{owner}/{name}"
            return
        try:
            for row in self.every(f"users/{owner}/repos"):
                yield needed(row, "name"), f"repos/{needed(row, 'full_name')}"
        except Refused as refused:
            raise _no_project(refused) from refused

    def issue(self, row: object) -> Issue:
        """As `_PagedIssues.issue`."""
        labels = tuple(text_of(label, "name") for label in rows_of(row, "labels"))
        kind = ("pull request",) if value_of(row, "pull_request") else ()
        return Issue(
            f"#{needed(row, 'number')}", text_of(row, "title"), text_of(row, "state"),
            (*labels, *kind), text_of(row, "user", "login"), text_of(row, "created_at"),
            needed(row, "updated_at"), text_of(row, "body"), text_of(row, "html_url"),
        )  # fmt: skip

    def comments(self, issue_path: str) -> Iterator[Said]:
        """As `_PagedIssues.comments`."""
        for row in self.every(f"{issue_path}/comments"):
            yield Said(
                text_of(row, "user", "login"), text_of(row, "created_at"), text_of(row, "body")
            )


class GitLab(_PagedIssues):
    """Issues of a project, or of all projects of a group."""

    query: Mapping[str, str] = {"scope": "all", "order_by": "created_at", "sort": "asc"}

    def projects(self) -> Iterator[tuple[str, str]]:
        """As `_PagedIssues.projects`."""
        full = target_of(self._links.urls[0]).strip("/")
        path = f"projects/{quote(full, safe='')}"
        try:
            self.got(path)
        except Refused as refused:
            if refused.status not in _MISSING:
                raise
        else:
            yield full.rpartition("/")[2], path
            return
        group = f"groups/{quote(full, safe='')}/projects"
        try:
            for row in self.every(group, include_subgroups="true", order_by="id", sort="asc"):
                below = needed(row, "path_with_namespace").removeprefix(f"{full}/")
                yield below.replace("/", " - "), f"projects/{needed(row, 'id')}"
        except Refused as refused:
            raise _no_project(refused) from refused

    def issue(self, row: object) -> Issue:
        """As `_PagedIssues.issue`."""
        labels = tuple(label for label in rows_of(row, "labels") if isinstance(label, str))
        return Issue(
            f"#{needed(row, 'iid')}", text_of(row, "title"), text_of(row, "state"), labels,
            text_of(row, "author", "name"), text_of(row, "created_at"), needed(row, "updated_at"),
            text_of(row, "description"), text_of(row, "web_url"),
        )  # fmt: skip

    def comments(self, issue_path: str) -> Iterator[Said]:
        """As `_PagedIssues.comments`."""
        for row in self.every(f"{issue_path}/notes", sort="asc", order_by="created_at"):
            if value_of(row, "system") is not True:
                yield Said(
                    text_of(row, "author", "name"), text_of(row, "created_at"),
                    text_of(row, "body"),
                )  # fmt: skip


class Jira(JsonRemote):
    """Issues of all projects of a Jira, in its cloud or on a server of one's own."""

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: a part is a project."""
        rows = needed_rows(self.listed("rest/api/2/project").value)
        for key in (needed(row, "key") for row in rows):
            if self.is_chosen(key):
                yield Part(f"{key}/", items=tuple(self._issues(key)))

    def _issues(self, project: str) -> Iterator[Item]:
        query = {"jql": f'project = "{project}" ORDER BY created', "fields": "summary,updated"}
        following, begun = "", 0
        for _ in range(MOST_REQUESTS):
            try:
                more = {"nextPageToken": following} if following else {}
                found = self.listed("rest/api/2/search/jql", maxResults=_A_PAGE, **query, **more)
            except Refused as refused:
                if refused.status not in _MISSING:
                    raise
                # A server of one's own, where a list is cut by numbers.
                found = self.listed("rest/api/2/search", maxResults=_A_PAGE, startAt=begun, **query)
            rows = needed_rows(found.value, "issues")
            for row in rows:
                key, changed = needed(row, "key"), needed(row, "fields", "updated")
                issue = Issue(
                    key, text_of(row, "fields", "summary"), "", (), "", "", changed, "",
                    f"{self._api}/browse/{key}",
                )  # fmt: skip
                yield issue.item(project, f"rest/api/2/issue/{quote(key)}", needed(row, "id"))
            following, begun = text_of(found.value, "nextPageToken"), begun + len(rows)
            total = text_of(found.value, "total")
            if not following and (not rows or not total or begun >= int(total)):
                return
        raise unreadable()

    def written(self, item: Item) -> tuple[Item, str]:
        """As `JsonRemote.written`."""
        names = "summary,description,status,labels,issuetype,reporter,created,updated,comment"
        row = self.got(item.place, fields=names).value
        fields, key = value_of(row, "fields"), needed(row, "key")
        labels = tuple(label for label in rows_of(fields, "labels") if isinstance(label, str))
        issue = Issue(
            key, text_of(fields, "summary"), text_of(fields, "status", "name"),
            (text_of(fields, "issuetype", "name"), *labels),
            text_of(fields, "reporter", "displayName"), text_of(fields, "created"),
            needed(fields, "updated"), text_of(fields, "description"), item.page,
        )  # fmt: skip
        comments = [
            Said(text_of(c, "author", "displayName"), text_of(c, "created"), text_of(c, "body"))
            for c in rows_of(fields, "comment", "comments")
        ]
        return replace(item, version=issue.changed), issue.document("", comments)


_READERS = ("restrictions", "read", "restrictions")


class Confluence(JsonRemote):
    """Pages of all spaces of a Confluence, with who may read those that are not for all."""

    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """As `Remote.parts`: a part is a space."""
        for row in self._every("rest/api/search", cql="type = space"):
            key = needed(row, "space", "key")
            if self.is_chosen(key):
                yield Part(f"{key}/", items=tuple(self._pages(key)))

    def _every(self, path: str, **query: str) -> Iterator[object]:
        found = self.listed(path, limit=_A_PAGE, **query).value
        for _ in range(MOST_REQUESTS):
            yield from needed_rows(found, "results")
            if not (following := text_of(found, "_links", "next")):
                return
            found = self.listed(following).value
        raise unreadable()

    def _pages(self, space: str) -> Iterator[Item]:
        expand = f"version,ancestors,{'.'.join(_READERS)}.user,{'.'.join(_READERS)}.group"
        query = f'space = "{space}" AND type = page ORDER BY created'
        for row in self._every("rest/api/content/search", cql=query, expand=expand):
            page_id, version = needed(row, "id"), needed(row, "version", "number")
            above = [file_name(text_of(each, "title")) for each in rows_of(row, "ancestors")]
            name = file_name(f"{text_of(row, 'title')} {page_id}", ".html")
            groups = rows_of(row, *_READERS, "group", "results")
            users = rows_of(row, *_READERS, "user", "results")
            readers = [text_of(each, "name") for each in groups]
            readers += [text_of(u, "email") or text_of(u, "displayName") for u in users]
            yield Item(
                page_id, "/".join((space, *above, name)), version,
                modified=seconds_of(text_of(row, "version", "when")),
                place=page_id,
                page=f"{self._api}/pages/viewpage.action?pageId={quote(page_id)}",
                readers=tuple(sorted(filter(None, readers))),
            )  # fmt: skip

    def written(self, item: Item) -> tuple[Item, str]:
        """As `JsonRemote.written`; the page is a document in HTML."""
        expand = "body.view,version,metadata.labels,children.comment.body.view"
        found = self.got("rest/api/content/search", cql=f"id = {item.place}", expand=expand).value
        [row] = needed_rows(found, "results") or [None]
        if row is None:
            raise RemoteRefused(Trouble.FAILED, "It is not on the server (404).")
        tags = rows_of(row, "metadata", "labels", "results")
        labels = ", ".join(text_of(label, "name") for label in tags)
        comments = rows_of(row, "children", "comment", "results")
        said = [f"<h2>Comment</h2>{text_of(c, 'body', 'view', 'value')}" for c in comments]
        title, day = html.escape(text_of(row, "title")), text_of(row, "version", "when")[:10]
        body = text_of(row, "body", "view", "value")
        text = (
            f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="dcterms.subject" content="{html.escape(labels)}">'
            f'<meta name="dcterms.date" content="{html.escape(day)}"></head><body><main>'
            f"<h1>{title}</h1>{body}{''.join(said)}</main></body></html>"
        )
        return replace(item, version=needed(row, "version", "number")), text


def _no_project(refused: Refused) -> RemoteRefused:
    if refused.status not in _MISSING:
        return refused
    return RemoteRefused(
        Trouble.REFUSED, "There is no such project at this address.",
        "Perhaps it is private, and the token does not let you read it.",
    )  # fmt: skip


# --- the kinds ------------------------------------------------------------------------------------

_ATLASSIAN = ".atlassian.net"


def _checked(
    links: WebLinks, *, example: str, until: tuple[str, ...], most: int = 0, least: int = 0
) -> WebLinks:
    """The address up to the first of the marks `until`, with so many names after the host."""
    links = checked_address(links, has_secret=True, example=example)
    origin = origin_of(links.urls[0])
    path = f"{target_of(links.urls[0]).rstrip('/')}/"
    for mark in until:
        path = path.partition(mark)[0] + "/"
    names = [name for name in path.split("/") if name]
    if len(names) < least:
        raise AppError("The address lacks the name of a project.", f"It is like {example}.")
    return replace(links, urls=("/".join((origin, *(names[:most] if most else names))),))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def open_github(
    links: WebLinks, token: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> GitHub:
    """Connect to GitHub, or to one of an enterprise."""
    origin = origin_of(links.urls[0])
    is_public = host_of(origin) in ("github.com", "www.github.com")
    api = "https://api.github.com" if is_public else f"{origin}/api/v3"
    return GitHub(links, api, _bearer(token), cancel, limits)


def open_gitlab(
    links: WebLinks, token: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> GitLab:
    """Connect to a GitLab."""
    return GitLab(links, f"{origin_of(links.urls[0])}/api/v4", _bearer(token), cancel, limits)


def open_jira(
    links: WebLinks, token: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> Jira:
    """Connect to a Jira: with an e-mail address to the cloud, else by a token alone."""
    headers = basic(links.user, token) or _bearer(token)
    return Jira(links, links.urls[0], headers, cancel, limits)


def open_confluence(
    links: WebLinks, token: str, cancel: threading.Event, limits: PlaceLimits | None = None
) -> Confluence:
    """Connect to a Confluence, as to a Jira."""
    headers = basic(links.user, token) or _bearer(token)
    in_cloud = host_of(links.urls[0]).endswith(_ATLASSIAN) and "/wiki" not in links.urls[0]
    api = f"{links.urls[0]}/wiki" if in_cloud else links.urls[0]
    return Confluence(links, api, headers, cancel, limits)


_ON_GITHUB = "https://github.com/owner/repository"
_ON_GITLAB = "https://gitlab.com/group/project"
_AT_ATLASSIAN = "https://example.atlassian.net"
_TOKEN = marked("Access token")
_OF_ATLASSIAN = marked(
    "For the cloud, the user is your e-mail address, and the token is made in your account, under"
    " Security. For a server of your own, leave the user empty."
)

GITHUB = RemoteKind(
    "github", marked("GitHub issues"),
    partial(_checked, example=_ON_GITHUB, until=(), most=2, least=1), open_github,
    example=_ON_GITHUB, secret=_TOKEN, folders=marked("Repositories"),
    note=marked("The address of a repository, or of its owner for all. Private ones need a token."),
)  # fmt: skip
GITLAB = RemoteKind(
    "gitlab", marked("GitLab issues"),
    partial(_checked, example=_ON_GITLAB, until=("/-/",), least=1), open_gitlab,
    example=_ON_GITLAB, secret=_TOKEN, folders=marked("Projects"),
    note=marked("The address of a project or a group. Private ones need a token (read_api)."),
)  # fmt: skip
JIRA = RemoteKind(
    "jira", marked("Jira issues"),
    partial(_checked, example=_AT_ATLASSIAN, until=("/browse/", "/projects/", "/jira/")), open_jira,
    example=_AT_ATLASSIAN, user=marked("User"), needs_user=False, secret=_TOKEN,
    folders=marked("Projects"), note=_OF_ATLASSIAN,
)  # fmt: skip
CONFLUENCE = RemoteKind(
    "confluence", marked("Confluence pages"),
    partial(_checked, example=_AT_ATLASSIAN, until=("/spaces/", "/display/", "/pages/")),
    open_confluence, example=_AT_ATLASSIAN, user=marked("User"), needs_user=False, secret=_TOKEN,
    folders=marked("Spaces"), note=_OF_ATLASSIAN,
)  # fmt: skip
TRACKERS = (GITHUB, GITLAB, JIRA, CONFLUENCE)
