"""Two users of an application that runs in a process of its own: none is told of the other's."""

from pathlib import Path

from desktop_rag.features.server.access.user_rights import USER_HEADER
from tests.driving.two_users import (
    CANARIES,
    IDENTITIES,
    OPEN,
    TwoUsers,
    protect,
    told_in,
    write_secrets,
)
from tests.integration.serving.conftest import Server
from tests.servers.chat_server import ChatServer
from tests.servers.rights_app import RightsProcess

# Each of them gives its owner a word that the question does not have.
PROBES = (
    "What does grindlewx say of the contract?",  # corrected spelling
    "Who says so about the salary?",
    "How many documents are there about the holiday?",
    "What is in grindlwax salary 0.md?",  # the nearest name of a file
    "List all files about the illness.",
)


def test_no_correction_count_or_name_tells_of_what_somebody_else_may_read(
    server: Server, tmp_path: Path
) -> None:
    write_secrets(tmp_path / "people", 6)
    (keys := tmp_path / "keys").mkdir()
    own: set[str] = set()
    with RightsProcess(keys) as app:
        protect(server.services, tmp_path / "people", app)
        for question in PROBES:
            body = {"model": "desktop-rag", "messages": [{"role": "user", "content": question}]}
            for user in ("wanda", "boris"):
                with server.client(**{USER_HEADER: app.token(user)}) as client:
                    text = client.post("/v1/chat/completions", json=body).text.casefold()
                for name, words in CANARIES.items():
                    told = [word for word in words if word in text]
                    assert name == user or not told, (question, user)
                    if user == "boris" and told:
                        own.add(question)
    assert own == set(PROBES)


def test_random_requests_tell_nobody_of_the_secrets_of_somebody_else(
    server: Server, endpoint: ChatServer, tmp_path: Path
) -> None:
    (folder := tmp_path / "open").mkdir()
    (folder / "canteen.md").write_text(OPEN)
    server.services.library.sources.add(folder)
    endpoint.answer_to, endpoint.piece_chars = told_in, 100_000
    write_secrets(tmp_path / "people", 6)
    (keys := tmp_path / "keys").mkdir()
    with RightsProcess(keys) as app:
        protect(server.services, tmp_path / "people", app)
        users = TwoUsers(server.services, app, seed=1)
        for n in range(36):
            users.send([*IDENTITIES, "wanda", "boris"][n % 12])
        users.close()
    assert users.seen.leaks == []
    assert users.seen.unanswered == []
    assert users.seen.own
    refused = {who for who, status in users.seen.statuses if status == 401}
    assert refused == {"forged", "expired", "foreign", "replayed", "confused", "none"}
