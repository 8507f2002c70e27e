"""A stand-in for GitHub, GitLab, Jira and Confluence, written from their documented APIs.

    with TrackerServer("github") as tracker:
        tracker.write("boats", 1, "Sails tear", "They are old.")
        tracker.url

It serves over HTTP on loopback; the real services were not asked. `issues` may be changed at any
time. `asked` holds the requests as (method, target), `faults` answers in place of the server, by
the beginning of a target.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

Fault = Callable[["Handler"], bool]
TOKEN = "secret"
_MAY_READ = "restrictions"


@dataclass
class TrackedIssue:
    """An issue, or a page of a wiki."""

    title: str
    text: str
    version: int
    labels: tuple[str, ...] = ()
    state: str = "open"
    comments: list[str] = field(default_factory=list[str])
    readers: tuple[str, ...] = ()

    @property
    def changed(self) -> str:
        return f"2024-05-{1 + self.version // 86_400:02}T10:{self.version % 60:02}:00Z"


@dataclass
class TrackerServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`; `most` is how many issues a page holds."""

    kind: str
    most: int = 100
    issues: dict[tuple[str, int], TrackedIssue] = field(
        default_factory=dict[tuple[str, int], TrackedIssue]
    )
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    sent_bytes: int = 0

    def __post_init__(self) -> None:
        super().__init__(Handler)
        self.lock = threading.RLock()
        self._version = 0

    @property
    def url(self) -> str:
        owner = "/harbour" if self.kind in ("github", "gitlab") else ""
        return f"http://127.0.0.1:{self.port}{owner}"

    def write(self, project: str, number: int, title: str, text: str, **more: Any) -> TrackedIssue:
        with self.lock:
            self._version += 1
            self.issues[project, number] = TrackedIssue(title, text, self._version, **more)
            return self.issues[project, number]

    def comment(self, project: str, number: int, text: str) -> None:
        with self.lock:
            self._version += 1
            issue = self.issues[project, number]
            issue.comments.append(text)
            issue.version = self._version

    def of(self, project: str) -> list[tuple[int, TrackedIssue]]:
        return sorted((n, issue) for (p, n), issue in self.issues.items() if p == project)

    @property
    def projects(self) -> list[str]:
        return sorted({project for project, _ in self.issues})


class Handler(LoopbackHandler):
    """Answers requests; a fault of the server may take over."""

    @property
    def tracker(self) -> TrackerServer:
        assert isinstance(self.owner, TrackerServer)
        return self.owner

    def do_GET(self) -> None:  # noqa: N802
        self.tracker.asked.append((self.command, self.path))
        for beginning, fault in list(self.tracker.faults.items()):
            if self.path.startswith(beginning) and fault(self):
                return
        if self.headers.get("Authorization") not in (f"Bearer {TOKEN}", "Basic YW5uOnNlY3JldA=="):
            self.answer(401)
            return
        place = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        with self.tracker.lock:
            answer = getattr(self, f"_{self.tracker.kind}")(place.path, query)
        if answer is None:
            self.answer(404)
        else:
            self.answer(200, json.dumps(answer).encode())

    def answer(self, status: int, body: bytes = b"", headers: Any = None) -> bool:
        etag = f'W/"{hash(body)}"'
        if status == 200 and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        self.tracker.sent_bytes += len(body)
        self.send_response(status)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return True

    def _page(self, rows: list[Any], query: dict[str, str]) -> list[Any]:
        most = min(self.tracker.most, int(query.get("per_page", "30")))
        first = (int(query.get("page", "1")) - 1) * most
        return rows[first : first + most]

    def _github(self, path: str, query: dict[str, str]) -> object:
        match path.removeprefix("/api/v3/").split("/"):
            case ["users", "harbour", "repos"]:
                found = [{"name": p, "full_name": f"harbour/{p}"} for p in self.tracker.projects]
                return self._page(found, query)
            case ["repos", "harbour", project, "issues"]:
                every = [self._github_issue(project, n, i) for n, i in self.tracker.of(project)]
                return self._page(every, query)
            case ["repos", "harbour", project, "issues", number, *more]:
                issue = self.tracker.issues.get((project, int(number)))
                if issue is None:
                    return None
                if not more:
                    return self._github_issue(project, int(number), issue)
                said = [
                    {"user": {"login": "bob"}, "created_at": issue.changed, "body": text}
                    for text in issue.comments
                ]
                return self._page(said, query)
            case _:
                pass
        return None

    def _github_issue(self, project: str, number: int, issue: TrackedIssue) -> object:
        return {
            "id": int(f"{sum(project.encode())}{number:04}"), "number": number,
            "title": issue.title, "state": issue.state, "body": issue.text,
            "labels": [{"name": label} for label in issue.labels], "user": {"login": "ann"},
            "created_at": "2024-05-01T10:00:00Z", "updated_at": issue.changed,
            "html_url": f"https://github.example/harbour/{project}/issues/{number}",
        }  # fmt: skip

    def _gitlab(self, path: str, query: dict[str, str]) -> object:
        pieces = [unquote(piece) for piece in path.removeprefix("/api/v4/").split("/")]
        ids = {f"{sum(p.encode())}": p for p in self.tracker.projects}
        match pieces:
            case ["groups", "harbour", "projects"]:
                found = [
                    {"id": int(key), "path_with_namespace": f"harbour/{p}"}
                    for key, p in ids.items()
                ]
                return self._page(found, query)
            case ["projects", key, "issues", *more] if key in ids:
                rows = self.tracker.of(ids[key])
                if not more:
                    return self._page([self._gitlab_issue(ids[key], n, i) for n, i in rows], query)
                issue = dict(rows).get(int(more[0]))
                if issue is None:
                    return None
                if len(more) == 1:
                    return self._gitlab_issue(ids[key], int(more[0]), issue)
                said = [
                    {"author": {"name": "Bob"}, "created_at": issue.changed, "body": text,
                     "system": False}
                    for text in issue.comments
                ]  # fmt: skip
                moved = {"body": "changed the label", "system": True, "created_at": issue.changed}
                return self._page([moved, *said], query)
            case _:
                pass
        return None

    def _gitlab_issue(self, project: str, number: int, issue: TrackedIssue) -> object:
        return {
            "id": int(f"{sum(project.encode())}{number:04}"), "iid": number,
            "title": issue.title, "state": issue.state, "description": issue.text,
            "labels": list(issue.labels), "author": {"name": "Ann"},
            "created_at": "2024-05-01T10:00:00Z", "updated_at": issue.changed,
            "web_url": f"https://gitlab.example/harbour/{project}/-/issues/{number}",
        }  # fmt: skip

    def _jira(self, path: str, query: dict[str, str]) -> object:
        match path.removeprefix("/rest/api/2/").split("/"):
            case ["project"]:
                return [{"key": p.upper()} for p in self.tracker.projects]
            case ["search"]:
                project = query["jql"].split('"')[1].lower()
                rows, begun = self.tracker.of(project), int(query["startAt"])
                found = [self._jira_issue(project, n, i) for n, i in rows]
                shown = found[begun : begun + min(self.tracker.most, int(query["maxResults"]))]
                return {"startAt": begun, "total": len(found), "issues": shown}
            case ["issue", key]:
                project, _, number = key.lower().partition("-")
                issue = self.tracker.issues.get((project, int(number)))
                return issue and self._jira_issue(project, int(number), issue)
            case _:
                pass
        return None

    def _jira_issue(self, project: str, number: int, issue: TrackedIssue) -> object:
        changed = issue.changed.replace("Z", ".000+0000")
        said = [
            {"author": {"displayName": "Bob"}, "created": changed, "body": text}
            for text in issue.comments
        ]
        fields = {
            "summary": issue.title, "description": issue.text, "status": {"name": issue.state},
            "labels": list(issue.labels), "reporter": {"displayName": "Ann"}, "updated": changed,
            "created": "2024-05-01T10:00:00.000+0000", "comment": {"comments": said},
        }  # fmt: skip
        key = f"{project.upper()}-{number}"
        return {"id": f"{sum(project.encode())}{number:04}", "key": key, "fields": fields}

    def _confluence(self, path: str, query: dict[str, str]) -> object:
        cql = query.get("cql", "")
        if path == "/rest/api/search":
            return {"results": [{"space": {"key": p.upper()}} for p in self.tracker.projects]}
        if path != "/rest/api/content/search":
            return None
        if cql.startswith("id = "):
            found = [self._page_of(p, n, i) for (p, n), i in self.tracker.issues.items()]
            return {"results": [page for page in found if page["id"] == cql.removeprefix("id = ")]}
        project, begun = cql.split('"')[1].lower(), int(query.get("cursor", "0"))
        rows = [self._page_of(project, n, i) for n, i in self.tracker.of(project)]
        end = begun + min(self.tracker.most, int(query["limit"]))
        following = self.path.partition("&cursor=")[0] + f"&cursor={end}"
        links = {"next": following} if end < len(rows) else {}
        return {"results": rows[begun:end], "_links": links}

    def _page_of(self, project: str, number: int, issue: TrackedIssue) -> dict[str, Any]:
        said = [{"body": {"view": {"value": f"<p>{text}</p>"}}} for text in issue.comments]
        people = [{"displayName": reader} for reader in issue.readers]
        return {
            "id": f"{sum(project.encode())}{number:04}", "title": issue.title,
            "version": {"number": issue.version, "when": issue.changed}, "ancestors": [],
            "body": {"view": {"value": f"<p>{issue.text}</p>"}},
            "metadata": {"labels": {"results": [{"name": label} for label in issue.labels]}},
            "children": {"comment": {"results": said}},
            _MAY_READ: {"read": {_MAY_READ: {
                "user": {"results": people}, "group": {"results": []},
            }}},
        }  # fmt: skip
