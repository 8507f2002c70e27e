"""A window that shows an attached image. Qt thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPixmap
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.conversation import Image
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import vertical

_SCREEN_SHARE = 0.8


class ImageView(QDialog):
    """Shows one image at its full size, scaled down to fit the screen."""

    def __init__(self, name: str, image: Image | None, parent: QWidget) -> None:
        """Without an image, a message says that it is gone."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(one_line(name))
        label = PlainLabel(tr("This image is no longer available.") if image is None else "")
        label.setAccessibleName(one_line(name))
        column = vertical((label, 0, Qt.AlignmentFlag.AlignCenter), on=self)
        if image:
            picture = QPixmap.fromImage(QImage.fromData(image.data))
            max_size = QGuiApplication.primaryScreen().availableSize() * _SCREEN_SHARE
            label.setPixmap(_scaled_down(picture, max_size))
        close = TextButton(tr("Close"), then=self.close)
        column.addWidget(close, alignment=Qt.AlignmentFlag.AlignRight)


def _scaled_down(picture: QPixmap, max_size: QSize) -> QPixmap:
    if picture.width() <= max_size.width() and picture.height() <= max_size.height():
        return picture
    return picture.scaled(
        max_size, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
