"""The language of flows: what it reads, and where and how it says that something is wrong."""

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from desktop_rag.features.rails.language.expression_values import (
    Expression,
    ExpressionError,
    evaluate,
    fill_in,
)
from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_syntax import (
    Assign,
    BotSays,
    Execute,
    FlowSyntaxError,
    UserSays,
    When,
)

SAMPLE = '''# A comment first.
define user ask if the shop is open on Sunday or when it isn't
  "Are you open?"   # another comment
  'Isn"t it closed?'

define user спросить про цены
  "Сколько это стоит?"

define bot 回答价格
  "$price 元。"
  """Two
  lines."""

define extension flow prices in any language
  """What it costs."""
  priority 2.5

  user спросить про цены
  # Be brief.
  bot 回答价格
  $price = execute shop.find_price(name="tea", amounts=[1, 2],
    at=$shop.address["city"])
  if $price > 3 and not ($price == 5 or $name in ["a", "b"])
    bot 回答价格 "Expensive."
  else if $price is None
    do ask again
    stop
  else
    bot ...
  when user ask if the shop is open on Sunday or when it isn't
    $open = len($name.lower()) + -1 if $x else {"a": 2}
  else when event Closed(day="...")
    create event Told(day=$day)
  else
    return

define subflow ask again
  while True
    user "Yes."
    break
  $answer = ...
'''


def test_everything_of_the_language_is_read() -> None:
    found = parse_flows(SAMPLE, "sample.co")
    assert [form.form for form in found.user_forms] == [
        "ask if the shop is open on Sunday or when it isn't",
        "спросить про цены",
    ]
    assert found.bot_forms[0].texts == ("$price 元。", "Two\n  lines.")
    flow, subflow = found.flows
    assert (flow.priority, flow.modifiers) == (2.5, frozenset({"extension"}))
    said, bot, action, _, when = flow.body
    assert isinstance(said, UserSays)
    assert isinstance(bot, BotSays)
    assert bot.instruction == "Be brief."
    assert bot.place == ("sample.co", 20, 3)
    assert isinstance(action, Execute)
    assert (action.action, action.result) == ("shop.find_price", "price")
    assert isinstance(when, When)
    assert when.otherwise is not None
    assert subflow.is_subflow
    assert flow.source.startswith("define extension flow prices")
    assert flow.source.endswith("return")


@pytest.mark.parametrize("change", ["tabs", "windows", "margin", "mark", "no end"])
def test_line_ends_and_margins_make_no_difference(change: str) -> None:
    written = {
        "tabs": SAMPLE.replace("\n  ", "\n\t").replace("\t  ", "\t\t"),
        "windows": SAMPLE.replace("\n", "\r\n"),
        "margin": "\n".join(f"    {line}" for line in SAMPLE.splitlines()),
        "mark": f"\ufeff{SAMPLE}",
        "no end": SAMPLE.rstrip(),
    }[change]
    flows = [(flow.name, len(flow.body)) for flow in parse_flows(written, "sample.co").flows]
    assert flows == [("prices in any language", 5), ("ask again", 2)]


WRONG = [
    ("dfine user greet\n", 1, 1, "`define`"),
    ("define\n", 1, 7, "`user`"),
    ("define user\n", 1, 12, "a few words"),
    ("define bot greet\n", 2, 1, "lines that are indented further"),
    ("define bot greet\nhello\n", 2, 1, "lines that are indented further"),
    ("define subflow\n  stop\n", 1, 1, "the name of the subflow"),
    ("define flow a\n  user\n", 2, 7, "a few words"),
    ('define flow a\n  user "hello\n', 2, 8, "a text in quotation marks"),
    ("define flow a\n  greet user\n", 2, 3, "`user`"),
    ("define flow a\n  usernames\n", 2, 3, "`user`"),
    ("define flow a\n  user x\n bot y\n", 3, 2, ""),
    ("define flow a\n  user x\n    bot y\n", 3, 5, "a text in quotation marks"),
    ("define flow a\n  if\n    stop\n", 2, 5, "a variable such as $name"),
    ("define flow a\n  if $x\n  stop\n", 3, 3, "lines that are indented further"),
    ("define flow a\n  if $x = 1\n    stop\n", 2, 9, "the end of the line"),
    ("define flow a\n  else\n    stop\n", 2, 3, "`user`"),
    ("define flow a\n  when x\n    stop\n", 2, 8, "`user`"),
    ("define flow a\n  $x execute b\n", 2, 6, "`=`"),
    ("define flow a\n  $x = execute\n", 2, 15, "a name"),
    ("define flow a\n  execute b(1)\n", 2, 13, "a name"),
    ("define flow a\n  execute b(c=1\n", 2, 16, "`)`"),
    ("define flow a\n  execute b(c=1, c=2)\n", 2, 12, "another name"),
    ("define flow a\n  $x = 1 +\n", 2, 11, "a number"),
    ("define flow a\n  $x = (1\n", 2, 10, "`)`"),
    ("define flow a\n  $x = 5 5\n", 2, 10, "the end of the line"),
    ("define flow a\n  priority high\n", 2, 12, "a number"),
    ("define flow a\n  break\n", 2, 3, "`stop`"),
    ("define flow a\n  do\n", 2, 5, "the name of a subflow"),
    ('define flow a\n  """no end\n', 2, 3, "`user`"),
    ('define user a\n  "no end\n  here"\n', 2, 3, "three quotation marks"),
    ("define user a\n  “curled”\n", 2, 3, '`"text"`'),
    ('define flow a\n  $x = f"{$x}"\n', 2, 9, '`"text"`'),
    ("define flow a\n  $x = await f(a=1)\n", 2, 14, "`execute"),
    ("define flow a\n  await f(a=1)\n", 2, 3, "`execute"),
    ('define flow a\n  execute f("abc", 3)\n', 2, 13, "`name=value`"),
    ("define flow a\n  execute f(a=1, 3)\n", 2, 18, "`name=value`"),
    ("define flow a\n  do greet $name\n", 2, 12, "`do name(key=$value)`"),
    ("define flow a\n  call greet\n", 2, 3, "`do`"),
    ("define flow a\n  for $i in [1]\n    stop\n", 2, 3, "`while`"),
    ('define flow a\n  meta {"priority": 3}\n  stop\n', 2, 8, "`key: value`"),
    ("define flow a\n  meta\n    priority: high\n  stop\n", 1, 1, "a number"),
    ('import core\n\ndefine user a\n  "b"\n', 1, 1, "`define`"),
    ("flow main\n  match X()\n", 1, 1, "`define flow`"),
]


@pytest.mark.parametrize(("text", "line", "column", "expected"), WRONG)
def test_an_error_names_its_place_and_what_was_expected(
    text: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(FlowSyntaxError) as caught:
        parse_flows(text, "wrong.co")
    error = caught.value
    assert (error.place.line, error.place.column) == (line, column), error
    assert expected in "".join(error.expected), error.expected
    assert str(error).startswith(f"wrong.co:{line}:{column}: ")


def mutations(seed: int) -> Iterator[str]:
    """Endless: the sample with a few characters, lines or indentations wrong."""
    chance = random.Random(seed)
    while True:
        text: str = str(SAMPLE)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(text))
            lines = text.split("\n")
            number = chance.randrange(len(lines))
            match chance.randrange(5):
                case 0:
                    text = text[:at] + text[at + chance.randint(1, 9) :]
                case 1:
                    text = text[:at] + chance.choice("\"'()[]{}$=.:,#\n\t\\%{}") + text[at:]
                case 2:
                    lines[number] = " " * chance.randint(0, 6) + lines[number].lstrip()
                    text = "\n".join(lines)
                case 3:
                    del lines[number]
                    text = "\n".join(lines)
                case _:
                    text = text[:at]
            text = text or " x"
        yield text


def malformed(seed: int) -> Iterator[tuple[str, FlowSyntaxError]]:
    """Those of the mutations that are no flows any more."""
    for text in mutations(seed):
        try:
            parse_flows(text, "wrong.co")
        except FlowSyntaxError as error:
            yield text, error


@pytest.mark.slow
def test_two_hundred_malformed_files_each_give_a_line_and_a_column() -> None:
    for text, error in islice(malformed(25), 200):
        assert 1 <= error.place.line <= text.count("\n") + 1, text
        assert error.place.column >= 1, text
        assert error.problem


@pytest.mark.slow
@pytest.mark.parametrize("text", ["(" * 5_000, "  $x = " + "[" * 9_000, "not " * 30_000 + "1"])
def test_deep_nesting_is_an_error_of_the_file(text: str) -> None:
    with pytest.raises(FlowSyntaxError):
        parse_flows(f"define flow a\n  if {text}\n    stop\n", "deep.co")


CONTEXT = {"name": "Ada", "n": 3, "shop": {"city": "Bonn"}, "none": None, "items": [1, 2]}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 % 4 - -1", 3),
        ("$n >= 3 and 'da' in $name", True),
        ("not $missing", True),
        ("$missing == None", True),
        ("1 < $n <= 3", True),
        ("$shop.city + '!'", "Bonn!"),
        ("$shop['city'].upper()", "BONN"),
        ("$items[1] + len($items)", 4),
        ("'Hi $name, {{ n }} of $other'", "Hi Ada, 3 of $other"),
        ("'yes' if $n > 5 else 'no'", "no"),
        ("$none.anything is None", True),
        ("3 not in $items", True),
        ("'n = ' + $n", "n = 3"),
        ("{'a': [1, 2]}['a'][0]", 1),
    ],
)
def test_expressions(written: str, value: object) -> None:
    assert evaluate(assigned(written), CONTEXT) == value


def assigned(written: str) -> Expression:
    """The expression of a flow that gives it to a variable."""
    [flow] = parse_flows(f"define flow\n  $value = {written}\n", "written.co").flows
    [statement] = flow.body
    assert isinstance(statement, Assign)
    return statement.expression


@pytest.mark.parametrize(
    "written",
    [
        "1 / 0",
        "$name - 1",
        "$none < 1",
        "$items[9]",
        "$name.__class__",
        "open('x')",
        "'%999999999d' % 1",
        "'a' * 999999999",
        "$name.format(1)",
        "999999999999 * 999999999999",
    ],
)
def test_an_expression_without_a_value_is_an_error_and_runs_nothing(written: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(assigned(written), CONTEXT)


def test_only_variables_that_are_set_are_filled_in() -> None:
    assert fill_in("$5 for $name and {{name}} at $HOME", CONTEXT) == "$5 for Ada and Ada at $HOME"


def test_entries_are_filled_in_where_there_are_some() -> None:
    context = {"who": {"name": "Ada", "days": [1, 2]}, "text": "Hi", "n": 3}
    assert fill_in("$who.name.", context) == "Ada."
    assert fill_in("{{ who.days[1] }} of $who.days[0]", context) == "2 of 1"
    assert fill_in("$text.Then $n.5 $text[0]", context) == "Hi.Then 3.5 Hi[0]"
    for missing in ("$who.age", "{{ who.age }}", "{{ who.days[7] }}", "{{ text.x }}"):
        assert fill_in(missing, context) == missing
