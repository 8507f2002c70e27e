"""The demo: one click from an empty window to a first answer."""

from tests.stories.conftest import Person


def test_the_demo_library_is_indexed_and_asked(person: Person) -> None:
    person.app.start_demo()
    person.sees("Why are the curtains drawn around the lens by day?")
    person.sees("burning glass")
    person.sees("Volunteer handbook 2026")
    person.sees("page 3")


def test_the_chat_of_the_demo_is_opened_again(person: Person) -> None:
    history = person.app.services.chat.history
    person.app.start_demo()
    person.sees("burning glass")
    person.waits_until(lambda: len(history.messages(history.all()[0].conversation_id)) == 2)
    person.clicks("New chat")
    person.sees_no_longer("burning glass")
    person.app.start_demo()
    person.sees("burning glass")
    assert len(history.all()) == 1
