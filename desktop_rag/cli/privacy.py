"""The verb `privacy`: every connection the app can make, with its state."""

import argparse
from collections.abc import Sequence
from typing import Any

from desktop_rag.cli.terminal import open_services, prints


def add_privacy(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `privacy`."""
    prints(parser, _privacy, _lines)


def _privacy(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [connection.to_json() for connection in services.connections()]


def _lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The connections under their reach; those that are on with their addresses."""
    lines: list[str] = []
    reach = ""
    for row in rows:
        if row["reach"] != reach:
            reach = row["reach"]
            lines += ["", reach.capitalize()] if lines else [reach.capitalize()]
        where = ", ".join(row["addresses"])
        lines.append(f"  {row['name']}: {row['state']}{f' ({where})' if where else ''}")
        lines.append(f"      to: {row['to']}")
        lines.append(f"      sent: {row['sent']}")
        lines.append(f"      when: {row['when']}")
        place = f" ({row['place']})" if row["place"] else ""
        lines.append(f"      switch: {row['switch']}{place}")
    return lines
