"""What tests of the window share: a dressed application and a bridge. Both are real."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.bridge import Bridge
from desktop_rag.ui.theme import Theme


@pytest.fixture(autouse=True)
def closed_widgets_are_deleted(qapp: QApplication) -> Iterator[None]:
    """At once, with what they hold of a store, and not when the next event loop runs."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme on the running application."""
    theme = Theme(qapp, resources_dir(), "light")
    yield theme
    theme.setParent(None)
    theme.deleteLater()


@pytest.fixture
def bridge(qapp: QApplication) -> Iterator[Bridge]:
    """A bridge whose threads have ended when the test has."""
    bridge = Bridge()
    yield bridge
    bridge.close()
