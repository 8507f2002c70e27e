"""Evaluation in the window: the page of the person's own questions. Qt thread."""

from typing import TYPE_CHECKING

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.settings.settings_parts import ADVANCED, Part, Setting

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.window_app import WindowApp

_WORDS = tr("My questions, experiments, evaluation, benchmark, which model is better, test")
_SETTINGS = (
    Setting(tr("Answers"), tr("question set, judge, run, two models, compare answers")),
    Setting(tr("Chunks"), tr("passages, chunk size, overlap, tokens, splitting, compare chunks")),
)


def join(app: "WindowApp") -> None:
    """Add the page, which is imported when it is first shown."""

    def page() -> "QWidget":
        from desktop_rag.features.evaluation.services import EvaluationServices
        from desktop_rag.features.evaluation.ui.experiment_actions import ExperimentActions
        from desktop_rag.features.evaluation.ui.experiments_page import ExperimentsPage
        from desktop_rag.ui.widgets.scrolled_page import scrolling

        services = app.services
        experiments = services.wing(EvaluationServices).experiments
        actions = ExperimentActions(
            app.bridge, experiments, services.library, services.chat, app.theme, app.window
        )
        actions.endpoint_requested.connect(app.window.settings_page.add_endpoint)
        # In a small window it is scrolled, so that the table of answers keeps its height.
        return scrolling(ExperimentsPage(app.bridge, actions, app.theme))

    part = Part(ADVANCED, tr("Compare models"), page, _SETTINGS, _WORDS)
    app.window.pages.add_settings_part(part)
    app.window.pages.comparison = part.name
