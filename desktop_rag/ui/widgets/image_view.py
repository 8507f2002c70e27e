"""An attached image, looked at. Qt thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPixmap
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from desktop_rag.core.attachment import Image
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel

_SCREEN_SHARE = 0.8


class ImageView(QDialog):
    """A window of its own, as large as the image is, within the screen."""

    def __init__(self, name: str, image: Image | None, parent: QWidget) -> None:
        """Without an image it says that there is none any more."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(one_line(name))
        label = PlainLabel("The image is no longer kept." if image is None else "")
        label.setAccessibleName(one_line(name))
        column = QVBoxLayout(self)
        column.addWidget(label, alignment=Qt.AlignmentFlag.AlignCenter)
        if image:
            picture = QPixmap.fromImage(QImage.fromData(image.data))
            most = QGuiApplication.primaryScreen().availableSize() * _SCREEN_SHARE
            label.setPixmap(_within(picture, most))


def _within(picture: QPixmap, most: QSize) -> QPixmap:
    if picture.width() <= most.width() and picture.height() <= most.height():
        return picture
    return picture.scaled(
        most, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
