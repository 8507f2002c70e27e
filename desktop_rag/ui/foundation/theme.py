"""The only reader of themes, style sheets and icons. Qt thread only.

`resources/themes/*.toml` name raw colours and the roles that point to them; `resources/qss/*.qss`
are templates over the roles; `resources/icons/*.svg` are strokes in `currentColor`. All files are
read once at start, so that switching themes reads none. A missing one is an error at start.
"""

import re
import tomllib
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QApplication
from shiboken6 import isValid

from desktop_rag.core.settings import AppearanceSettings, ColourScheme, nearest_text_size

_ICON_SIZES_PX = (16, 18, 22, 28, 32, 36, 40, 44, 56, 80)
_FONT_SCALES = {"small": 0.9, "body": 1.0, "reading": 1.06, "heading": 1.2, "title": 1.6}
_PALETTE = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "danger",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.ToolTipBase: "surface",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "selection_text",
    QPalette.ColorRole.Link: "link",
    QPalette.ColorRole.LinkVisited: "link",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border_strong",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


@dataclass(frozen=True, slots=True)
class Scheme:
    """The colours of one theme file. `roles` maps each role to a value such as `#4754c9`."""

    name: str
    is_dark: bool
    roles: Mapping[str, str]


def load_scheme(path: Path) -> Scheme:
    """Read a theme file. Raises ValueError when a role names an unknown colour."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    colours: dict[str, str] = table["colours"]
    roles: dict[str, str] = {}
    for role, colour in table["roles"].items():
        if colour not in colours:
            raise ValueError(f"{path.name}: role {role} names an unknown colour: {colour}")
        if not re.fullmatch("#[0-9a-f]{6}", colours[colour]):
            raise ValueError(f"{path.name}: {colour} is not a colour: {colours[colour]}")
        roles[role] = colours[colour]
    return Scheme(table["theme"]["name"], table["theme"]["is_dark"], roles)


def load_schemes(folder: Path) -> tuple[Scheme, Scheme]:
    """The light and dark schemes. Raises ValueError unless both define the same roles."""
    light, dark = load_scheme(folder / "light.toml"), load_scheme(folder / "dark.toml")
    if odd := light.roles.keys() ^ dark.roles.keys():
        raise ValueError(f"Only one of the themes defines {', '.join(sorted(odd))}")
    return light, dark


def load_style_sheet(folder: Path) -> Template:
    """All style sheet templates in the folder, joined in order of name."""
    return Template("\n".join(f.read_text(encoding="utf-8") for f in sorted(folder.glob("*.qss"))))


class Theme(QObject):
    """Applies a colour scheme to the whole application and provides colours and icons.

    Widgets that paint or render colours themselves repaint on `changed`.
    """

    changed = Signal()

    def __init__(
        self, app: QApplication, resources: Path, appearance: AppearanceSettings | None = None
    ) -> None:
        super().__init__(app)
        self._app = app
        self._light, self._dark = load_schemes(resources / "themes")
        self._style_sheets = resources / "qss"
        self._style_sheet = load_style_sheet(self._style_sheets)
        self._shapes = {
            f.stem: f.read_text(encoding="utf-8") for f in (resources / "icons").glob("*.svg")
        }
        self._icons: dict[str, QIcon] = {}
        self._icon_users: weakref.WeakKeyDictionary[QAbstractButton | QAction, str]
        self._icon_users = weakref.WeakKeyDictionary()
        self._font_size_pt = app.font().pointSizeF()
        self._appearance = appearance or AppearanceSettings()
        self._scheme: Scheme | None = None
        self._text_percent = 100
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)
        self.apply(self._appearance)

    @property
    def is_dark(self) -> bool:
        """True while the dark scheme is in use."""
        return self._current.is_dark

    @property
    def colours(self) -> Mapping[str, str]:
        """Every role with its current value, such as `#4754c9`."""
        return self._current.roles

    def colour(self, role: str) -> QColor:
        """The current colour of a role. Raises KeyError for an unknown role."""
        return QColor(self.colours[role])

    def apply(self, appearance: AppearanceSettings) -> None:
        """Use these colours and this size of text."""
        self._appearance = appearance
        asked = {
            ColourScheme.SYSTEM: Qt.ColorScheme.Unknown,
            ColourScheme.LIGHT: Qt.ColorScheme.Light,
            ColourScheme.DARK: Qt.ColorScheme.Dark,
        }
        self._app.styleHints().setColorScheme(asked[appearance.scheme])
        self._restyle()

    def icon(self, spec: str) -> QIcon:
        """The icon for `shape:role`, such as `send:accent_text`; the role defaults to `text`.

        It keeps its current colours; use `set_icon` for an icon that follows the theme.
        """
        if spec not in self._icons:
            shape, _, role = spec.partition(":")
            self._icons[spec] = self._draw(shape, self.colours[role or "text"])
        return self._icons[spec]

    def set_icon(self, target: QAbstractButton | QAction, spec: str) -> None:
        """Give a button or action an icon that follows the theme, replacing any earlier one."""
        self._icon_users[target] = spec
        target.setIcon(self.icon(spec))

    @property
    def _current(self) -> Scheme:
        return self._scheme or self._light

    @Slot()
    def _on_system_scheme_changed(self) -> None:
        if self._appearance.scheme is ColourScheme.SYSTEM:
            self._restyle()

    def _restyle(self) -> None:
        chosen = self._dark if self._is_dark_wanted() else self._light
        text_percent = nearest_text_size(self._appearance.text_percent)
        if chosen is self._scheme and text_percent == self._text_percent:
            return
        self._scheme, self._text_percent = chosen, text_percent
        self._icons.clear()
        # Clearing the style sheet first is five times faster than replacing it.
        self._app.setStyleSheet("")
        font = self._app.font()
        font.setPointSizeF(self._text_size_pt)
        self._app.setFont(font)
        self._app.setPalette(self._palette())
        self._app.setStyleSheet(self._style_sheet.substitute(self._tokens()))
        for target, spec in list(self._icon_users.items()):
            if isValid(target):
                target.setIcon(self.icon(spec))
        self.changed.emit()

    def _is_dark_wanted(self) -> bool:
        if self._appearance.scheme is ColourScheme.SYSTEM:
            return self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        return self._appearance.scheme is ColourScheme.DARK

    @property
    def _text_size_pt(self) -> float:
        return self._font_size_pt * self._text_percent / 100

    def _tokens(self) -> dict[str, str]:
        sizes = {f"font_{k}": f"{self._text_size_pt * v:.2f}pt" for k, v in _FONT_SCALES.items()}
        images = self._style_sheets / ("dark" if self.is_dark else "light")
        return {**self.colours, **sizes, "images": images.as_posix()}

    def _palette(self) -> QPalette:
        palette = QPalette()
        for qt_role, role in _PALETTE.items():
            palette.setColor(qt_role, self.colour(role))
        for qt_role in _DISABLED:
            palette.setColor(QPalette.ColorGroup.Disabled, qt_role, self.colour("faint"))
        return palette

    def _draw(self, shape: str, colour: str) -> QIcon:
        icon = QIcon()
        tints = {QIcon.Mode.Normal: colour, QIcon.Mode.Disabled: self.colours["faint"]}
        for mode, tint in tints.items():
            svg = self._shapes[shape].replace("currentColor", tint)
            renderer = QSvgRenderer(QByteArray(svg.encode()))
            for size_px in _ICON_SIZES_PX:
                icon.addPixmap(_render(renderer, size_px), mode)
        return icon


def _render(renderer: QSvgRenderer, size_px: int) -> QPixmap:
    pixmap = QPixmap(QSize(size_px, size_px))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size_px, size_px))
    painter.end()
    return pixmap
