"""An OpenAI-compatible endpoint in a process of its own: it waits, then streams. Started by
`streams.py`.

The name of the model says what it does: `wait-1000-pieces-20` waits a second before the first of
20 pieces. It prints its port.
"""

import asyncio
import json
import re

_MODEL = re.compile(r"wait-(\d+)-pieces-(\d+)")


async def main() -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            if head.startswith(b"POST"):
                await stream(json.loads(body), writer)
            else:
                listed = json.dumps({"data": []}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n%s" % (len(listed), listed))
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def stream(asked: dict[str, str], writer: asyncio.StreamWriter) -> None:
    """Wait and stream as the model's name says."""
    said = _MODEL.fullmatch(asked["model"])
    wait_ms, pieces = (int(said[1]), int(said[2])) if said else (0, 1)
    await asyncio.sleep(wait_ms / 1000)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
    writer.write(b"transfer-encoding: chunked\r\n\r\n")
    for number in range(pieces):
        text = "word " if number < pieces - 1 else "[1]."
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        writer.write(chunk({"choices": [choice]}))
        await writer.drain()
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    writer.write(chunk({"choices": [last]}) + chunk("[DONE]") + b"0\r\n\r\n")
    await writer.drain()


def chunk(data: object) -> bytes:
    """An event as a chunk of the body."""
    event = f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


if __name__ == "__main__":
    asyncio.run(main())
