"""The local server over a library, in a process of its own. Started by `streams.py`.

Its arguments are the port of the endpoint and the number of documents. It prints its address and a
token as JSON, then does what each line of its input says: `{"model": NAME}` asks that model from
now on, `{"inside": QUESTION}` answers without the server and gives the seconds.
"""

import json
import sys
import time
from dataclasses import replace
from threading import Event

from benchmarks.serving.small_library import secret_for, served
from desktop_rag.app import Services
from desktop_rag.core.conversation import Role
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.callers import message_of
from desktop_rag.features.server.services import ServerSwitch

_THINGS = ("lamp", "ferry", "engine", "harbour", "crane", "bell", "boiler", "anchor", "mast", "net")
_PEOPLE = ("keeper", "cook", "apprentice", "captain", "carpenter", "clerk", "diver")


def main() -> None:
    """Serve until the input ends."""
    port, documents = int(sys.argv[1]), int(sys.argv[2])
    endpoint = EndpointSettings(base_url=f"http://127.0.0.1:{port}/v1", model="wait-0-pieces-2")
    with served(texts(documents), endpoint) as services:
        secret = secret_for(services, TokenScope.ASK)
        print(
            json.dumps({"address": services.wing(ServerSwitch).address, "secret": secret}),
            flush=True,
        )
        for line in sys.stdin:
            print(json.dumps(done(services, endpoint, json.loads(line))), flush=True)


def texts(count: int) -> dict[str, str]:
    """Files about different things."""
    return {
        f"report-{n:04}.md": f"# Report {n}\n\n"
        + " ".join(
            f"The {_THINGS[(n + step) % 10]} of station {n} is looked after by the"
            f" {_PEOPLE[(n * 3 + step) % 7]} on day {1 + (n * 7 + step) % 28}."
            for step in range(12)
        )
        for n in range(count)
    }


def question(number: int) -> str:
    """One of many different questions."""
    return f"Who looks after the {_THINGS[number % 10]} of station {number}, and on which day?"


def done(services: Services, endpoint: EndpointSettings, asked: dict[str, str]) -> object:
    """What came of a line of the input."""
    if model := asked.get("model"):
        settings = services.chat.models.settings
        services.chat.apply(replace(settings, endpoint=replace(endpoint, model=model)))
        return None
    began = time.monotonic()
    messages = [message_of(Role.USER, asked["inside"])]
    for _ in services.chat.answer(messages, services.chat.set_up(), cancel=Event()):
        pass
    return time.monotonic() - began


if __name__ == "__main__":
    main()
