"""What a person asks, with what they chose beside it. A frozen value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """The words, and the collection to ask; "" means all documents."""

    text: str
    collection_id: str = ""
