"""The table of providers: what it holds, what its reader refuses, and how an address is matched."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from desktop_rag.core.model_profile import LengthField, ModelProfile
from desktop_rag.models.endpoint_address import is_this_computer, normalise_base_url
from desktop_rag.models.endpoints.providers import (
    Auth,
    Provider,
    find_provider,
    list_shape_at,
    model_at,
    programs,
    provider_at,
    quirks_at,
    read_providers,
    services,
)

ROW = 'name = "Acme"\naddress = "https://api.acme.example/v1"\nkey_page = "https://acme.example"\n'


@pytest.mark.parametrize("service", services(), ids=lambda service: service.name)
def test_a_service_can_be_used(service: Provider) -> None:
    for page in (service.address, service.key_page):
        assert urlsplit(page).scheme == "https"
        assert urlsplit(page).hostname
    assert not service.blank or service.blank in service.note
    assert provider_at(normalise_base_url(service.address)) == service
    assert find_provider(service.name.upper()) == service


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_program_is_on_this_computer(program: Provider) -> None:
    assert normalise_base_url(program.address) == program.address
    assert is_this_computer(program.address)
    assert program.start
    assert find_provider(program.name) == program


def test_many_are_known() -> None:
    assert len(services()) >= 25
    assert [program.name for program in programs()][:3] == ["Ollama", "LM Studio", "llama.cpp"]


@pytest.mark.parametrize(
    ("address", "name", "model"),
    [
        ("https://me.openai.azure.com/openai/v1", "Azure OpenAI", ""),
        ("https://me.services.ai.azure.com/openai/v1", "Azure OpenAI", ""),
        ("https://me.openai.azure.com/openai/deployments/gpt-x?api-version=2024-10-21",
         "Azure OpenAI (deployments)", "gpt-x"),
        ("https://gateway.example.com/openai/deployments/{model}?api-version=1",
         "Azure OpenAI (deployments)", ""),
        ("http://127.0.0.1:11434/v1", "Ollama", ""),
        ("http://[::1]:1234/v1", "LM Studio", ""),
        ("https://api.deepseek.com", "DeepSeek", ""),
        ("https://api.scaleway.ai/a-project/v1", "Scaleway", ""),
    ],
)  # fmt: skip
def test_an_address_tells_the_provider(address: str, name: str, model: str) -> None:
    provider = provider_at(address)
    assert provider is not None
    assert (provider.name, model_at(address)) == (name, model)


@pytest.mark.parametrize(
    "address",
    ["https://api.example.com/v1", "https://openai.azure.com.evil.example/openai/v1",
     "https://api.openai.com.evil.example/v1", "https://evil.example/?https://api.openai.com/v1",
     "http://api.openai.com/v1", ""],
)  # fmt: skip
def test_another_address_is_no_provider(address: str) -> None:
    assert provider_at(address) is None
    assert not quirks_at(address)
    assert list_shape_at(address).path == "models"


def test_a_name_that_several_have_finds_none() -> None:
    assert find_provider("azure") is None
    assert find_provider("") is None
    gemini = find_provider("gemini")
    assert gemini is not None
    assert gemini.name == "Google Gemini"


def test_quirks_fill_only_what_is_unknown() -> None:
    quirks = quirks_at("https://api.openai.com/v1")
    filled = ModelProfile().filled(quirks)
    assert filled.length_field is LengthField.MAX_COMPLETION_TOKENS
    measured = ModelProfile(length_field=LengthField.MAX_TOKENS)
    assert measured.filled(quirks) == measured


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "providers.toml"
    path.write_text(text)
    return path


def test_a_row_is_read_with_every_field(tmp_path: Path) -> None:
    fields = 'auth = "x-api-key"\nquirks = ["no-streaming"]\nalso = ["https://*.acme.example/v1"]\n'
    shape = '[service.list]\npath = "/all"\nheaders = { a = "b" }\ndollars = 5\n'
    [row] = read_providers(table(tmp_path, f"[[service]]\n{ROW}{fields}{shape}"))
    assert (row.auth, row.list.path, row.list.dollars) == (Auth.X_API_KEY, "/all", 5.0)
    assert row.list.headers == (("a", "b"),)
    assert not row.is_program


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"[[servise]]\n{ROW}", "no “servise”"),
        ('[[service]]\nname = "Acme"\n', "service 1 (Acme), address"),
        (f'[[service]]\n{ROW}adress = "x"\n', "service 1 (Acme), adress"),
        (f'[[service]]\n{ROW}auth = "basic"\n', "service 1 (Acme), auth"),
        (f"[[service]]\n{ROW}auth = 5\n", "service 1 (Acme), auth"),
        (f"[[service]]\n{ROW}note = 5\n", "service 1 (Acme), note"),
        (f'[[service]]\n{ROW}quirks = ["odd"]\n', "service 1 (Acme), quirks 1"),
        (f'[[service]]\n{ROW}[service.list]\ndollars = "1"\n', "service 1 (Acme), list, dollars"),
        (f'[[service]]\n{ROW}[service.list]\nprise = "1"\n', "service 1 (Acme), list, prise"),
        (f'[[service]]\n{ROW}start = "acme serve"\n', "either a key_page or how to start it"),
        (f"[[service]]\n{ROW}[[service]]\n{ROW}", "named more than once: acme"),
        (f"[[service]]\n{ROW.replace('/v1', '/v1/')}", "is not a normalised address"),
    ],
)
def test_a_mistake_in_the_table_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"^providers\.toml") as caught:
        read_providers(table(tmp_path, text))
    assert said in str(caught.value)
