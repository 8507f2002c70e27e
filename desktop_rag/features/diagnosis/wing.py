"""The hooks of the diagnosis: checks of everything the app depends on, and repairs."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from desktop_rag.core.library_events import Notice
    from desktop_rag.core.paths import Home
    from desktop_rag.features.diagnosis.finding import Finding
    from desktop_rag.features.diagnosis.ui.health_page import HealthPage
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """The verb that checks and repairs."""
    text = "Check everything the app depends on; reads only."
    return Verbs({"doctor": ("cli.doctor:add_doctor", text)})


def repair(home: "Home") -> "list[Notice]":
    """Repair the library if that was requested."""
    if not home.repair_request.exists():
        return []
    from desktop_rag.features.diagnosis.repair import repair_if_requested

    return repair_if_requested(home)


def join_window(app: "WindowApp") -> None:
    """The page of findings, which is imported when it is first shown."""
    from desktop_rag.core.language.translation import tr
    from desktop_rag.ui.settings.settings_parts import CARE, Part, Setting

    def page() -> "HealthPage":
        from desktop_rag.features.diagnosis.diagnosis import findings
        from desktop_rag.features.diagnosis.finding import subject_of
        from desktop_rag.features.diagnosis.repair import RepairRequest
        from desktop_rag.features.diagnosis.ui.health_page import HealthPage

        services = app.services

        def diagnose(cancel: "Event") -> "Iterator[Finding]":
            return findings(subject_of(services), cancel)

        return HealthPage(app.bridge, app.theme, diagnose, RepairRequest(services.home))

    words = tr("check, diagnosis, doctor, problems, errors, repair, is everything all right")
    settings = (
        Setting(tr("Check now"), tr("test everything, diagnosis, problems")),
        Setting(tr("Copy report"), tr("support, bug report, send to somebody")),
    )
    app.window.pages.add_settings_part(Part(CARE, tr("Health"), page, settings, words))
