"""Checks the store, the model, the sandbox, the folders and the endpoint.

Read-only, except that a repair removes passages without a document. Runs on the caller's thread;
part of the composition root, because it looks into every room.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from desktop_rag import app
from desktop_rag.app import Services, embedder_opener
from desktop_rag.core.domain import RepairReport, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.models.endpoints.keys import KeyStore


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, with a hint when it failed."""

    check: str
    is_ok: bool
    title: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The keys of `doctor --json`."""
        return {"check": self.check, "ok": self.is_ok, "title": self.title, "hint": self.hint}


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handler of this verb in the running app."""
    return {"doctor": examined}


def examined(services: app.Services, request: dict[str, Any]) -> list[dict[str, Any]]:
    """The document of `doctor`: one row for each check."""
    findings = examine(
        services, repair=bool(request["repair"]), measures_anew=bool(request["examine"])
    )
    return [finding.to_json() for finding in findings]


def examine(
    services: Services, *, repair: bool = False, measures_anew: bool = False
) -> list[Finding]:
    """All checks in order; with `repair` orphaned passages are removed first.

    The chat model is examined when it never was, or with `measures_anew`.
    """
    return [
        _check_settings(services),
        _check_store(services, repair=repair),
        _checked("model", lambda: _check_model(services.settings)),
        _check_sandbox(services),
        *_check_folders(services),
        _check_endpoint(services),
        *_check_examination(services, anew=measures_anew),
    ]


def _check_settings(services: Services) -> Finding:
    for notice in services.settings_notices:
        return Finding("settings", False, notice.title, notice.hint)
    return Finding("settings", True, "The settings were read.")


def repaired(report: RepairReport) -> Finding:
    """The row of `doctor --repair` for a damaged library."""
    hint = f"The damaged one was kept as {report.kept}. "
    hint += (
        "Its index was kept too."
        if report.has_index
        else "Your folders are read again when the app runs."
    )
    if report.lost_rows:
        hint += f" {report.lost_rows:,} rows were unreadable; the journal beside it restores them."
    return Finding("repair", True, "The library was repaired.", hint)


def _check_store(services: Services, *, repair: bool) -> Finding:
    services.verify()
    found = services.library.documents.check(repair=repair)
    if found.orphans:
        return Finding("store", False, f"{found.orphans:,} passages belong to no document.",
                       "Run: desktop-rag doctor --repair")  # fmt: skip
    if found.inconsistent:
        title = f"{found.inconsistent:,} documents do not agree with their passages."
        return Finding("store", False, title,
                       "Remove their folders from the library and add them again.")  # fmt: skip
    title = "Documents and passages agree."
    if found.removed:
        title += f" {found.removed:,} passages that belonged to no document were removed."
    return Finding("store", True, title)


def _check_model(settings: Settings) -> str:
    return embedder_opener(KeyStore()).check(settings.index.model_folder)


def _check_sandbox(services: Services) -> Finding:
    try:
        report = services.library.sandbox_report()
    except AppError as error:
        return Finding("sandbox", False, error.title, error.hint)
    return Finding("sandbox", report.is_ok, report.title, report.hint)


def _check_folders(services: Services) -> list[Finding]:
    findings: list[Finding] = []
    for source in services.library.sources.all():
        if not source.path.exists() or source.state is SourceState.OFFLINE:
            findings.append(
                Finding("folder", False, f"{source.path} cannot be reached.",
                        "Its documents stay searchable; connect the drive, or remove the folder.")
            )  # fmt: skip
            continue
        counts = services.library.documents.counts(source.source_id)
        findings.append(Finding("folder", True, f"{source.path}: {counts.total:,} files."))
    return findings or [Finding("folder", True, "No folders have been added yet.")]


def _check_endpoint(services: Services) -> Finding:
    endpoint = services.chat.models.endpoint
    if not endpoint.is_set:
        return Finding("endpoint", True, "No endpoint is set: answers are excerpts.")
    report = services.chat.models.test_endpoint(endpoint)
    return Finding("endpoint", report.is_ok, report.title, report.hint)


def _check_examination(services: Services, *, anew: bool) -> list[Finding]:
    """The profile of the chat model, examined now if it never was, or `anew`."""
    models, endpoint = services.chat.models, services.chat.models.endpoint
    if not endpoint.is_set:
        return []
    try:
        profile = models.profile(endpoint)
        if anew or not profile.is_examined:
            profile = models.examine(endpoint)
    except AppError:
        return []  # the check of the endpoint says why
    return [Finding("chat model", True, " ".join(profile.findings()))]


def _checked(check: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(check, True, look())
    except AppError as error:
        return Finding(check, False, error.title, error.hint)
