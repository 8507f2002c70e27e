"""The rooms of an account, over matrix-nio with end-to-end encryption. The event loop of the bot.

Sending waits while the homeserver can't be reached, and may be repeated: the same transaction of
the same device is one message.
"""

import asyncio
import hashlib
import json
import logging
import os
import secrets
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import nio
from aiohttp import ClientError
from nio.api import RelationshipType
from nio.crypto import OlmDevice
from nio.store import SqliteMemoryStore, SqliteStore

from desktop_rag.core.errors import AppError
from desktop_rag.core.records import decoded
from desktop_rag.core.waits import Backoff
from desktop_rag.features.matrix.bot_settings import LiveSettings
from desktop_rag.features.matrix.heard_message import (
    Heard,
    HeardMessage,
    KnownDevice,
    Reaction,
    heard,
)
from desktop_rag.models.system_keyring import SystemKeyring

log = logging.getLogger(__name__)

SERVICE = "desktop-rag-matrix"
VARIABLE = "DESKTOP_RAG_MATRIX_SECRETS"


@dataclass(frozen=True, slots=True)
class BotSecrets:
    """The tokens of account and library, the key of the key store, and the signing key (PEM)."""

    access_token: str
    store_key: str
    library_token: str
    signing_key: str

    def __repr__(self) -> str:
        return "BotSecrets()"

    def to_json(self) -> str:
        """All of them as the keyring keeps them."""
        return json.dumps(asdict(self))


def new_store_key() -> str:
    """A key for a new store: it is never a word that somebody could guess."""
    return secrets.token_urlsafe(32)


class SecretKeeper:
    """Keeps the secrets of accounts by Matrix id, in the system's keyring. Any thread."""

    def __init__(self, keyring: SystemKeyring | None = None) -> None:
        self._keyring = keyring or SystemKeyring(SERVICE)

    def get(self, user_id: str) -> BotSecrets:
        """The secrets of an account; those in the environment come first. AppError for none."""
        kept = os.environ.get(VARIABLE, "") or self._keyring.get(user_id)
        try:
            return decoded(BotSecrets, json.loads(kept or "null"))
        except ValueError as exc:
            hint = f"Log in again: desktop-rag matrix login. Without a keyring, set {VARIABLE}."
            raise AppError(f"The secrets of {user_id} are not there.", hint) from exc

    def save(self, user_id: str, given: BotSecrets) -> bool:
        """Keep the secrets; False when there is no keyring that does."""
        return self._keyring.save(user_id, given.to_json())


_WAIT_MS = 30_000
_TYPING_MS = 30_000
_PAGE = 100
# Messages whose key did not come: keys arrive within seconds, or never.
_MOST_LOCKED = 500
_RETRY_S, _LONGEST_S = 5.0, 60.0
_SIGNED_OUT = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_FORBIDDEN", "M_USER_DEACTIVATED")
_SYNC_FILTER = {
    "presence": {"types": []},
    "account_data": {"types": []},
    "room": {
        "timeline": {"limit": _PAGE},
        "ephemeral": {"types": []},
        "account_data": {"types": []},
    },
}


class RoomClient:
    """Reads and writes messages."""

    def __init__(self, settings: LiveSettings, secrets: BotSecrets, store_folder: Path) -> None:
        """Opens the store of encryption keys, encrypted with a key of the keyring."""
        self._settings = settings
        account = settings.now
        self.user_id = account.user_id
        store_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = nio.AsyncClientConfig(
            store=SqliteStore, pickle_key=secrets.store_key, store_sync_tokens=False
        )
        self._client = nio.AsyncClient(
            account.homeserver, account.user_id, account.device_id, str(store_folder), config
        )
        self._client.restore_login(account.user_id, account.device_id, secrets.access_token)
        self._keeping = asyncio.Lock()
        self._locked: dict[str, nio.MegolmEvent] = {}
        self._mark = ""
        self._notices: set[asyncio.Future[Any]] = set()
        # What came while the bot was away is decrypted by the first look.
        self.trust_devices()

    async def close(self) -> None:
        """Close the connections and the store."""
        for notice in self._notices:
            notice.cancel()
        await self._client.close()
        if self._client.store:
            self._client.store.database.close()

    # --- reading ----------------------------------------------------------------------------------

    async def listen(self, mark: str, *, is_first: bool) -> Heard:
        """Wait for what is new since `mark`; the first time at once, with the state of all rooms.

        Without a mark only what comes from now on is heard. AppError when it is signed out.
        """
        backoff = Backoff(_RETRY_S, _LONGEST_S)
        while not isinstance(answer := await self._sync(mark, is_first=is_first), nio.SyncResponse):
            if answer.status_code in _SIGNED_OUT:
                raise failed("The homeserver does not let the bot listen.", answer)
            backoff.begin((answer.retry_after_ms or 0) / 1000)
            await asyncio.sleep(backoff.left_s)
        found = Heard(answer.next_batch, invited_to=list(answer.rooms.invite))
        for room_id, info in answer.rooms.join.items():
            events = list(info.timeline.events) if mark else []
            if mark and info.timeline.limited:
                events = await self._missed(room_id, info.timeline.prev_batch, mark) + events
            self._sort(room_id, events, found)
        self._mark = answer.next_batch
        await self._keep_keys()
        self._unlock(found)
        return found

    async def _sync(self, mark: str, *, is_first: bool) -> nio.SyncResponse | nio.SyncError:
        return await self._client.sync(
            0 if is_first else _WAIT_MS, _SYNC_FILTER, mark or None, full_state=is_first
        )

    async def message(self, room_id: str, event_id: str) -> HeardMessage | None:
        """A message by its id; None when it is gone or can't be read."""
        answer = await self._client.room_get_event(room_id, event_id)
        if not isinstance(answer, nio.RoomGetEventResponse):
            return None
        return self._heard(room_id, answer.event)

    async def thread(self, room_id: str, thread_id: str) -> list[HeardMessage]:
        """The first message of a thread and those below it, the oldest first."""
        first = await self.message(room_id, thread_id)
        related = self._client.room_get_event_relations(
            room_id, thread_id, RelationshipType.thread, limit=_PAGE
        )
        found = [
            await self._newest(room_id, message)
            async for event in related
            if (message := self._heard(room_id, event))
        ]
        return [first, *reversed(found)] if first else list(reversed(found))

    async def before_now(self, room_id: str, most: int, since: float = 0.0) -> list[HeardMessage]:
        """The last messages of a room, and none from before `since`, the oldest first."""
        found: list[HeardMessage] = []
        async for event in self._back(room_id, self._mark):
            message = self._heard(room_id, event)
            if message is None or message.replaces:
                continue
            if message.sent_at < since or len(found) >= most:
                break
            found.append(message)
        return list(reversed(found))

    async def _missed(self, room_id: str, begin: str | None, mark: str) -> list[Any]:
        """What a homeserver left out of the timeline because it was too much."""
        found = [event async for event in self._back(room_id, begin or "", mark)]
        return list(reversed(found))

    async def _back(self, room_id: str, begin: str, end: str | None = None) -> AsyncGenerator[Any]:
        while begin:
            page = await self._client.room_messages(room_id, begin, end, limit=_PAGE)
            if not isinstance(page, nio.RoomMessagesResponse) or not page.chunk:
                return
            for event in page.chunk:
                yield event
            begin = page.end or ""

    async def _newest(self, room_id: str, message: HeardMessage) -> HeardMessage:
        """The message with its last correction; answers grow by corrections."""
        if message.sender != self.user_id:
            return message
        edits = self._client.room_get_event_relations(
            room_id, message.event_id, RelationshipType.replacement, limit=1
        )
        async for event in edits:
            edit = self._heard(room_id, event)
            if edit and edit.sender == message.sender:
                return replace(message, text=edit.text.removeprefix("* "))
            break
        return message

    def _sort(self, room_id: str, events: Iterable[Any], found: Heard) -> None:
        for event in events:
            if isinstance(event, nio.MegolmEvent):
                self._locked[event.event_id] = event
                event.room_id = room_id
                while len(self._locked) > _MOST_LOCKED:
                    self._locked.pop(next(iter(self._locked)))
            elif isinstance(event, nio.ReactionEvent):
                reaction = Reaction(room_id, event.reacts_to, event.sender, event.key)
                found.reactions.append(reaction)
            elif message := self._heard(room_id, event):
                found.messages.append(message)

    def _unlock(self, found: Heard) -> None:
        """Messages whose keys came after them."""
        for event_id, event in list(self._locked.items()):
            if message := self._heard(event.room_id, event):
                del self._locked[event_id]
                found.messages.append(message)

    def _heard(self, room_id: str, event: Any) -> HeardMessage | None:  # noqa: ANN401  of nio
        if isinstance(event, nio.MegolmEvent):
            event.room_id = room_id
            try:
                event = self._client.decrypt_event(event)
            except nio.EncryptionError:
                return None
        if not isinstance(event, nio.Event):
            return None
        message = heard(
            room_id, event.source, is_encrypted=event.decrypted, is_verified=event.verified
        )
        return replace(message, device_id=self._device_of(event)) if message else None

    def _device_of(self, event: nio.Event) -> str:
        if not event.decrypted or self._client.olm is None:
            return ""
        known = self._client.olm.device_store.active_user_devices(event.sender)
        return next((d.id for d in known if d.curve25519 == event.sender_key), "")

    # --- rooms ------------------------------------------------------------------------------------

    @property
    def display_name(self) -> str:
        """The name of the bot in some room, "" when it has none."""
        for room in self._client.rooms.values():
            if own := room.users.get(self.user_id):
                return own.display_name or ""
        return ""

    def joined(self) -> list[str]:
        """The rooms that the bot is in."""
        return list(self._client.rooms)

    def people(self, room_id: str) -> frozenset[str]:
        """Everybody who is in a room or invited to it, but the bot."""
        room = self._client.rooms.get(room_id)
        every = {*room.users, *room.invited_users} if room else set[str]()
        return frozenset(every - {self.user_id})

    def is_public(self, room_id: str) -> bool:
        """True for a room that people who are not in it may read or enter."""
        room = self._client.rooms.get(room_id)
        if room is None:
            return True
        may_enter = room.join_rule not in ("invite", "private")
        return may_enter or room.history_visibility == "world_readable"

    def is_encrypted(self, room_id: str) -> bool:
        """True for a room with encryption."""
        room = self._client.rooms.get(room_id)
        return room is not None and room.encrypted

    def name_of(self, room_id: str, user_id: str) -> str:
        """How a person is called in a room."""
        room = self._client.rooms.get(room_id)
        return (room.user_name(user_id) if room else None) or user_id

    def room_name(self, room_id: str) -> str:
        """The name of a room."""
        room = self._client.rooms.get(room_id)
        return (room.named_room_name() if room else None) or room_id

    async def join(self, room_id: str) -> None:
        """Accept an invitation."""
        answer = await self._client.join(room_id)
        if not isinstance(answer, nio.JoinResponse):
            log.warning("a room could not be joined: %s", type(answer).__name__)

    async def leave(self, room_id: str) -> None:
        """Leave a room, or decline an invitation."""
        await self._client.room_leave(room_id)
        self._client.rooms.pop(room_id, None)
        self._client.invited_rooms.pop(room_id, None)

    # --- writing ----------------------------------------------------------------------------------

    async def send(self, room_id: str, content: Mapping[str, Any], transaction: str) -> str:
        """Send a message; its id, or the earlier one's of this transaction. AppError if refused."""
        return await self._send(room_id, "m.room.message", content, transaction)

    async def react(self, room_id: str, content: Mapping[str, Any], transaction: str) -> None:
        """Send a reaction. It is not encrypted, as nowhere in Matrix."""
        with suppress(AppError):
            await self._send(room_id, "m.reaction", content, transaction)

    def show_typing(self, room_id: str, *, is_typing: bool) -> None:
        """Show that the bot writes, for half a minute, or that it ended. Nobody waits for it."""
        showing = asyncio.ensure_future(self._client.room_typing(room_id, is_typing, _TYPING_MS))
        self._notices.add(showing)
        showing.add_done_callback(self._notices.discard)

    async def _send(
        self, room_id: str, kind: str, content: Mapping[str, Any], transaction: str
    ) -> str:
        await self._keep_keys()
        try:
            answer = await self._client.room_send(
                room_id,
                kind,
                dict(content),
                hashlib.sha256(transaction.encode()).hexdigest(),
                ignore_unverified_devices=not self._settings.now.verified_devices_only,
            )
        except (nio.ProtocolError, nio.EncryptionError) as exc:
            raise AppError("A message can't be sent.", type(exc).__name__) from exc
        if not isinstance(answer, nio.RoomSendResponse):
            raise failed("The homeserver refuses a message.", answer)
        return answer.event_id

    # --- encryption -------------------------------------------------------------------------------

    def devices(self) -> list[KnownDevice]:
        """The devices of the people in the rooms, without the bot's own."""
        if self._client.olm is None:
            return []
        return [
            KnownDevice(each.user_id, each.id, each.ed25519, each.display_name or "")
            for each in self._client.olm.device_store
            if not each.deleted and each.user_id != self.user_id
        ]

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the bot's own device, for people to compare."""
        return str(self._client.olm.account.identity_keys["ed25519"]) if self._client.olm else ""

    async def _keep_keys(self) -> None:
        """Upload keys, and ask for those of others; one at a time."""
        if self._client.olm is not None:
            async with self._keeping:
                await self._exchange_keys(self._client)

    async def _exchange_keys(self, client: nio.AsyncClient) -> None:
        if client.should_upload_keys:
            await client.keys_upload()
        if client.should_query_keys:
            await client.keys_query()
        if client.should_claim_keys:
            await client.keys_claim({**client.get_users_for_key_claiming()})
        await client.send_to_device_messages()
        self.trust_devices()

    def trust_devices(self) -> None:
        """Trust the devices that the settings name, and no others."""
        for device in self._client.olm.device_store if self._client.olm else ():
            self._trust(device)

    def _trust(self, device: OlmDevice) -> None:
        """Trusts a device by the settings alone; one without gets no keys if they say so."""
        if device.user_id == self.user_id or device.deleted:
            return
        named = self._settings.now.is_verified(device.user_id, device.id, device.ed25519)
        if named and not device.verified:
            self._client.verify_device(device)
        elif not named and device.verified:
            self._client.unverify_device(device)
        if not named and self._settings.now.verified_devices_only and not device.blacklisted:
            self._client.blacklist_device(device)
        elif not self._settings.now.verified_devices_only and device.blacklisted:
            self._client.unblacklist_device(device)


def failed(title: str, answer: object) -> AppError:
    """The error in an answer of the homeserver, without what was sent."""
    code = getattr(answer, "status_code", "") or ""
    said = getattr(answer, "message", "") or ""
    return AppError(title, f"{said} {code}".strip())


def log_in(homeserver: str, user: str, password: str, name: str) -> tuple[str, str, str]:
    """A new device of an account: Matrix id, device id and access token. AppError if refused."""
    return asyncio.run(_log_in(homeserver, user, password, name))


async def _log_in(homeserver: str, user: str, password: str, name: str) -> tuple[str, str, str]:
    config = nio.AsyncClientConfig(
        store=SqliteMemoryStore, encryption_enabled=False, max_timeouts=2
    )
    client = nio.AsyncClient(homeserver, user, config=config)
    try:
        answer = await client.login(password, device_name=name)
    except (ClientError, OSError, TimeoutError) as exc:
        raise AppError("The homeserver can't be reached.", f"{homeserver}: {exc}") from exc
    finally:
        await client.close()
    if not isinstance(answer, nio.LoginResponse):
        raise failed("The homeserver does not let the account in.", answer)
    return answer.user_id, answer.device_id, answer.access_token
