"""Fills a library until it is killed or refused, and says each message once it is stored.

    python -m tests.driving.store_writer FOLDER LOG_BYTES LARGEST_FILE_BYTES CHARS

Beside the messages it stores documents, one for every third of them. A limit of 0 is none; a log of
LOG_BYTES is written into the library file.
"""

import random
import resource
import sys
import time
import uuid
from pathlib import Path

from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database import database
from tests.engines import duckdb_in
from tests.stored_rows import put


def main(folder: str, log_bytes: int, most_bytes: int, chars: int) -> None:
    """Say `open`, the text of each message, and at the end the title of the error with the
    number of messages that can still be read.
    """
    database._LOG_BYTES = log_bytes  # noqa: SLF001
    if most_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        engine = duckdb_in(Path(folder))
    except AppError as error:
        say(f"refused: {error.title} 0")
        return
    say("open")
    try:
        fill(engine, chars)
    except AppError as error:
        found = sum(len(engine.conversations.messages(c.conversation_id))
                    for c in engine.conversations.all())  # fmt: skip
        say(f"refused: {error.title} {found}")
    engine.close()


def fill(engine: Engine, chars: int) -> None:
    """Add messages and documents without end."""
    chance = random.Random()
    chat = engine.conversations.add("Chat", "").conversation_id
    while True:
        text = f"{uuid.uuid4().hex} {chance.randbytes(chars // 2).hex()}"
        engine.conversations.add_message(
            Message(uuid.uuid4().hex, chat, Role.USER, text, time.time())
        )
        say(text[:32])
        if chance.random() < 1 / 3:
            put(engine, uuid.uuid4().hex, *(f"passage {n} {text[:400]}" for n in range(3)))


def say(line: str) -> None:
    """Write a line to whoever reads the pipe."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
