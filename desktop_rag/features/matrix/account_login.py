"""Logs the bot in to its account, as a new device. The thread of the command line."""

import asyncio

import nio
from aiohttp import ClientError
from nio.store import SqliteMemoryStore

from desktop_rag.core.errors import AppError
from desktop_rag.features.matrix.room_client import failed


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
