"""What is known of a kind of connection: where it goes, what is sent, how it is switched. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Reach(StrEnum):
    """The farthest place a kind of connection goes to."""

    NETWORK = "over the network"
    COMPUTER = "within this computer"
    NEVER = "never made"


class Place(StrEnum):
    """The place in the window where a kind of connection is switched."""

    MODEL = "Settings, Model"
    HELPER = "Settings, Helper model"
    ANSWERS = "Settings, Answers"
    INDEXING = "Settings, Indexing"
    TRANSCRIPTION = "Settings, Transcription"
    LIBRARY = "Library"
    SERVER = "Settings, Server"
    SHARED_LIBRARY = "Settings, Shared library"
    NOWHERE = ""

    @property
    def section(self) -> str:
        """The heading of the section on the settings page; "" for another page."""
        return self.value.partition(", ")[2]


@dataclass(frozen=True, slots=True)
class ConnectionKind:
    """One kind of connection: `recipient`, what is `sent`, and the `occasion`, in full sentences.

    `switch` says how to turn it off or on, `place` where. `modules` are relative to the package.
    """

    kind_id: str
    name: str
    reach: Reach
    recipient: str
    sent: str
    occasion: str
    switch: str
    place: Place = Place.NOWHERE
    modules: tuple[str, ...] = ()
