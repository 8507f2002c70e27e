"""The proxy of this computer, as the system or the environment names it. Any thread."""

import urllib.request
from urllib.parse import urlsplit

from desktop_rag.models.endpoint_address import is_this_computer


def proxy_for(base_url: str) -> str:
    """The system's proxy for a normalised address; always "" for this computer.

    It may contain a name and a password: never show or log it.
    """
    parts = urlsplit(base_url)
    if is_this_computer(base_url) or urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all") or ""
