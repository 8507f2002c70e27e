"""What the settings are called: the names of the rows where they are set. Pure."""

from desktop_rag.core.language.translation import tr

# Names in the log of what the form tells in other words.
_MORE_NAMES = {
    "API key": tr("API key"),
    "endpoint.base_url": tr("Address"),
    "other_endpoints": tr("Endpoints"),
}
SETTING_NAMES = {
    "answers.asks_few_files": tr("Ask file by file when nothing is found"),
    "answers.checks_claims": tr("Check each sentence against the sources"),
    "answers.checks_with_model": tr("Also check with the model"),
    "answers.hides_unsupported": tr("Hide unsupported answers"),
    "answers.suggests_questions": tr("Suggest follow-up questions"),
    "answers.uses_memory": tr("Learn from earlier answers"),
    "activity.is_recorded": tr("Record what the app does"),
    "appearance.language": tr("Language"),
    "appearance.scheme": tr("Theme"),
    "appearance.text_percent": tr("Text size"),
    "background.hotkey": tr("Hotkey of the quick ask"),
    "background.notifies": tr("Show notifications"),
    "background.selection_hotkey": tr("Hotkey to ask about selected text"),
    "background.starts_at_login": tr("Start at login, in the background"),
    "background.when_closed": tr("Closing the window"),
    "endpoint.ask_above": tr("Ask before a run above"),
    "endpoint.context_tokens": tr("Context size"),
    "endpoint.model": tr("Model"),
    "endpoint.name": tr("Name"),
    "endpoint.price_in": tr("Input price"),
    "endpoint.price_out": tr("Output price"),
    "endpoint.requests_per_minute": tr("Rate limit"),
    "endpoint.spend_per_day": tr("Daily budget"),
    "endpoint.timeout_s": tr("Timeout"),
    "endpoint.tokens_per_minute": tr("Rate limit"),
    "helper.base_url": tr("Helper endpoint"),
    "helper.model": tr("Helper model"),
    "index.embedding_threads": tr("Processor threads"),
    "index.long_pictures": tr("Many pictures"),
    "index.makes_windows": tr("Also search parts of long passages"),
    "index.max_file_mb": tr("Maximum file size"),
    "index.model_folder": tr("Embedding model"),
    "index.pauses_on_battery": tr("Pause indexing on battery power"),
    "index.reads_pictures": tr("Read text in scanned pages and images"),
    "preferences.language": tr("Language of answers"),
    "preferences.length": tr("Length of answers"),
    "preferences.tone": tr("Tone of answers"),
    "retrieval.later_sources": tr("Follow-up questions"),
    "retrieval.lexical_weight": tr("Balance between words and meaning"),
    "retrieval.passages": tr("Passages per answer"),
    "retrieval.source_tokens": tr("Total length"),
    "server.certificate": tr("Certificate"),
    "server.certificate_key": tr("Its key"),
    "server.exposes_models": tr("Expose the models of the endpoints"),
    "server.host": tr("Reached by"),
    "server.host_names": tr("Names"),
    "server.is_on": tr("Let other programs ask"),
    "server.logs_text": tr("Keep questions and answers in the log"),
    "server.port": tr("Port"),
    "shared_library": tr("Shared library"),
    "transcription.base_url": tr("Server address"),
    "transcription.dialect": tr("Kind of server"),
    "transcription.has_consent": tr("Send my recordings to this server"),
    "transcription.language": tr("Spoken language"),
    "transcription.max_upload_mb": tr("Largest request"),
    "transcription.model": tr("Speech model"),
    "transcription.timeout_s": tr("Timeout"),
}


def setting_name(key: str) -> str:
    """What a setting such as `answers.checks_claims` is called; other names are kept."""
    section, _, name = key.partition(".")
    if key in _MORE_NAMES:
        return _MORE_NAMES[key]
    return SETTING_NAMES.get(key) or SETTING_NAMES.get(section) or name or key
