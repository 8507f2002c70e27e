"""Starts an MCP server as a program would, and asks for its tools. Worker threads."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

from desktop_rag.core.errors import AppError

# The first start after an update reads all of the program from the disk.
_LIMIT_S = 60.0


def tools_of(entry: Mapping[str, Any]) -> list[str]:
    """The tools that an entry's command offers. AppError when it doesn't answer as an MCP server.

    It is started as programs start it: with little of this process's environment.
    """
    command = str(entry.get("command", ""))
    if shutil.which(command) is None:
        raise AppError("The command was not found.", f"“{command}” is not a program.")
    parameters = StdioServerParameters(
        command=command,
        args=[str(each) for each in entry.get("args", ())],
        env=get_default_environment() | {str(k): str(v) for k, v in entry.get("env", {}).items()},
    )
    try:
        return asyncio.run(_asked(parameters))
    except TimeoutError as exc:
        raise _silent(f"It said nothing for {_LIMIT_S:.0f} seconds.") from exc
    except (OSError, MCPError, ExceptionGroup) as exc:
        raise _silent(f"{type(exc).__name__}: {exc}") from exc


async def _asked(parameters: StdioServerParameters) -> list[str]:
    # Its own output is for the log of the program; the window has none.
    with Path(os.devnull).open("w") as nowhere:
        async with (
            asyncio.timeout(_LIMIT_S),
            Client(stdio_client(parameters, errlog=nowhere)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]


def _silent(hint: str) -> AppError:
    return AppError("The command doesn't answer as an MCP server.", hint)
