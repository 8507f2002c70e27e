"""Normalises the addresses of endpoints as people type them. Pure, any thread."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from desktop_rag.core.errors import AppError

_EXAMPLE = "for example http://localhost:11434/v1"
# Paths that people copy from a manual together with the address.
_CALLS = re.compile(r"/+(?:chat/completions|completions|embeddings|models)$")
_VERSION = re.compile(r"/v\d+\w*(?:/|$)")


def normalise_base_url(typed: str) -> str:
    """The address without trailing slash, query and fragment, with a scheme and a lower-case host.

    Without a scheme, this computer and the local network get http, all others https.

    Raises:
        AppError: when it is no address, or contains a user name or password.
    """
    text = typed.strip()
    if not text:
        raise AppError("No endpoint address is set.", f"Enter it in Settings, {_EXAMPLE}.")
    if "://" not in text:
        text = f"{'http' if _is_near(_host_of(text)) else 'https'}://{text}"
    parts = _split(text)
    if parts.username is not None or parts.password is not None:
        raise AppError(
            "The endpoint's address contains a user name or a password.",
            "Remove everything before the @; a key has its own field in Settings.",
        )
    host = (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port is not None else ""
    path = _CALLS.sub("", parts.path.rstrip("/")).rstrip("/")
    return f"{parts.scheme.lower()}://{shown}{port}{path}"


def host_of(base_url: str) -> str:
    """The host of a normalised address, with its port if it has one."""
    return urlsplit(base_url).netloc


def is_this_computer(base_url: str) -> bool:
    """True for a normalised address of this computer."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_numeric(base_url: str) -> bool:
    """True for an address that needs no look-up: numbers, or this computer by its usual name."""
    host = urlsplit(base_url).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def is_near(base_url: str) -> bool:
    """True for a normalised address of this computer or the local network."""
    return _is_near(urlsplit(base_url).hostname or "")


def with_version(base_url: str) -> str:
    """The address with `/v1`, which most servers require; empty if it has a version already."""
    has_version = _VERSION.search(urlsplit(base_url).path)
    return "" if has_version else f"{base_url}/v1"


def _split(text: str) -> SplitResult:
    wrong = AppError("The endpoint's address is not a web address.", f"Check it, {_EXAMPLE}.")
    if any(char.isspace() or not char.isprintable() for char in text):
        raise wrong
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme.lower() in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as exc:  # a broken IPv6 address or port
        raise wrong from exc
    if not is_usable:
        raise wrong
    return parts


def _host_of(text: str) -> str:
    try:
        return urlsplit(f"//{text}").hostname or ""
    except ValueError:
        return ""


def _is_near(host: str) -> bool:
    """True for this computer, the local network, and names without a dot: https is rare there."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".lan"))
    return address.is_loopback or address.is_private or address.is_link_local
