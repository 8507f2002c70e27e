"""A certificate that can't be used is told from one that can, with what is wrong."""

import ssl
import time
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.network.certificates import certificate_facts, server_tls
from desktop_rag.features.server.values.access_values import CertificateFacts
from tests.unit.serve.certificate_files import CertificateFiles, certificate_files


def settings_of(files: CertificateFiles) -> ServerSettings:
    return ServerSettings(certificate=str(files.certificate), certificate_key=str(files.key))


def refused(settings: ServerSettings) -> AppError:
    with pytest.raises(AppError) as caught:
        certificate_facts(settings)
    return caught.value


def test_without_a_certificate_nothing_is_encrypted() -> None:
    assert server_tls(ServerSettings()) is None
    assert certificate_facts(ServerSettings()) is None


def test_a_certificate_says_for_whom_it_is_and_until_when(tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "good", ("rag.example", "192.168.1.7"))
    facts = certificate_facts(settings_of(files))
    assert facts
    assert facts.names == ("rag.example", "192.168.1.7")
    assert abs(facts.ends_at - time.time() - 30 * 86_400) < 60
    assert isinstance(server_tls(settings_of(files)), ssl.SSLContext)


def test_the_key_may_be_in_the_same_file(tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "good")
    both = tmp_path / "both.pem"
    both.write_bytes(files.key.read_bytes() + files.certificate.read_bytes())
    assert certificate_facts(ServerSettings(certificate=str(both)))


@pytest.mark.parametrize("days", [(-30, -1), (1, 30)])
def test_one_that_is_not_valid_now_is_refused(tmp_path: Path, days: tuple[int, int]) -> None:
    files = certificate_files(tmp_path, "old", days=days)
    title = "has expired" if days[1] < 0 else "not valid yet"
    assert title in refused(settings_of(files)).title
    # A server that runs goes on, or starts: those who ask it decide.
    assert server_tls(settings_of(files))


def test_the_key_of_another_one_is_refused(tmp_path: Path) -> None:
    files, other = certificate_files(tmp_path, "a"), certificate_files(tmp_path, "b")
    error = refused(replace(settings_of(files), certificate_key=str(other.key)))
    assert error.title == "The key doesn't belong to the certificate."
    assert str(other.key) in error.hint


def test_a_key_behind_a_password_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "closed", password=b"open sesame")
    assert refused(settings_of(files)).title == "The key is protected by a password."


@pytest.mark.parametrize("missing", ["certificate", "key"])
def test_what_can_not_be_read_is_named(tmp_path: Path, missing: str) -> None:
    files = certificate_files(tmp_path, "good")
    path: Path = getattr(files, missing)
    path.unlink()
    error = refused(settings_of(files))
    assert error.title == f"{path.name} can't be read."
    path.mkdir()
    assert refused(settings_of(files)).title == f"{path.name} can't be read."


def test_other_files_are_told(tmp_path: Path) -> None:
    files = certificate_files(tmp_path, "good")
    swapped = CertificateFiles(files.key, files.certificate)
    assert refused(settings_of(swapped)).title == "There is no certificate in good.key."
    no_key = ServerSettings(certificate=str(files.certificate))
    assert refused(no_key).title == "There is no key in good.pem."
    files.key.write_bytes(b"-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n")
    error = refused(settings_of(files))
    assert error.title == "There is no key in good.key."
    assert "secret" not in f"{error.title} {error.hint}"


def test_names_that_a_certificate_leaves_out() -> None:
    facts = CertificateFacts(("rag.example", "*.office.example", "192.168.1.7"), 0.0)
    assert facts.left_out(["RAG.example", "amber.office.example", "192.168.1.7"]) == []
    assert facts.left_out(["office.example", "a.b.office.example", "192.168.1.8"]) == [
        "office.example", "a.b.office.example", "192.168.1.8",
    ]  # fmt: skip
