"""Services and programs with an OpenAI-compatible API: address, key page, and how to begin. Pure.

A new one is a row here. Addresses and key pages are those of the providers' own documentation,
as of November 2026.
"""

from dataclasses import dataclass

# Stands in an address for what only the person knows.
BLANK = "YOUR-RESOURCE"


@dataclass(frozen=True, slots=True)
class Service:
    """A service on the network. A key is made on `key_page`; `note` says what else it needs.

    `base_url` may contain BLANK.
    """

    name: str
    base_url: str
    key_page: str
    note: str = ""

    @property
    def has_blank(self) -> bool:
        """True when the address must be completed."""
        return BLANK in self.base_url


@dataclass(frozen=True, slots=True)
class Program:
    """A program that serves models on this computer, its usual address, and how to start it."""

    name: str
    base_url: str
    start: str


SERVICES = (
    Service(
        "Anthropic",
        "https://api.anthropic.com/v1",
        "https://platform.claude.com/settings/keys",
    ),
    Service(
        "Azure OpenAI",
        f"https://{BLANK}.openai.azure.com/openai/v1",
        "https://portal.azure.com",
        f"Replace {BLANK} by the name of your resource, and enter the name of your deployment as"
        " the model.",
    ),
    Service(
        "DeepSeek",
        "https://api.deepseek.com/v1",
        "https://platform.deepseek.com/api_keys",
    ),
    Service(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "https://aistudio.google.com/apikey",
    ),
    Service("Groq", "https://api.groq.com/openai/v1", "https://console.groq.com/keys"),
    Service("Mistral", "https://api.mistral.ai/v1", "https://console.mistral.ai/api-keys"),
    Service("OpenAI", "https://api.openai.com/v1", "https://platform.openai.com/api-keys"),
    Service("OpenRouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/settings/keys"),
)

PROGRAMS = (
    Program("Ollama", "http://localhost:11434/v1", "ollama serve"),
    Program("LM Studio", "http://localhost:1234/v1", "Start the server on the page Developer."),
    Program("llama.cpp or LocalAI", "http://localhost:8080/v1", "llama-server -m MODEL.gguf"),
    Program("vLLM", "http://localhost:8000/v1", "vllm serve MODEL"),
    Program("Jan", "http://localhost:1337/v1", "Start the Local API Server in the settings."),
)


def service_at(base_url: str) -> Service | None:
    """The service with this normalised address."""
    return next((service for service in SERVICES if service.base_url == base_url), None)
