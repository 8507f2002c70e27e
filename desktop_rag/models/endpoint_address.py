"""Normalises the addresses of endpoints as people type them. Pure."""

import contextlib
import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from desktop_rag.core.errors import AppError

# Placeholders in an address for the key and the model, filled in when a request is sent.
KEY_SLOT, MODEL_SLOT = "{key}", "{model}"
# Names the server that the app runs itself, wherever that listens. No name server is asked for it.
OWN_ADDRESS = "http://this-app.localhost/v1"
_GOOGLE = "generativelanguage.googleapis.com"
_EXAMPLE = "for example http://localhost:11434/v1"
# Paths that people copy from a manual together with the address.
_CALLS = re.compile(r"/+(?:chat/completions|completions|embeddings|models|audio/transcriptions)$")
_VERSION = re.compile(r"/v\d+\w*(?:/|$)")
# Parameters with a secret, by name or by value. Names such as `api-version` and values such as the
# id of a project are none.
_SECRET_NAME = re.compile(
    r"(?i)code|(?:.*[-_.])?(?:api|access)?"
    r"(?:key|token|secret|password|pwd|auth|authorization|sig|signature|credentials?)"
)
_SECRET_VALUE = re.compile(
    r"(?:sk|pk|gsk|hf|ghp|xai|pplx|nvapi|github_pat)[-_]\S{8,}|AIza\S{16,}|eyJ\S{16,}"
    r"|(?=.*[A-Za-z])(?=.*[0-9])(?!.*-.*-)[\w.~+=-]{24,}"
)


def normalise_base_url(typed: str) -> str:
    """The address without trailing slash and fragment, with a scheme and a lower-case host.

    Its query is kept, but KEY_SLOT takes the place of a secret in it: that is the key (`key_in`).
    Without a scheme, this computer and the local network get http, all others https. AppError when
    it is no address, or contains a user name, a password or several keys.
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
    _refuse_google_api(host, parts.path)
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port is not None else ""
    path = _CALLS.sub("", parts.path.rstrip("/")).rstrip("/")
    return f"{parts.scheme.lower()}://{shown}{port}{path}{_query_of(parts)}"


def _refuse_google_api(host: str, path: str) -> None:
    """Google serves OpenAI's API beside its own one, which the app doesn't speak."""
    if host == _GOOGLE and not path.rstrip("/").endswith("/openai") and "/openai/" not in path:
        raise AppError(
            "This is the address of Google's own API.",
            "Enter the one that speaks OpenAI's: https://generativelanguage.googleapis.com/v1beta/openai",
        )


def key_in(typed: str) -> str:
    """The secret in the query of an address as typed; empty when it holds none."""
    try:
        return next(iter(_secrets(urlsplit(typed.strip()).query)), "")
    except ValueError:  # no address
        return ""


def split_address(base_url: str, key: str = "", model: str = "") -> tuple[str, str]:
    """A normalised address without its query, and the query; the slots filled in."""
    bare, _, query = base_url.partition("?")
    model = quote(model, safe="")
    filled = query.replace(KEY_SLOT, quote(key, safe="")).replace(MODEL_SLOT, model)
    return bare.replace(MODEL_SLOT, model), filled


def has_key_slot(base_url: str) -> bool:
    """True when the key of a normalised address belongs into its query."""
    return KEY_SLOT in base_url


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
        return host == "localhost" or base_url == OWN_ADDRESS
    return True


def is_near(base_url: str) -> bool:
    """True for a normalised address of this computer or the local network."""
    return _is_near(urlsplit(base_url).hostname or "")


def with_version(base_url: str) -> str:
    """The address with `/v1`, which most servers require; empty if it has a version already."""
    bare, mark, query = base_url.partition("?")
    has_version = _VERSION.search(urlsplit(bare).path)
    return "" if has_version else f"{bare}/v1{mark}{query}"


def _query_of(parts: SplitResult) -> str:
    """The query with its mark, KEY_SLOT in place of a secret; empty if there is none."""
    secrets = _secrets(parts.query)
    if len(secrets) > 1:
        raise AppError(
            "The endpoint's address contains several keys.",
            "Leave one in it, or none: the key has its own field in Settings.",
        )
    kept = [_without_secret(pair) for pair in parts.query.split("&") if pair]
    return f"?{'&'.join(kept)}" if kept else ""


def _without_secret(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}{equals}{KEY_SLOT}" if _secrets(pair) else pair


def _secrets(query: str) -> list[str]:
    """The different secrets among the parameters."""
    pairs = parse_qsl(query.replace("+", "%2B"))
    found = (value for name, value in pairs if _is_secret(unquote(name), value))
    return list(dict.fromkeys(found))


def _is_secret(name: str, value: str) -> bool:
    if value in ("", KEY_SLOT, MODEL_SLOT):
        return False
    return bool(_SECRET_NAME.fullmatch(name) or _SECRET_VALUE.fullmatch(value))


def _split(text: str) -> SplitResult:
    with contextlib.suppress(ValueError):  # a broken IPv6 address or port
        parts = urlsplit(text)
        is_web = parts.scheme.lower() in ("http", "https") and parts.hostname and parts.port != 0
        if is_web and not any(char.isspace() or not char.isprintable() for char in text):
            return parts
    raise AppError("The endpoint's address is not a web address.", f"Check it, {_EXAMPLE}.")


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
