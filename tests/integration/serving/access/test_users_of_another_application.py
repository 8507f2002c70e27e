"""A collection whose readers another application decides about: its tokens, its answers."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenScope
from desktop_rag.features.server.access.user_rights import USER_HEADER
from desktop_rag.features.server.access.user_tokens import UserTokens
from desktop_rag.features.server.values.access_values import AccessRule
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer
from tests.servers.rights_app import AUDIENCE, ISSUER, PRIVATE, PUBLIC, RightsApp, make_keys, signed

pytestmark = pytest.mark.usefixtures("one_library")

QUESTION = [{"role": "user", "content": "What is the code of the safe?"}]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RightsApp]:
    (keys := tmp_path / "keys").mkdir()
    with RightsApp(keys) as running:
        yield running


@pytest.fixture(scope="module")
def people(one_library: Services, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A collection of two users, each with a document about the same subject."""
    library, root = one_library.library, tmp_path_factory.mktemp("people")
    for user in ("wanda", "boris"):
        (folder := root / user).mkdir()
        (folder / f"{user} safe.md").write_text(f"# Safe\n\nThe code of the safe is {user}-4711.")
    collection_id = library.collections.add("People").collection_id
    library.sources.add(root, collection_id=collection_id)
    assert library.indexing.wait_until_idle(30)
    return collection_id


@pytest.fixture
def rule(server: Server, people: str, app: RightsApp) -> AccessRule:
    """The application decides who reads the collection."""
    made = AccessRule(people, str(app.public_key), ("RS256",), ISSUER, AUDIENCE, app.address)
    AccessRules(server.services.home.access_rules).set(made)
    return made


Ask = Callable[..., Any]


@pytest.fixture
def ask(server: Server, endpoint: ChatServer) -> Ask:
    """Asks with the token of a user, in one piece; the status and the body."""
    endpoint.answer = "The code is in the source [1]."
    secret = server.token(TokenScope.ASK, TokenScope.READ)

    def asked(
        user: str = "", model: str = "desktop-rag", path: str = "/v1/chat/completions"
    ) -> Any:
        headers = {USER_HEADER: user} if user else {}
        with server.client(secret, **headers) as client:
            if path == "/v1/models":
                return client.get(path)
            return client.post(path, json={"model": model, "messages": QUESTION})

    return asked


def sources(answer: Any) -> set[str]:
    assert answer.status_code == 200, answer.text
    return {source["title"] for source in answer.json()["desktop_rag"]["sources"]}


@pytest.mark.slow
def test_each_user_gets_what_the_application_lets_them_read(
    ask: Ask, rule: AccessRule, app: RightsApp, endpoint: ChatServer
) -> None:
    for user, other in (("wanda", "boris"), ("boris", "wanda")):
        answer = ask(app.token(user), model="collection:People")
        assert len(sources(answer)) == 1
        assert f"{user}-4711" in answer.text
        assert other not in answer.text
        assert other not in json.dumps(endpoint.chats[-1])
    [asked, _] = app.asked
    assert asked["collection"] == "People"
    assert {d["path"] for d in asked["documents"]} == {"wanda/wanda safe.md", "boris/boris safe.md"}


@pytest.mark.slow
def test_several_users_together_get_what_all_of_them_may_read(
    ask: Ask, rule: AccessRule, app: RightsApp, server: Server, tmp_path: Path
) -> None:
    wanda, boris = app.token("wanda"), app.token("boris")
    alone = ask(wanda, model="collection:People")
    assert "wanda-4711" in alone.text
    together = ask(f"{wanda}, {boris}")
    assert together.status_code == 200
    assert "4711" not in together.text
    assert sources(ask(f"{wanda},{wanda}", model="collection:People")) == sources(alone)
    assert ask(f"{wanda},{app.token('boris', iss='https://elsewhere.example')}").status_code == 401
    many = ",".join(f"{wanda}{n}" for n in range(60))
    assert ask(many).json()["error"]["code"] == "too_many_users"


@pytest.mark.slow
def test_the_chat_of_a_page_reads_no_document_of_others_by_its_id(
    server: Server, rule: AccessRule, app: RightsApp, endpoint: ChatServer
) -> None:
    of = {d.path.stem.split()[0]: d.document_id for d in server.services.library.documents.all()}
    with server.client(**{USER_HEADER: app.token("wanda")}) as client:
        for name, found in (("wanda", True), ("boris", False)):
            asked = {"model": "collection:People", "question": "What is the code of the safe?"}
            answer = client.post("/chat/ask", json=asked | {"documents": [of[name]]})
            assert answer.status_code == 200
            assert ("wanda-4711" in answer.text) is found
            assert "boris" not in answer.text
    assert "boris-4711" not in json.dumps(endpoint.chats)


@pytest.mark.slow
def test_without_a_user_the_collection_does_not_exist(ask: Ask, rule: AccessRule) -> None:
    assert "People" not in ask(path="/v1/models").text
    unknown = ask(model="collection:People")
    never = ask(model="collection:Nobody")
    assert unknown.status_code == never.status_code == 404
    assert unknown.text.replace("People", "Nobody") == never.text
    everything = ask()
    assert everything.status_code == 200
    assert "4711" not in everything.text
    assert "People" not in everything.text


@pytest.mark.slow
def test_with_a_user_the_collection_is_a_model(ask: Ask, rule: AccessRule, app: RightsApp) -> None:
    assert "collection:People" in ask(app.token("wanda"), path="/v1/models").text
    assert not app.asked


def confused(app: RightsApp) -> str:
    """Signed with the public key as if it were a secret, by hand: libraries refuse to."""
    import base64
    import hmac

    header, payload, _ = app.token("wanda").split(".")
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').rstrip(b"=").decode()
    digest = hmac.digest(app.public_key.read_bytes(), f"{head}.{payload}".encode(), "sha256")
    del header
    return f"{head}.{payload}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def none_algorithm(app: RightsApp) -> str:
    claims = jwt.decode(app.token("wanda"), options={"verify_signature": False})
    return jwt.encode(claims, "", "none")


def changed(app: RightsApp) -> str:
    head, _, signature = app.token("wanda").split(".")
    return f"{head}.{app.token('boris').split('.')[1]}.{signature}"


BAD: dict[str, Callable[[RightsApp], str]] = {
    "forged": lambda _app: signed(rsa.generate_private_key(65_537, 2048), "wanda"),
    "of another kind of key": lambda _app: signed(
        ec.generate_private_key(ec.SECP256R1()), "wanda", algorithm="ES256"
    ),
    "of another algorithm": lambda app: app.token("wanda", algorithm="RS512"),
    "confused": confused,
    "none": none_algorithm,
    "changed": changed,
    "expired": lambda app: app.token("wanda", exp=1),
    "endless": lambda app: app.token("wanda", exp=None),
    "not yet valid": lambda app: app.token("wanda", nbf=9_999_999_999),
    "of another issuer": lambda app: app.token("wanda", iss="https://people.example.evil"),
    "for another audience": lambda app: app.token("wanda", aud="another"),
    "for nobody": lambda app: app.token("wanda", aud=None),
    "of nobody": lambda app: app.token("wanda", sub=None),
    "of an empty name": lambda app: app.token("", sub=""),
    "with a demand": lambda app: app.token("wanda", headers={"crit": ["x"], "x": 1}),
    "cut": lambda app: app.token("wanda")[:-20],
    "no token": lambda _app: "wanda",
    "long": lambda app: app.token("wanda", more="x" * 20_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BAD)
def test_a_token_that_is_not_valid_is_refused_and_reaches_nobody(
    ask: Ask, rule: AccessRule, app: RightsApp, kind: str
) -> None:
    refused = ask(BAD[kind](app))
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_user_token")
    assert not app.asked


@pytest.mark.slow
def test_a_token_is_refused_in_the_same_way_where_no_collection_asks_for_one(
    ask: Ask, app: RightsApp
) -> None:
    assert ask(app.token("wanda")).json()["error"]["code"] == "invalid_user_token"


@pytest.mark.slow
@pytest.mark.parametrize(
    "mode", ["error", "redirect", "text", "list", "others", "numbers", "huge", "refusal"]
)
def test_an_application_that_does_not_tell_clearly_is_a_refusal(
    ask: Ask, rule: AccessRule, app: RightsApp, mode: Any
) -> None:
    app.mode = mode
    refused = ask(app.token("wanda"), model="collection:People")
    assert refused.status_code == (401 if mode == "refusal" else 503)
    assert "4711" not in refused.text
    assert len(app.asked) == 1


@pytest.mark.slow
def test_a_silent_application_is_given_up_and_left_alone_for_a_while(
    ask: Ask, rule: AccessRule, app: RightsApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop_rag.features.server.access.rights_address._LIMIT_S", 0.3)
    app.mode = "silence"
    for _ in range(2):
        refused = ask(app.token("wanda"))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert len(app.asked) == 1


@pytest.mark.slow
def test_the_application_is_asked_once_for_questions_in_a_row(
    ask: Ask, rule: AccessRule, app: RightsApp
) -> None:
    token = app.token("wanda")
    for _ in range(3):
        assert sources(ask(token, model="collection:People"))
    assert len(app.asked) == 1
    ask(app.token("wanda", more=1), model="collection:People")
    assert len(app.asked) == 2


@pytest.mark.slow
def test_a_link_for_a_user_shows_the_passage_and_ends_with_the_rule_of_others(
    server: Server, ask: Ask, rule: AccessRule, app: RightsApp
) -> None:
    answer = ask(app.token("wanda"), model="collection:People").json()
    url = answer["desktop_rag"]["sources"][0]["url"]
    with server.client("") as browser:
        assert "wanda-4711" in browser.get(url).text
        # Made before the rule, for the program itself.
        AccessRules(server.services.home.access_rules).remove(rule.collection_id)
        own = ask(model="collection:People").json()["desktop_rag"]["sources"][0]["url"]
        assert browser.get(own).status_code == 200
        AccessRules(server.services.home.access_rules).set(rule)
        assert browser.get(own).status_code == 404
        assert browser.get(own.replace("/source/", "/source/x~wanda")).status_code == 404
        # Admins of all collections read what is under a rule, too.
        with server.client(server.token(TokenScope.ADMIN)) as admin:
            asked = {"model": "collection:People", "messages": QUESTION}
            answer = admin.post("/v1/chat/completions", json=asked).json()
        assert browser.get(answer["desktop_rag"]["sources"][0]["url"]).status_code == 200


@pytest.mark.slow
def test_nothing_is_answered_while_the_rules_cannot_be_read(
    server: Server, ask: Ask, rule: AccessRule
) -> None:
    server.services.home.access_rules.write_text('{"rules": [{}]}')
    refused = ask()
    assert refused.status_code == 503
    assert "rules of access" in refused.json()["error"]["message"]


@pytest.mark.slow
def test_a_wrong_key_file_is_told_when_the_rule_is_made(tmp_path: Path, app: RightsApp) -> None:
    rule = AccessRule("c", str(app.public_key), ("RS256",), ISSUER, AUDIENCE, app.address)
    private = app.public_key.with_name("private.pem")
    secret = tmp_path / "set.json"
    secret.write_text('{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}')
    for path, said in (
        (private, "private key"), (secret, "secret key"), (tmp_path / "none.pem", "No such file"),
    ):  # fmt: skip
        with pytest.raises(AppError, match=said):
            UserTokens().keys(replace(rule, key_file=str(path)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"address": "http://people.example/rights"},
        {"address": "https://user:key@people.example/"},
        {"address": "file:///etc/passwd"},
        {"address": "https://people.example/#x"},
        {"algorithms": ("HS256",)},
        {"algorithms": ("none",)},
        {"algorithms": ()},
        {"issuer": " "},
        {"audience": ""},
        {"key_file": "public.pem"},
    ],
)
def test_a_rule_that_would_not_protect_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    rules = AccessRules(tmp_path / "access.json")
    rule = AccessRule(
        "c", str(tmp_path / PUBLIC), ("RS256",), ISSUER, AUDIENCE, "https://x.example/"
    )
    make_keys(tmp_path)
    rules.set(rule)
    with pytest.raises(AppError):
        rules.set(replace(rule, **change))
    assert rules.all() == (rule,)


@pytest.mark.slow
def test_a_key_that_is_given_as_text_is_kept_beside_the_rules(tmp_path: Path) -> None:
    rules = AccessRules(tmp_path / "access.json")
    key = make_keys(tmp_path)
    rule = AccessRule("c", "", ("RS256",), ISSUER, AUDIENCE, "https://x.example/")
    rules.set(rule, (tmp_path / PUBLIC).read_text())
    (kept,) = rules.all()
    assert UserTokens().user(signed(key, "wanda"), kept)
    with pytest.raises(AppError, match="private key"):
        rules.set(rule, (tmp_path / PRIVATE).read_text())
    assert UserTokens().user(signed(key, "wanda"), kept)
    rules.set(replace(rule, key_file=str(tmp_path / PUBLIC)))
    assert not Path(kept.key_file).exists()


@pytest.mark.slow
def test_the_key_of_a_set_is_chosen_by_its_name(tmp_path: Path, app: RightsApp) -> None:
    other = rsa.generate_private_key(65_537, 2048)
    named = {"one": app.key.public_key(), "two": other.public_key()}
    rsa_algorithm = jwt.get_algorithm_by_name("RS256")
    keys = [
        json.loads(rsa_algorithm.to_jwk(key)) | {"kid": kid, "use": "sig"}
        for kid, key in named.items()
    ]
    (file := tmp_path / "set.json").write_text(json.dumps({"keys": keys}))
    rule = AccessRule("c", str(file), ("RS256",), ISSUER, AUDIENCE, app.address)
    tokens = UserTokens()
    first = tokens.user(app.token("wanda", headers={"kid": "one"}), rule)
    assert first is not None
    assert tokens.user(signed(other, "wanda", headers={"kid": "two"}), rule) == first
    for headers in ({"kid": "two"}, {"kid": "three"}, {}):
        assert tokens.user(app.token("wanda", headers=headers), rule) is None


@pytest.mark.slow
def test_the_application_keeps_its_collection_in_step_without_a_user(
    server: Server, rule: AccessRule, app: RightsApp
) -> None:
    own = f"/api/v1/collections/{rule.collection_id}"
    for scopes, named, status in (
        ([TokenScope.WRITE], True, 200),
        ([TokenScope.WRITE], False, 404),
        ([TokenScope.WRITE, TokenScope.ASK], True, 404),
        ([TokenScope.ADMIN], False, 200),
        ([TokenScope.ADMIN], True, 404),
    ):
        ids = (rule.collection_id,) if named else ()
        with server.client(server.token(*scopes, collection_ids=ids)) as client:
            assert client.get(own).status_code == status, (scopes, named)
    secret = server.token(TokenScope.WRITE, collection_ids=(rule.collection_id,))
    with server.client(secret, **{USER_HEADER: app.token("wanda")}) as client:
        refused = client.put(f"{own}/documents/1", json={"text": "x", "application": "wiki"})
        assert refused.status_code == 403, refused.text


@pytest.mark.slow
def test_the_rest_api_shows_each_user_their_documents_only(
    server: Server, rule: AccessRule, app: RightsApp
) -> None:
    secret = server.token(TokenScope.ASK, TokenScope.READ)
    people = f"/api/v1/collections/{rule.collection_id}"
    ids: dict[str, str] = {}
    for user, other in (("wanda", "boris"), ("boris", "wanda")):
        with server.client(secret, **{USER_HEADER: app.token(user)}) as client:
            listed = client.get("/api/v1/documents", params={"collection_id": rule.collection_id})
            [document] = listed.json()["documents"]
            ids[user] = document["id"]
            shown = client.get(people).json()
            assert (shown["documents"], listed.json()["total"]) == (1, 1)
            found = client.post("/api/v1/search", json={"query": "code of the safe", "limit": 100})
            told = listed.text + found.text + client.get("/api/v1/status").text
            assert f"{user}-4711" in told
            assert other not in told
    with server.client(secret, **{USER_HEADER: app.token("wanda")}) as client:
        for path in ("", "/text", "/chunks", "/chunks/0"):
            assert client.get(f"/api/v1/documents/{ids['wanda']}{path}").status_code == 200
            foreign = client.get(f"/api/v1/documents/{ids['boris']}{path}")
            never = client.get(f"/api/v1/documents/nothing{path}")
            assert (foreign.status_code, foreign.text) == (404, never.text)
        named = {"query": "safe", "document_ids": [ids["boris"]]}
        assert client.post("/api/v1/search", json=named).json()["results"] == []
    with server.client(secret) as client:
        assert client.get(people).status_code == 404
        assert client.get(f"/api/v1/documents/{ids['wanda']}").status_code == 404


@pytest.mark.slow
def test_the_program_fills_the_collection_of_its_users(
    server: Server, rule: AccessRule, app: RightsApp
) -> None:
    page = f"/api/v1/collections/{rule.collection_id}/documents/new"
    secret = server.token(TokenScope.WRITE, collection_ids=(rule.collection_id,))
    with server.client(secret) as client:
        assert client.put(page, json={"text": "A safe of nobody."}).status_code == 202
        assert client.get(page).json()["own_id"] == "new"
        assert client.delete(page).status_code == 200
    with server.client(secret, **{USER_HEADER: app.token("wanda")}) as client:
        assert client.put(page, json={"text": "Not theirs."}).status_code == 403
