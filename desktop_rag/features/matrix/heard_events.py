"""What the bot hears of its rooms. Values."""

from dataclasses import dataclass, field

from desktop_rag.features.matrix.heard_message import HeardMessage


@dataclass(frozen=True, slots=True)
class Reaction:
    """A reaction of somebody to a message."""

    room_id: str
    reacts_to: str
    sender: str
    key: str


@dataclass(slots=True)
class Heard:
    """What came since the last time, and the mark to go on from."""

    mark: str
    messages: list[HeardMessage] = field(default_factory=list[HeardMessage])
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    invited_to: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device of somebody, by its fingerprint."""

    user_id: str
    device_id: str
    fingerprint: str
    name: str
