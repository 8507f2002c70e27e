"""People in rooms of Matrix, with programs of their own: nio clients beside the bot.

async with Person(homeserver, "ann", folder) as ann:
    room = await ann.make_room(bot_id, is_encrypted=True)
    asked = await ann.say(room, "When is the lamp lit?", to=bot_id)
    answer = await ann.answer_to(asked)
"""

import asyncio
import logging
import time
from pathlib import Path
from typing import Any, Self

import nio
from nio.api import RelationshipType

from tests.servers.synapse import PASSWORD, Synapse

_LIMIT_S = 90.0
_SYNC_MS = 500


class Person:
    """Somebody with one device. All that they see in rooms is in `seen`, decrypted."""

    def __init__(self, homeserver: Synapse, name: str, folder: Path) -> None:
        self.user_id = f"@{name}:matrix.test"
        (folder / name).mkdir(parents=True, exist_ok=True)
        config = nio.AsyncClientConfig(pickle_key="of the tests", store_sync_tokens=False)
        self.client = nio.AsyncClient(
            homeserver.address, self.user_id, store_path=str(folder / name), config=config
        )
        # It warns of devices before it has fetched their keys.
        logging.getLogger("nio").setLevel(logging.ERROR)
        self.seen: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        answer = await self.client.login(PASSWORD, device_name="of the tests")
        assert isinstance(answer, nio.LoginResponse), answer
        await self.look()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        if self.client.store:
            self.client.store.database.close()

    @property
    def fingerprint(self) -> str:
        assert self.client.olm
        return str(self.client.olm.account.identity_keys["ed25519"])

    async def look(self) -> None:
        """One look at what is new."""
        answer = await self.client.sync(_SYNC_MS, full_state=not self.client.next_batch)
        assert isinstance(answer, nio.SyncResponse), answer
        for info in answer.rooms.join.values():
            for event in info.timeline.events:
                if isinstance(event, nio.Event):
                    self.seen[event.event_id] = event.source
        await self.keep_keys()

    async def read_all(self, room_id: str) -> None:
        """Read the whole room: a look leaves out what is too much at once."""
        begin = self.client.next_batch
        while begin:
            page = await self.client.room_messages(room_id, begin, limit=500)
            assert isinstance(page, nio.RoomMessagesResponse), page
            found = {e.event_id: e.source for e in page.chunk if isinstance(e, nio.Event)}
            # The oldest first, as `answers` needs it.
            self.seen = dict(reversed(found.items())) | self.seen
            begin = page.end if page.chunk else ""

    async def keep_keys(self) -> None:
        if self.client.should_upload_keys:
            await self.client.keys_upload()
        if self.client.should_query_keys:
            await self.client.keys_query()
        if self.client.should_claim_keys:
            await self.client.keys_claim({**self.client.get_users_for_key_claiming()})
        await self.client.send_to_device_messages()

    async def make_room(self, *others: str, is_encrypted: bool = False, **options: Any) -> str:
        """A private room with these people invited."""
        state: list[dict[str, Any]] = list(options.pop("state", []))
        if is_encrypted:
            content = {"algorithm": "m.megolm.v1.aes-sha2"}
            state.append({"type": "m.room.encryption", "state_key": "", "content": content})
        made = await self.client.room_create(
            name="The lighthouse", invite=list(others), initial_state=state, **options
        )
        assert isinstance(made, nio.RoomCreateResponse), made
        while made.room_id not in self.client.rooms:
            await self.look()
        return made.room_id

    async def join(self, room_id: str) -> None:
        assert isinstance(await self.client.join(room_id), nio.JoinResponse)
        while room_id not in self.client.rooms:
            await self.look()

    async def until_joined(self, room_id: str, user_id: str) -> None:
        async with asyncio.timeout(_LIMIT_S):
            room = self.client.rooms[room_id]
            while user_id not in room.users or user_id in room.invited_users:
                await self.look()
            # The homeserver tells of new keys after the join.
            while room.encrypted and not self._knows_devices_of(user_id):
                await self.look()

    def _knows_devices_of(self, user_id: str) -> bool:
        assert self.client.olm
        return any(self.client.olm.device_store.active_user_devices(user_id))

    async def say(self, room_id: str, text: str, *, to: str = "", thread: str = "") -> str:
        """Send a message, which mentions `to`; its id."""
        content: dict[str, Any] = {"msgtype": "m.text", "body": text}
        if to:
            content["m.mentions"] = {"user_ids": [to]}
        if thread:
            content["m.relates_to"] = {
                "rel_type": "m.thread",
                "event_id": thread,
                "is_falling_back": True,
                "m.in_reply_to": {"event_id": thread},
            }
        sent = await self.client.room_send(
            room_id, "m.room.message", content, ignore_unverified_devices=True
        )
        assert isinstance(sent, nio.RoomSendResponse), sent
        return sent.event_id

    async def react(self, room_id: str, event_id: str, key: str) -> None:
        relation = {"rel_type": "m.annotation", "event_id": event_id, "key": key}
        await self.client.room_send(room_id, "m.reaction", {"m.relates_to": relation})

    def said_by(self, user_id: str) -> list[str]:
        """The ids of somebody's messages, without corrections of them."""
        return [
            event_id
            for event_id, source in self.seen.items()
            if source["sender"] == user_id
            and source["type"] == "m.room.message"
            and source["content"].get("m.relates_to", {}).get("rel_type") != "m.replace"
        ]

    def answers(self, asked: str) -> list[dict[str, Any]]:
        """The contents of the answers to a message, each as it was corrected last."""
        found: dict[str, dict[str, Any]] = {}
        for event_id, source in self.seen.items():
            relation = source.get("content", {}).get("m.relates_to", {})
            replied = relation.get("m.in_reply_to", {}).get("event_id")
            if replied == asked and source["sender"] != self.user_id:
                found[event_id] = dict(source["content"], event_id=event_id)
            elif relation.get("rel_type") == "m.replace" and relation["event_id"] in found:
                found[relation["event_id"]] |= source["content"]["m.new_content"]
        return list(found.values())

    async def answer_to(self, asked: str, *, containing: str = "") -> dict[str, Any]:
        """The last answer to a message, once it is there and whole."""
        until = time.monotonic() + _LIMIT_S
        while time.monotonic() < until:
            for answer in self.answers(asked):
                if containing in answer["body"] and not answer["body"].endswith(" …"):
                    return answer
            await self.look()
        raise AssertionError([answer["body"] for answer in self.answers(asked)])

    async def beginning_of_answer_to(self, asked: str) -> str:
        """What there is of an answer that is still written."""
        async with asyncio.timeout(_LIMIT_S):
            while not self.answers(asked):
                await self.look()
        return str(self.answers(asked)[0]["body"])

    async def reaction_to(self, event_id: str) -> str:
        async with asyncio.timeout(_LIMIT_S):
            while True:
                for source in self.seen.values():
                    relation = source.get("content", {}).get("m.relates_to", {})
                    is_one = relation.get("rel_type") == "m.annotation"
                    if is_one and relation["event_id"] == event_id:
                        return str(relation["key"])
                await self.look()

    async def edits_of(self, room_id: str, event_id: str) -> int:
        edits = self.client.room_get_event_relations(
            room_id, event_id, RelationshipType.replacement, limit=100
        )
        return len([event async for event in edits])
