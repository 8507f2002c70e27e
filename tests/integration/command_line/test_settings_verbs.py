"""`desktop-rag settings`: every setting is listed and changed by its key."""

from tests.command_line import run, run_json


def test_a_setting_is_found_by_its_words_and_changed() -> None:
    [row] = run_json("settings", "list", "hotkey", "selected")
    assert (row["key"], row["value"]) == ("background.selection_hotkey", "")
    assert run_json("settings", "set", "answers.stores_chats", "off")[0]["value"] is False
    assert "answers.stores_chats = off" in run("settings", "list", "store", "chats").stdout
    [room] = run_json("settings", "set", "retrieval.room", "Thorough")
    assert (room["value"], room["choices"]) == (
        "thorough",
        {"fast": "Fast", "balanced": "Balanced", "thorough": "Thorough"},
    )
    kept = {row["key"]: row["value"] for row in run_json("settings", "list")}
    assert (kept["answers.stores_chats"], kept["retrieval.room"]) == (False, "thorough")


def test_a_wrong_key_or_value_is_named_and_changes_nothing() -> None:
    before = run_json("settings", "list")
    unknown = run("settings", "set", "retrieval.rooms", "fast")
    wrong = [
        run("settings", "set", key, value)
        for key, value in (
            ("retrieval.room", "huge"), ("index.max_file_mb", "0"), ("answers.stores_chats", "x"),
            ("endpoint.price_in", "nan"), ("endpoint.model", "small"),
        )
    ]  # fmt: skip
    assert [done.returncode for done in (unknown, *wrong)] == [1] * 6
    assert "There is no setting “retrieval.rooms”." in unknown.stderr
    assert "one of fast, balanced, thorough" in wrong[0].stderr
    assert "from 1 to 10,000" in wrong[1].stderr
    assert run_json("settings", "list") == before
