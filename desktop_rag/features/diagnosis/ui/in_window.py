"""The diagnosis in the window: its page. Qt thread."""

from typing import TYPE_CHECKING

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.settings.settings_parts import CARE, Part, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from PySide6.QtWidgets import QWidget

    from desktop_rag.features.diagnosis.finding import Finding
    from desktop_rag.window_app import WindowApp

_WORDS = tr("check, diagnosis, doctor, problems, errors, repair, is everything all right")
_SETTINGS = (
    Setting(tr("Check now"), tr("test everything, diagnosis, problems")),
    Setting(tr("Copy report"), tr("support, bug report, send to somebody")),
)


def join(app: "WindowApp") -> None:
    """Add the page, which is imported when it is first shown."""

    def page() -> "QWidget":
        from desktop_rag.features.diagnosis.diagnosis import findings
        from desktop_rag.features.diagnosis.finding import subject_of
        from desktop_rag.features.diagnosis.repair import RepairRequest
        from desktop_rag.features.diagnosis.ui.health_page import HealthPage

        services = app.services

        def diagnose(cancel: "Event") -> "Iterator[Finding]":
            return findings(subject_of(services), cancel)

        return HealthPage(app.bridge, app.theme, diagnose, RepairRequest(services.home))

    app.window.pages.add_settings_part(Part(CARE, tr("Health"), page, _SETTINGS, _WORDS))
