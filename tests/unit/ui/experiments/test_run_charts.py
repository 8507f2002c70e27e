"""Charts compare what can be compared."""

from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.ui.run_charts import RunCharts, chart_values
from desktop_rag.features.evaluation.values.run import Run, RunAnswer, SetQuestion, SetUp
from desktop_rag.features.evaluation.values.scoring import RunScores, scored
from desktop_rag.ui.foundation.theme import Theme

QUESTIONS = (SetQuestion("q", "When?"),)
SOURCE = SourceRef(1, "d", "/a", "A", Anchor(), "At dusk.", 1.0, is_cited=True)
RIGHT = Claim(0, 3, CheckedClaim("Yes.", Verdict.SUPPORTED, 1.0, None, (), ""))


def run(name: str, *, is_excerpts: bool) -> RunScores:
    given = RunAnswer(
        f"a{name}", name, "q", "At dusk.", 0.0, sources=(SOURCE,), claims=(RIGHT,),
        is_excerpts=is_excerpts,
    )  # fmt: skip
    return scored(Run(name, "s", 1, SetUp(name), QUESTIONS, 0.0), [given], ())


def bars(charts: RunCharts, colour: QColor) -> int:
    """How many points of the charts have the colour of a run."""
    image = charts.grab().toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return sum(image.pixelColor(x, y) == colour for x, y in places)


def test_excerpts_get_words_in_place_of_a_bar(theme: Theme, qtbot: QtBot) -> None:
    charts = RunCharts(theme)
    qtbot.addWidget(charts)
    charts.resize(360, 190)
    charts.show_values(chart_values([run("Excerpts", is_excerpts=True)]))
    assert charts.accessibleDescription() == "Excerpts: only quotes, 0.0 s"
    assert bars(charts, theme.colour("accent")) == 0
    charts.show_values(chart_values([run("amber", is_excerpts=False)]))
    assert charts.accessibleDescription() == "amber: backed by sources 100 %, 0.0 s"
    assert bars(charts, theme.colour("accent")) > 1_000
