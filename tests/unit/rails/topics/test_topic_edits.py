"""Edits of topics: each step is undone and done again, and what is unsaved is known."""

from desktop_rag.features.rails.topics.rail_topic import RailTopic, TopicEdits

_A, _B, _C = (RailTopic(name) for name in "abc")


def _names(edits: TopicEdits) -> str:
    return "".join(topic.name for topic in edits.topics)


def test_steps_are_undone_and_done_again() -> None:
    edits = TopicEdits((_A, _B), (_A, _B))
    changed = edits.added(_C).moved(2, 0).removed(1)
    assert _names(changed) == "cb"
    assert changed.is_changed
    back = changed.undone().undone()
    assert _names(back) == "abc"
    assert _names(back.redone().redone().redone()) == "cb"
    assert not back.undone().is_changed
    assert edits.undone() == edits.redone() == edits.moved(0, -1) == edits.moved(1, 2) == edits


def test_letters_typed_into_one_field_are_one_step() -> None:
    edits = TopicEdits((_A,), (_A,))
    typed = edits.put(0, RailTopic("x"), "name 0").put(0, RailTopic("xy"), "name 0")
    other = typed.put(0, RailTopic("xy", ("E",)), "examples 0")
    assert _names(other.undone()) == "xy"
    assert _names(other.undone().undone()) == "a"
    # After a save, what is typed is a step of its own.
    saved = typed.kept(typed.topics).put(0, RailTopic("xyz"), "name 0")
    assert _names(saved.undone()) == "xy"
    assert saved.is_changed
    assert not saved.undone().is_changed
