"""The groups of pages in the settings, from the top. Pure."""

from desktop_rag.core.language.translation import tr

ANSWERING = tr("Answering")
QUESTIONS = tr("Questions, notes")
DOCUMENTS = tr("Documents")
APP = tr("App")
CARE = tr("Data and health")
GROUPS = (ANSWERING, QUESTIONS, DOCUMENTS, APP, CARE)
