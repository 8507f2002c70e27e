"""What the app said to be stored of chats, and the difference to what is there. Pure.

A message counts as acknowledged once the app said so. Of a question that was under way when the
process was killed, the question, a part of the answer or nothing may be there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Stored = Mapping[str, Sequence[Sequence[str]]]


@dataclass
class ChatRecord:
    """The messages of each chat, (id, text), in the order they were acknowledged."""

    chats: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)
    """Chats, "" for a new one, that a question was on its way to when the process ended."""
    removed: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """The number of acknowledged messages."""
        return sum(map(len, self.chats.values()))

    def acknowledge(self, chat: str, message_id: str, text: str) -> None:
        """The app said that this message is stored."""
        self.chats.setdefault(chat, []).append((message_id, text))

    def note(self, said: Sequence[Mapping[str, str]], chat: str) -> None:
        """Take in all that the app said of a question to a chat, "" for a new one."""
        for line in said:
            if "stored" in line:
                chat = line["chat"]
                self.acknowledge(chat, line["stored"], line["text"])
        if not any("result" in line for line in said):
            self.doubtful.add(chat)

    def remove(self, chat: str) -> None:
        """The app said that the chat is deleted."""
        del self.chats[chat]
        self.removed.add(chat)

    def differences(self, stored: Stored) -> list[str]:
        """A line for each acknowledged message that is missing, changed or at another place, and
        for each that nobody asked for; then the record is made equal to what is stored.
        """
        found = {chat: [(m[0], m[1]) for m in messages] for chat, messages in stored.items()}
        lines = [f"the deleted chat {chat} is there" for chat in self.removed & found.keys()]
        for chat, messages in self.chats.items():
            if chat not in found:
                lines.append(f"the chat {chat} with {len(messages)} messages is missing")
                continue
            kept = [message for message in found[chat] if message in messages]
            if kept != messages:
                lost = [message for message in messages if message not in kept]
                lines.append(f"the chat {chat} lacks {lost or 'the order of its messages'}")
            if len(found[chat]) > len(kept) and chat not in self.doubtful:
                lines.append(f"the chat {chat} has more than was said: {found[chat][-2:]}")
        new = found.keys() - self.chats.keys() - self.removed
        if new and "" not in self.doubtful:
            lines.append(f"chats that nobody began: {sorted(new)}")
        self.chats, self.doubtful = {c: m for c, m in found.items() if c not in self.removed}, set()
        return lines
