"""Small files that keep what belongs together."""

from pathlib import Path

from desktop_rag.core.files.own_files import read_object, read_part, update_object


def test_a_part_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    update_object(path, left=10, popup={"width": 1})
    update_object(path, reading={"width": 2})
    update_object(path, left=11)
    assert read_object(path) == {"left": 11, "popup": {"width": 1}, "reading": {"width": 2}}
    assert read_part(path, "reading") == {"width": 2}


def test_what_an_earlier_version_kept_in_a_file_of_its_own_is_found(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    (tmp_path / "popup.json").write_text('{"width": 500, "height": 300}')
    assert read_part(path, "popup") == {"width": 500, "height": 300}
    update_object(path, popup={"width": 400, "height": 300})
    assert read_part(path, "popup")["width"] == 400


def test_what_is_no_object_is_none(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text('{"popup": [1]}')
    assert read_part(path, "popup") == {}
    path.write_text("[")
    update_object(path, popup={"width": 1})
    assert read_part(path, "popup") == {"width": 1}
