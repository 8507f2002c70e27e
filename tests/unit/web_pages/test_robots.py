import pytest

from desktop_rag.features.web_pages.crawler import NO_RULES, parse_robots

US = "desktop-rag"


def allowed(text: str, target: str) -> bool:
    return parse_robots(text, US).allows(target)


def test_no_rules_allow_everything() -> None:
    assert NO_RULES.allows("/anything")
    assert allowed("<!doctype html><p>Not found</p>", "/a")
    assert allowed("User-agent: *\nDisallow:", "/a")


def test_the_rules_for_everybody_hold_for_us() -> None:
    text = "User-agent: *\nDisallow: /private # not for you\n"
    assert not allowed(text, "/private/a")
    assert not allowed(text, "/privateer")
    assert allowed(text, "/public")


def test_rules_of_our_own_replace_those_for_everybody() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: Desktop-RAG/1.0\nDisallow: /a"
    assert allowed(text, "/b")
    assert not allowed(text, "/a")


def test_one_group_can_name_several_programs_and_one_program_several_groups() -> None:
    text = (
        "User-agent: other\nUser-agent: desktop-rag\nDisallow: /a\n"
        "User-agent: *\nDisallow: /b\nUser-agent: desktop-rag\nDisallow: /c\n"
    )
    assert [allowed(text, target) for target in ("/a", "/b", "/c")] == [False, True, False]


def test_a_group_ends_with_its_rules() -> None:
    text = (
        "User-agent: desktop-rag\nUser-agent: other\nDisallow: /a\n"
        "User-agent: other\nDisallow: /b\n"
    )
    assert [allowed(text, target) for target in ("/a", "/b")] == [False, True]


def test_rules_of_others_are_not_ours() -> None:
    assert allowed("User-agent: other\nDisallow: /", "/a")
    assert allowed("User-agent: desktop-rag-pro\nDisallow: /", "/a")


@pytest.mark.parametrize(
    ("rules", "target", "expected"),
    [
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a/b\nDisallow: /a", "/a/c", False),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /*/private/*/x", "/a/private/b/x/c", False),
        ("Disallow: *?print=", "/a?print=1", False),
        ("Disallow: /$", "/", False),
        ("Disallow: /$", "/a", True),
        ("Disallow: /a*b$", "/ab", False),
        ("Disallow: /ab*b$", "/ab", True),
        ("Disallow: /b%C3%BCcher", "/bücher", False),
        ("Disallow: /bücher", "/b%c3%bccher", False),
        ("Disallow: /", "/robots.txt", True),
    ],
)
def test_the_longest_rule_that_fits_decides(rules: str, target: str, expected: bool) -> None:
    assert allowed(f"User-agent: *\n{rules}", target) is expected


@pytest.mark.parametrize(
    ("value", "expected"), [("2", 2.0), ("0.5", 0.5), ("nan", 0.0), ("inf", 0.0), ("soon", 0.0)]
)
def test_the_wished_pause_is_a_number(value: str, expected: float) -> None:
    assert parse_robots(f"User-agent: *\nCrawl-delay: {value}", US).delay_s == expected


@pytest.mark.parametrize(
    ("text", "target_chars"),
    [
        ("User-agent: *\n" + f"Disallow: /{'*a' * 20_000}b$\n" * 12, 40_000),
        (f"User-agent: *\nDisallow: /{'*a' * 250_000}b", 40_000),
        ("User-agent: *\n" + "Disallow: /*a*b$\n" * 19_000, 4000),
        ("User-agent: *\n" + f"Disallow: /{'$' * 20_000}\n" * 24, 40_000),
    ],
    ids=["wildcards", "one line", "short lines", "dollars"],
)
def test_a_hostile_file_is_read_in_linear_time(text: str, target_chars: int) -> None:
    assert allowed(text, "/" + "a" * target_chars)


class CountedName(str):
    """An agent's name that counts its comparisons."""

    comparisons = 0

    def lower(self) -> str:
        return self

    def __eq__(self, other: object) -> bool:
        self.comparisons += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("rules", ["", "User-agent: *\n" + "Disallow: /b\n" * 9_000])
def test_each_name_in_a_file_is_compared_once(rules: str) -> None:
    us = CountedName(US)
    names = "".join(f"User-agent: a{n:05}\n" for n in range(9_000))
    assert parse_robots(names + rules, us).allows("/a")
    assert us.comparisons == (names + rules).count("User-agent")
