"""The certificate of the local server and its key, checked before they are used. Any thread.

A key behind a password is refused: the server starts without a person who could type it. No message
contains any of a key.
"""

import ssl
import time
from pathlib import Path

from cryptography import x509

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.values.access_values import CertificateFacts

_MOST_BYTES = 1 << 20
_IN_PEM = "A PEM file has lines such as -----BEGIN CERTIFICATE-----."


def server_tls(settings: ServerSettings) -> ssl.SSLContext | None:
    """The TLS context, None without a certificate. AppError for unusable files or another key."""
    if not settings.certificate:
        return None
    certificate = Path(settings.certificate)
    key = Path(settings.certificate_key) if settings.certificate_key else None
    _certificate_in(certificate)
    if key:
        _content(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except ssl.SSLError as exc:
        raise _key_error(key or certificate, exc) from exc
    return context


def certificate_facts(settings: ServerSettings) -> CertificateFacts | None:
    """What the certificate says, None without one. AppError as `server_tls`, or if invalid now."""
    if server_tls(settings) is None:
        return None
    path = Path(settings.certificate)
    certificate = _certificate_in(path)
    now = time.time()
    begins_at = certificate.not_valid_before_utc.timestamp()
    ends_at = certificate.not_valid_after_utc.timestamp()
    if now > ends_at:
        day = f"{certificate.not_valid_after_utc:%Y-%m-%d}"
        raise AppError("The certificate has expired.", f"{path}: it was valid until {day}.")
    if now < begins_at:
        day = f"{certificate.not_valid_before_utc:%Y-%m-%d}"
        raise AppError("The certificate is not valid yet.", f"{path}: it is from {day} on.")
    return CertificateFacts(_names_in(certificate), ends_at)


def _certificate_in(path: Path) -> x509.Certificate:
    """The first one in the file, which is that of the server."""
    try:
        return x509.load_pem_x509_certificates(_content(path))[0]
    except ValueError as exc:
        raise AppError(f"There is no certificate in {path.name}.", f"{path}. {_IN_PEM}") from exc


def _names_in(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        return tuple(str(each.value) for each in common)
    hosts = names.get_values_for_type(x509.DNSName)
    return (*hosts, *map(str, names.get_values_for_type(x509.IPAddress)))


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError as exc:
        raise AppError(f"{path.name} can't be read.", f"{path}: {exc.strerror}.") from exc


def _refuse_password() -> str:
    hint = "The server starts without asking for one: choose a key without a password."
    raise AppError("The key is protected by a password.", hint)


def _key_error(path: Path, exc: ssl.SSLError) -> AppError:
    if exc.reason == "KEY_VALUES_MISMATCH":
        hint = f"{path} is the key of another one."
        return AppError("The key doesn't belong to the certificate.", hint)
    hint = f"{path}. A key in PEM has lines such as -----BEGIN PRIVATE KEY-----."
    return AppError(f"There is no key in {path.name}.", hint)
