"""The demo: one click from an empty window to a first answer."""

from tests.stories.conftest import Person


def test_the_demo_library_is_indexed_and_asked(person: Person) -> None:
    person.app.start_demo()
    person.sees("Why are the curtains drawn around the lens by day?")
    person.sees("burning glass")
    person.sees("Volunteer handbook 2026")
    person.sees("page 3")
