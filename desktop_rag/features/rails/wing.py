"""Rails and commands of assistants: where the app meets them."""

from desktop_rag.store.contract.precious import BackupRules, Kept


def kept() -> Kept:
    """The history of commands, in a file of its own."""
    return Kept(nouns={"command": ("command", "commands")}, backups=_backup_rules)


def _backup_rules() -> BackupRules:
    from desktop_rag.features.rails.commands.commands_done import RULES  # noqa: PLC0415

    return RULES
