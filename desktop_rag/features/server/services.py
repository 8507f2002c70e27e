"""The local server while the app is open."""

from desktop_rag.app import Services
from desktop_rag.features.server.served import Served
from desktop_rag.features.server.switch import ServerSwitch
from desktop_rag.registry import WingServices


class ServerServices(WingServices):
    """`switch` turns the server on and off."""

    def __init__(self, services: Services) -> None:
        self.switch = ServerSwitch(
            Served(
                services.home, services.chat, services.library, services.embedders.embedder,
                services.activity,
            )
        )  # fmt: skip

    @property
    def rights_addresses(self) -> tuple[str, ...]:
        """Where applications are asked what their users may read."""
        return self.switch.rights_addresses

    def close(self) -> None:
        """Stop the server."""
        self.switch.close()
