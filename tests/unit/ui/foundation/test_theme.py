"""Themes: the same roles in both, readable contrast, style sheets with known roles only."""

import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QProxyStyle,
    QPushButton,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ui.foundation.theme import (
    Scheme,
    Theme,
    load_scheme,
    load_schemes,
    load_style_sheet,
)
from desktop_rag.ui.widgets.controls import PlainLabel

READABLE = 4.5
VISIBLE = 3.0
GROUNDS = ("window", "surface", "sunken", "sidebar")
PAIRS = [
    *((role, ground) for ground in GROUNDS for role in ("text", "muted", "accent", "link")),
    *((role, ground) for ground in GROUNDS for role in ("danger", "warning", "success")),
    ("muted", "rail"),
    ("muted", "hover"),
    ("text", "hover"),
    ("muted", "accent_wash"),
    ("accent_text", "accent"),
    ("accent_text", "accent_hover"),
    ("accent_soft_text", "accent_soft"),
    ("bubble_text", "bubble"),
    ("selection_text", "selection"),
    ("highlight_text", "highlight"),
    ("danger_text", "danger"),
    ("danger_text", "danger_hover"),
    ("danger_soft_text", "danger_soft"),
    ("warning_soft_text", "warning_soft"),
    ("success_soft_text", "success_soft"),
    *((f"code_{kind}", "code_surface") for kind in ("text", "comment", "keyword", "string")),
    *((f"code_{kind}", "code_surface") for kind in ("number", "name", "builtin")),
]


def luminance(colour: str) -> float:
    """Relative luminance as defined by WCAG 2."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(scheme: Scheme, one: str, other: str) -> float:
    dim, bright = sorted((luminance(scheme.roles[one]), luminance(scheme.roles[other])))
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("position", [0, 1], ids=["light", "dark"])
def test_role_pairs_are_readable(position: int) -> None:
    scheme = load_schemes(resources_dir() / "themes")[position]
    poor = {pair: round(contrast(scheme, *pair), 2) for pair in PAIRS}
    assert {pair: value for pair, value in poor.items() if value < READABLE} == {}


@pytest.mark.parametrize("position", [0, 1], ids=["light", "dark"])
def test_the_focused_frame_is_visible(position: int) -> None:
    scheme = load_schemes(resources_dir() / "themes")[position]
    assert min(contrast(scheme, "accent", ground) for ground in GROUNDS) >= VISIBLE


def test_style_sheets_name_only_known_roles(theme: Theme) -> None:
    sheet = load_style_sheet(resources_dir() / "qss")
    extra = {"images", "font_small", "font_body", "font_reading", "font_heading", "font_title"}
    assert set(sheet.get_identifiers()) <= theme.colours.keys() | extra


def test_style_sheets_hold_no_colour_of_their_own() -> None:
    sheets = "\n".join(f.read_text("utf-8") for f in (resources_dir() / "qss").glob("*.qss"))
    assert re.findall(r":[^;{}]*#[0-9a-fA-F]{3,8}\b[^{}]*;", sheets) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_indicator_images_have_the_colours_of_their_theme(scheme: str) -> None:
    roles = load_scheme(resources_dir() / "themes" / f"{scheme}.toml").roles
    expected = {"down": "muted", "up": "muted", "tick": "accent_text", "dot": "accent_text"}
    for name, role in expected.items():
        svg = (resources_dir() / "qss" / scheme / f"{name}.svg").read_text("utf-8")
        assert set(re.findall("#[0-9a-f]{6}", svg)) == {roles[role]}, name


def write_theme(folder: Path, name: str, roles: str) -> None:
    text = f'[theme]\nname = "X"\nis_dark = false\n[colours]\nred = "#aa0000"\n[roles]\n{roles}\n'
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def test_a_role_without_a_colour_is_an_error(tmp_path: Path) -> None:
    write_theme(tmp_path, "light", 'text = "blue"')
    with pytest.raises(ValueError, match="text names an unknown colour: blue"):
        load_scheme(tmp_path / "light.toml")


def test_an_invalid_colour_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        '[theme]\nname = "X"\nis_dark = false\n[colours]\na = "red"\n[roles]\ntext = "a"\n', "utf-8"
    )
    with pytest.raises(ValueError, match="a is not a colour: red"):
        load_scheme(tmp_path / "x.toml")


def test_a_role_only_one_theme_has_is_an_error(tmp_path: Path) -> None:
    write_theme(tmp_path, "light", 'text = "red"')
    write_theme(tmp_path, "dark", 'text = "red"\nmuted = "red"')
    with pytest.raises(ValueError, match="muted"):
        load_schemes(tmp_path)


def test_a_style_sheet_with_an_unknown_token_is_an_error(
    qapp: QApplication, tmp_path: Path
) -> None:
    resources = resources_dir()
    for folder in ("themes", "icons"):
        (tmp_path / folder).symlink_to(resources / folder)
    (tmp_path / "qss").mkdir()
    (tmp_path / "qss" / "x.qss").write_text("QWidget { color: $nowhere; }", encoding="utf-8")
    with pytest.raises(KeyError, match="nowhere"):
        Theme(qapp, tmp_path)


def test_switching_changes_palette_and_icons_and_emits_changed(theme: Theme, qtbot: QtBot) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    theme.set_icon(button, "send:text")
    before = button.icon().cacheKey()
    with qtbot.waitSignal(theme.changed):
        theme.apply(AppearanceSettings(ColourScheme.DARK))
    assert theme.is_dark
    assert QApplication.palette().color(QPalette.ColorRole.Window) == theme.colour("window")
    assert button.icon().cacheKey() != before
    theme.apply(AppearanceSettings(ColourScheme.LIGHT))
    assert theme.colour("window") == QColor(theme.colours["window"])
    assert not theme.is_dark


def test_applying_the_same_scheme_again_does_nothing(theme: Theme, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(theme.changed):
        theme.apply(AppearanceSettings(ColourScheme.LIGHT))


def test_icons_are_drawn_in_the_colour_of_their_role(theme: Theme) -> None:
    image = theme.icon("stop:danger").pixmap(48, 48).toImage()
    assert image.pixelColor(24, 24) == theme.colour("danger")


def test_an_unknown_icon_is_an_error(theme: Theme) -> None:
    with pytest.raises(KeyError):
        theme.icon("no-such-shape")


def test_text_grows_everywhere_and_back(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    title = PlainLabel("Ask", scale="title")
    qtbot.addWidget(title)
    title.show()
    usual = (qapp.font().pointSizeF(), title.font().pointSizeF())
    theme.apply(AppearanceSettings(ColourScheme.LIGHT, 149))
    assert qapp.font().pointSizeF() == pytest.approx(usual[0] * 1.5)
    assert title.font().pointSizeF() == pytest.approx(usual[1] * 1.5, rel=0.01)
    theme.apply(AppearanceSettings(ColourScheme.LIGHT))
    assert (qapp.font().pointSizeF(), title.font().pointSizeF()) == usual


def test_an_icon_of_a_deleted_button_is_forgotten(theme: Theme, qtbot: QtBot) -> None:
    button = QPushButton()
    theme.set_icon(button, "send")
    with qtbot.waitSignal(button.destroyed):
        button.deleteLater()
    theme.apply(AppearanceSettings(ColourScheme.DARK))
    assert theme.is_dark


class _WithIcons(QProxyStyle):
    """The style of a desktop whose buttons in dialogs have icons."""

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returnData: QStyleHintReturn | None = None,  # noqa: N803  the name of Qt
    ) -> int:
        has_icons = hint is QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons
        return 1 if has_icons else super().styleHint(hint, option, widget, returnData)


def test_buttons_of_questions_have_words_only(theme: Theme, qtbot: QtBot) -> None:
    assert theme
    box, style = QDialogButtonBox(), _WithIcons()
    qtbot.addWidget(box)
    box.setStyle(style)
    assert box.addButton(QDialogButtonBox.StandardButton.Cancel).icon().isNull()
