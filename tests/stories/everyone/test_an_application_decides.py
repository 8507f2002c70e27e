"""Another application decides who reads a collection; a person lets a filter look on."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.user_rights import USER_HEADER
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import USUAL_ALGORITHMS, AccessRule, TokenWish
from tests.servers.rights_app import AUDIENCE, ISSUER, PRIVATE, RightsApp
from tests.stories.conftest import Person

FILTER = """
from desktop_rag.features.server.filters.filter_chain import RequestFilter
from desktop_rag.features.server.refusals import Refusal


class Closed(RequestFilter):
    def admit(self, exchange):
        raise Refusal(403, "Closed at night.", code="closed")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with a filter."""
    about = tmp_path / "site" / "closing-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: closing\nVersion: 1.0\n")
    points = "[desktop_rag.request_filters]\nclosed = closing_filters:Closed\n"
    (about / "entry_points.txt").write_text(points)
    (about.parent / "closing_filters.py").write_text(FILTER)
    monkeypatch.syspath_prepend(about.parent)
    yield
    sys.modules.pop("closing_filters", None)


def served(person: Person) -> tuple[str, str]:
    """The address of the server, which the person turns on, and the secret of a token."""
    person.opens_settings("Other programs")
    person.clicks("Let other programs ask")
    server = person.app.services.wing(ServerSwitch)
    person.waits_until(lambda: bool(server.address))
    return server.address, server.records.add_token(TokenWish("Wiki", ("ask", "read")))


def models(address: str, secret: str, user: str = "") -> tuple[int, str]:
    """What a program is told of the models, for nobody or for a user."""
    headers = {"authorization": f"Bearer {secret}"} | ({USER_HEADER: user} if user else {})
    answer = httpx2.get(f"{address}/v1/models", headers=headers, trust_env=False)
    return answer.status_code, answer.text


def test_an_application_decides_who_reads_a_collection(person: Person, tmp_path: Path) -> None:
    wiki = person.app.services.library.collections.add("Wiki pages").collection_id
    (keys := tmp_path / "keys").mkdir()
    with RightsApp(keys) as app:
        address, secret = served(person)
        rules = person.app.services.wing(ServerSwitch).records.rules
        rule = AccessRule(
            wiki, str(keys / PRIVATE), USUAL_ALGORITHMS, ISSUER, AUDIENCE, app.address
        )
        assert "collection:Wiki pages" in models(address, secret)[1]

        with pytest.raises(AppError, match="It holds a private key"):
            rules.set(rule)
        assert "collection:Wiki pages" in models(address, secret)[1], "nothing was kept"
        rules.set(replace(rule, key_file=str(app.public_key)))
        assert "Wiki pages" not in models(address, secret)[1]
        assert "collection:Wiki pages" in models(address, secret, app.token("wanda"))[1]
        assert models(address, secret, app.token("wanda", exp=1_000_000))[0] == 401

        rules.set(replace(rule, key_file=str(app.public_key), audience="another"))
        assert models(address, secret, app.token("wanda"))[0] == 401
        rules.remove(wiki)
        assert "collection:Wiki pages" in models(address, secret)[1]


def test_a_filter_of_an_installed_package_is_used(person: Person, package: None) -> None:
    del package
    address, secret = served(person)
    assert models(address, secret)[0] == 200
    person.types("Filters of your own", "closed\t")
    server = person.app.services.wing(ServerSwitch)
    person.waits_until(lambda: models(address, secret)[0] == 403)
    assert "Closed at night." in models(address, secret)[1]

    # One for some models does not see other requests.
    person.clears("Filters of your own")
    person.types("Filters of your own", "closed=collection:*\t")
    person.waits_until(lambda: models(address, secret)[0] == 200)
    assert person.app.window.settings.value.server.filters == ("closed=collection:*",)
    person.clears("Filters of your own")
    person.types("Filters of your own", "\t")
    person.waits_until(lambda: person.app.window.settings.value.server.filters == ())
    assert server.address == address, "it was not restarted"


def test_a_filter_that_is_gone_is_named_and_can_be_left_out(person: Person) -> None:
    _, secret = served(person)
    person.types("Filters of your own", "gone\t")
    person.sees("There is no filter “gone”.")
    person.clears("Filters of your own")
    person.types("Filters of your own", "\t")
    person.waits_until(lambda: bool(person.app.services.wing(ServerSwitch).address))
    assert models(person.app.services.wing(ServerSwitch).address, secret)[0] == 200
