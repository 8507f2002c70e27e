"""Charts of runs: judgements, scores, support by sources, times. Qt thread.

Support by sources has a chart of its own, since it says nothing about the quality of an answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_rag.core.language.translation import decimal_in_words, tr
from desktop_rag.features.evaluation.values.run_summary import RunSummary, summary
from desktop_rag.features.evaluation.values.scoring import RunScores
from desktop_rag.ui.foundation.theme import Theme

_HEIGHT_PX = 190
_GAP_PX = 24
_LEAST_PX = 140
_BAR_PX = 14
_DOT_PX = 5.0
_TITLE_LINES = 1.6
_NAME_SHARE = 0.4
_COLOURS = ("accent", "success", "warning", "danger", "muted", "border_strong")
_MOST_RUNS = len(_COLOURS)
_BACKED = tr("Backed by sources")
# In place of the bar of a run without a model; it fits into the room of one.
_QUOTES = tr("only quotes")


@dataclass(frozen=True, slots=True)
class ChartValues:
    """The figures of the newest runs, and the mean scores of each by tag."""

    runs: tuple[RunSummary, ...]
    by_tag: Mapping[str, tuple[float | None, ...]]

    def in_words(self) -> str:
        """The figures for a screen reader."""
        return "; ".join(map(_run_in_words, self.runs))


def _run_in_words(run: RunSummary) -> str:
    figures = (
        (run.preferred, tr("your judgement")),
        (run.score, tr("score")),
        (run.supported, tr("backed by sources")),
    )
    known = [f"{words} {100 * share:.0f} %" for share, words in figures if share is not None]
    said = [*known, _QUOTES] if _only_quotes(run) else known
    said += [] if run.seconds is None else [f"{decimal_in_words(run.seconds, 1)} s"]
    return f"{run.name}: {', '.join(said)}"


def _only_quotes(run: RunSummary) -> bool:
    """True when sources back its answers by nature, which says nothing."""
    return run.supported is None and run.excerpts > 0


def chart_values(runs: Sequence[RunScores]) -> ChartValues:
    """The values of the charts, of the newest runs. Any thread."""
    newest = runs[-_MOST_RUNS:]
    tags = sorted({t for scores in newest for q in scores.run.questions for t in q.tags})
    return ChartValues(
        tuple(map(summary, newest)),
        {tag: tuple(_mean_of_tag(scores, tag) for scores in newest) for tag in tags},
    )


def _mean_of_tag(scores: RunScores, tag: str) -> float | None:
    ids = [q.question_id for q in scores.run.questions if tag in q.tags]
    found = [s for s in map(scores.best, ids) if s is not None]
    return sum(found) / len(found) if found else None


class _Bar(NamedTuple):
    """A name, a bar of a share, and the share in figures; or words `instead` of both."""

    name: str
    value: float | None
    colour: str
    instead: str = ""


class RunCharts(QWidget):
    """Charts side by side, the most telling first; each run has one colour in all of them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._values = ChartValues((), {})
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_values(self, values: ChartValues) -> None:
        """Draw these."""
        self._values = values
        self.setAccessibleName(tr("Charts"))
        self.setAccessibleDescription(values.in_words())
        self.setVisible(bool(values.runs))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(600, _HEIGHT_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = max(1, (self.width() + _GAP_PX) // (_LEAST_PX + _GAP_PX))
        charts = self._charts()[:room]
        width = (self.width() - (len(charts) - 1) * _GAP_PX) / max(1, len(charts))
        for n, paint in enumerate(charts):
            paint(painter, QRectF(n * (width + _GAP_PX), 0, width, self.height() - 4))
        painter.end()

    def _charts(self) -> list[Callable[[QPainter, QRectF], None]]:
        runs = self._values.runs
        charts: list[Callable[[QPainter, QRectF], None]] = []
        for title, values in (
            (tr("Your judgement"), [run.preferred for run in runs]),
            (tr("Score"), [run.score for run in runs]),
            (_BACKED, [run.supported for run in runs]),
        ):
            quotes = [title == _BACKED and _only_quotes(run) for run in runs]
            if any(quotes) or any(value is not None for value in values):
                bars = [
                    _Bar(run.name, value, _COLOURS[n], _QUOTES if quotes[n] else "")
                    for n, (run, value) in enumerate(zip(runs, values, strict=True))
                ]
                charts.append(partial(self._paint_bars, title, bars))
        if any(run.score is not None for run in runs):
            bars = [
                _Bar(tag if n == 0 else "", value, _COLOURS[n])
                for tag, values in self._values.by_tag.items()
                for n, value in enumerate(values)
            ]
            charts += [partial(self._paint_bars, tr("Score by tag"), bars)] if bars else []
            charts.append(self._paint_times)
        return charts

    def _title(self, painter: QPainter, area: QRectF, title: str) -> QRectF:
        painter.setPen(self._theme.colour("text"))
        painter.drawText(area, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, title)
        return area.adjusted(0, _TITLE_LINES * painter.fontMetrics().height(), 0, 0)

    def _bar(self, painter: QPainter, area: QRectF, shown: _Bar) -> None:
        metrics = painter.fontMetrics()
        names = QRectF(area.left(), area.top(), area.width() * _NAME_SHARE, area.height())
        painter.setPen(self._theme.colour("muted"))
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        elided = metrics.elidedText(shown.name, Qt.TextElideMode.ElideRight, int(names.width()) - 8)
        painter.drawText(names, middle, elided)
        if shown.instead:
            painter.drawText(area.adjusted(names.width(), 0, 0, 0), middle, shown.instead)
            return
        figure = "–" if shown.value is None else f"{100 * shown.value:.0f} %"
        figure_px = metrics.horizontalAdvance("100 %") + 6
        room = area.width() - names.width() - figure_px
        bar = QRectF(names.right(), area.center().y() - _BAR_PX / 2, room, _BAR_PX)
        painter.fillRect(bar, self._theme.colour("sunken"))
        bar.setWidth(room * (shown.value or 0.0))
        painter.fillRect(bar, self._theme.colour(shown.colour))
        figures = QRectF(area.right() - figure_px, area.top(), figure_px, area.height())
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(figures, right, figure)

    def _paint_bars(
        self, title: str, bars: Sequence[_Bar], painter: QPainter, area: QRectF
    ) -> None:
        left = self._title(painter, area, title)
        height = left.height() / _MOST_RUNS
        if len(bars) > _MOST_RUNS:
            height = max(_BAR_PX + 2.0, left.height() / len(bars))
        for n, bar in enumerate(bars):
            row = QRectF(left.left(), left.top() + n * height, left.width(), height)
            if row.bottom() <= left.bottom() + 1:
                self._bar(painter, row, bar)

    def _paint_times(self, painter: QPainter, area: QRectF) -> None:
        left = self._title(painter, area, tr("Score by seconds"))
        plot = left.adjusted(30, 2, -10, -20)
        painter.setPen(self._theme.colour("border_strong"))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.drawLine(plot.bottomLeft(), plot.topLeft())
        placed = [r for r in self._values.runs if r.score is not None and r.seconds is not None]
        longest = max((run.seconds or 0.0 for run in placed), default=0.0) * 1.1 or 1.0
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(QPointF(left.left(), plot.top() + 8), "100")
        painter.drawText(QPointF(left.left() + 12, plot.bottom()), "0")
        below = QRectF(plot.left(), plot.bottom() + 3, plot.width(), 18)
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"{decimal_in_words(longest, 1)} s")
        for n, run in enumerate(self._values.runs):
            if run in placed:
                x = plot.left() + plot.width() * (run.seconds or 0.0) / longest
                y = plot.bottom() - plot.height() * (run.score or 0.0)
                painter.setBrush(self._theme.colour(_COLOURS[n]))
                painter.setPen(self._theme.colour(_COLOURS[n]))
                painter.drawEllipse(QPointF(x, y), _DOT_PX, _DOT_PX)
                metrics = painter.fontMetrics()
                is_right = x > plot.center().x()
                at = x - metrics.horizontalAdvance(run.name) - 9 if is_right else x + 9
                painter.drawText(QPointF(at, y + 4), run.name)
