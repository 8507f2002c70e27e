"""Chooses the language of the window, the person's choice or the system's, and translates Qt.

It is chosen before the window's modules are imported, so a change shows at the next start.
"""

import json
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from desktop_rag.core.language.translation import use_language

ENGLISH = "en"
_SYSTEM = ""


def languages(folder: Path) -> list[str]:
    """The codes of the languages with translations, English first."""
    return [ENGLISH, *sorted(path.stem for path in folder.glob("*.qm"))]


def language_name(code: str, within: str = "") -> str:
    """What the language calls itself, `Deutsch`, or is called `within` another one."""
    from babel import Locale, localedata  # Qt names a country with some of them

    known = within or code
    names = Locale.parse(known).languages if localedata.exists(known) else {}
    name = names.get(code, code)
    return name[:1].upper() + name[1:]


def choose_language(folder: Path, chosen: str) -> str:
    """Use this language, "" for the system's, English if unknown; returns the one in use."""
    code = _known(chosen, languages(folder))
    if code == ENGLISH:
        use_language(None)
        return code
    translator = QTranslator()
    translator.load(str(folder / f"{code}.qm"))
    use_language(
        lambda text: translator.translate("", text) or "",
        QLocale(code).groupSeparator(),
        _told_texts(folder),
        QLocale(code).decimalPoint(),
    )
    return code


def translate_qt(app: QApplication, code: str) -> None:
    """Apply the language to Qt's own dialogs, dates, numbers and layout direction."""
    QLocale.setDefault(locale_of(code, QLocale.system()))
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{code}", folder):
        QCoreApplication.installTranslator(translator)
    app.setLayoutDirection(QLocale(code).textDirection())


def locale_of(code: str, system: QLocale) -> QLocale:
    """The locale for dates and numbers: the system's, if it is in this language."""
    locale = QLocale(code)
    if locale.language() == system.language():
        return system
    # English days come before their months in most countries.
    there = QLocale(locale.language(), system.territory())
    return there if there.language() == locale.language() else locale


def _told_texts(folder: Path) -> list[str]:
    """The templates of failures, reasons and notices, collected from the code by `make words`."""
    listed = folder / "told.json"
    return json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []


def _known(chosen: str, known: list[str]) -> str:
    wanted = [chosen] if chosen != _SYSTEM else QLocale.system().uiLanguages()
    codes = (name.replace("_", "-").split("-")[0].lower() for name in wanted)
    return next((code for code in codes if code in known), ENGLISH)
