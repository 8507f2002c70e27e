"""Parses robots.txt according to RFC 9309, in linear time. Pure.

The standard library's parser supports no wildcards and applies the first matching rule instead of
the longest, so it would allow pages that a site excludes.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

_MAX_LINES = 20_000
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_SAFE_CHARACTERS = "/?&=*$@:!'()+,;~-._"


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: str
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules for one agent: allowed paths, and the delay between two requests."""

    rules: tuple[_Rule, ...] = ()
    delay_s: float = 0.0

    def allows(self, target: str) -> bool:
        """True when path and query may be read: the longest matching rule decides."""
        asked = _normalised(target)
        if asked == "/robots.txt":
            return True
        fitting = [rule for rule in self.rules if _fits(rule.pattern, asked)]
        if not fitting:
            return True
        return max(fitting, key=lambda rule: (len(rule.pattern), rule.is_allowed)).is_allowed


NO_RULES = RobotsRules()


def parse_robots(text: str, agent: str) -> RobotsRules:
    """The rules of a robots.txt for `agent`, else those for all agents."""
    named: list[tuple[str, str]] = []
    general: list[tuple[str, str]] = []
    us = agent.lower()
    # Flags, no list of names: a file may put thousands of names above thousands of rules.
    is_named = is_group_open = is_ours = is_for_all = False
    for line in text.lstrip("\ufeff").splitlines()[:_MAX_LINES]:
        match = _LINE.match(line)
        if not match:
            continue
        key, value = match[1].lower(), match[2].strip()
        if key == "user-agent":
            name = _token(value)
            is_ours = name == us or (is_group_open and is_ours)
            is_for_all = name == "*" or (is_group_open and is_for_all)
            is_group_open = True
            is_named |= is_ours
        elif key in {"allow", "disallow", "crawl-delay"}:
            is_group_open = False
            if is_ours:
                named.append((key, value))
            elif is_for_all:
                general.append((key, value))
    return _rules(named if is_named else general)


def _rules(lines: list[tuple[str, str]]) -> RobotsRules:
    rules = tuple(
        _Rule(_normalised(value), key == "allow")
        for key, value in lines
        if key != "crawl-delay" and value
    )
    delays = [_seconds(value) for key, value in lines if key == "crawl-delay"]
    return RobotsRules(rules, max(delays, default=0.0))


def _token(value: str) -> str:
    """The agent name without its version, in lower case."""
    return re.split(r"[/\s]", value, maxsplit=1)[0].lower()


def _seconds(value: str) -> float:
    # float() would accept "nan" and "inf".
    return float(value) if re.fullmatch(r"\d{1,9}(\.\d{0,9})?", value) else 0.0


def _normalised(target: str) -> str:
    """A canonical percent-encoding."""
    return quote(unquote_to_bytes(target), safe=_SAFE_CHARACTERS)


def _fits(pattern: str, target: str) -> bool:
    """Match a pattern with `*` and a final `$` against the start of the target, in linear time."""
    is_whole = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    if not pieces:
        return not is_whole or target == first
    position = len(first)
    last = pieces.pop() if is_whole else ""
    for piece in pieces:
        found = target.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return target.endswith(last) and len(target) - len(last) >= position
