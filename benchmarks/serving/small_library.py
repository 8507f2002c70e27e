"""A small library with the local server on, for the benchmarks beside it. Not a script."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from desktop_rag.app import Services, build_services
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, EndpointSettings, Settings
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, new_token
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import TokenWish

LAMP = {"lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper. " * 40}


@contextmanager
def served(texts: Mapping[str, str], endpoint: EndpointSettings) -> Generator[Services]:
    """The services over these files, with the server on."""
    with TemporaryDirectory() as scratch:
        services = build_services(Home(Path(scratch) / "home"))
        try:
            (folder := Path(scratch) / "papers").mkdir()
            for name, text in texts.items():
                (folder / name).write_text(text, "utf-8")
            services.library.sources.add(folder)
            services.library.start(watch=False)
            assert services.library.indexing.wait_until_idle(300)
            answers = AnswerSettings(suggests_questions=False)
            services.chat.apply(replace(Settings(), endpoint=endpoint, answers=answers))
            services.wing(ServerSwitch).hold({"port": 0})
            yield services
        finally:
            services.close()


def secret_for(services: Services, scope: TokenScope) -> str:
    """The secret of a new token without a limit."""
    token, secret = new_token(TokenWish(f"benchmark {scope}", (scope,), requests_per_minute=0))
    TokenBook(services.home.tokens).add(token)
    return secret
