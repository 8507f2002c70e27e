"""What can be told of a message without a model: attempts to take over, and personal data.

Any thread.
"""

import re

_INJECTIONS = [
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|polic)",
    r"\b(?:reveal|show|print|repeat)\b.{0,40}\b(?:system|hidden|initial) (?:prompt|instruction)",
    r"\byou are (?:now|no longer)\b.{0,60}\b(?:dan|unrestricted|jailbroken|without rules)",
    r"\b(?:developer|jailbreak|god|dan) mode\b",
    r"\bpretend\b.{0,40}\b(?:no (?:rules|restrictions|limits)|without (?:rules|restrictions))",
    r"\b(?:ignorier|vergiss|missacht)\w*\b.{0,40}\b(?:anweisung|regel|vorgabe)",
    r"\b(?:ignore[sz]?|oublie[sz]?)\b.{0,40}\b(?:instructions?|règles?|consignes?)",
    r"\b(?:ignora|olvida)\b.{0,40}\b(?:instruccion|regla|indicacion)",
    r"\b(?:игнорируй|забудь)\w*\b.{0,40}(?:инструкц|правил|указан)",
    r"(?:忽略|无视|忘记).{0,20}(?:指令|规则|提示|说明)",
    r"<\|(?:im_start|system|endoftext)\|>|\[/?INST\]|<<SYS>>",
]
_INJECTION = re.compile("|".join(f"(?:{pattern})" for pattern in _INJECTIONS), re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD = re.compile(r"\b\d(?:[ -]?\d){12,18}\b")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)\d[\d ()/-]{6,18}\d\b")
_LONGEST = 50_000


def takes_over(text: str) -> bool:
    """Whether a message reads like an attempt to make the bot forget its rules."""
    return _INJECTION.search(" ".join(text[:_LONGEST].split())) is not None


def mask_personal_data(text: str) -> str:
    """The text with mail addresses, numbers of accounts, cards and telephones covered."""
    text = _MAIL.sub("[mail address]", text)
    text = _IBAN.sub("[account number]", text)
    text = _CARD.sub(lambda match: "[card number]" if _is_card(match[0]) else match[0], text)
    return _PHONE.sub("[telephone number]", text)


def _is_card(written: str) -> bool:
    """Whether the last digit is the check digit of the others."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
