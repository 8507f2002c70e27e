import pytest
from PySide6.QtCore import QPoint, QRect, QSize

from desktop_rag.ui.quick_ask.popup import fitting, rounded_region

SIZE = QSize(200, 60)


@pytest.mark.parametrize("corner", [(0, 0), (199, 0), (0, 59), (199, 59)])
def test_the_corners_are_cut_off(corner: tuple[int, int]) -> None:
    region = rounded_region(SIZE, 14)
    assert not region.contains(QPoint(*corner))
    assert region.boundingRect() == QRect(0, 0, 200, 60)
    assert region.contains(QRect(14, 0, 172, 60))
    assert region.contains(QPoint(4, 4))


def test_a_small_screen_makes_it_smaller() -> None:
    assert fitting(QSize(720, 480), QRect(0, 0, 1920, 1080)) == QSize(720, 480)
    assert fitting(QSize(720, 480), QRect(0, 0, 640, 400)) == QSize(608, 300)
