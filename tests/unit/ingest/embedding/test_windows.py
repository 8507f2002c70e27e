import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.ingest.embedding.embedding_queue import windows

SENTENCE = "The keeper trims the lamp each night before the last ship has passed the point. "


def test_windows_are_whole_sentences_of_about_sixty_words() -> None:
    text = SENTENCE * 10
    found = windows(text)
    assert [text[start:end].count(".") for start, end in found] == [4, 4, 2]
    assert all(text[start:end].startswith("The keeper") for start, end in found)


def test_a_text_of_one_window_has_none() -> None:
    assert windows(SENTENCE * 3) == []
    assert windows("") == []


def test_scripts_without_spaces_are_cut_by_their_signs() -> None:
    text = "灯塔守护人每天晚上都要修剪灯芯并且擦亮镜片直到最后一艘船驶过海角为止。" * 8
    assert 1 < len(windows(text)) < 8


@pytest.mark.slow
@given(st.text(max_size=800))
def test_windows_lie_in_the_text_in_order(text: str) -> None:
    found = windows(text)
    boundaries = [border for span in found for border in span]
    assert boundaries == sorted(boundaries)
    assert all(text[start:end].strip() for start, end in found)
