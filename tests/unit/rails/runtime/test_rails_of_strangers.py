"""Rails as strangers write them, each in a style of its own: what they say in a conversation.

The examples are said word for word, so that no model is needed.
"""

from pathlib import Path

import pytest

from desktop_rag.features.rails.actions.action_calls import make_action
from desktop_rag.features.rails.actions.rails_world import RailsWorld
from desktop_rag.features.rails.configuration.rails_configuration import read_rails
from desktop_rag.features.rails.rail_engine import Rails, transcript
from tests.conftest import bundled_embedder

TABS = """# Bike shop
define user greet
\t"hello"   # the usual
\t"hi there"

define bot greet back
\t"Hello!"

define bot ask what is wrong
\t"What is wrong with it?"

define flow greeting
\tuser greet
\tbot greet back # always

\t# and then
\tbot ask what is wrong
"""
TEXTS = '''
define user ask for the rules
  'Which rules are there?'

define bot explain the rules
  """1. Be on time.
  2. Bring a "helmet"."""

define flow rules
  """Explains the rules
  of the club."""
  user ask for the rules
  bot explain the rules
  bot "First\\nsecond"
'''
WHEN = """
define flow order pizza
    user order pizza
        "I'd like a pizza"
    bot ask for cheese
        "Extra cheese?"
    when user agree
        $cheese = true
        bot say the order
    or when user hesitate
        bot "Take your time."
    else when user refuse
        $cheese = false
        bot say the order
    else
        bot "Yes or no?"

define user agree
    "yes please"
define user refuse
    "no thanks"
define user hesitate
    "maybe later"
define bot say the order
    "Cheese: $cheese."
"""
CONDITIONS = """
define user ask to enter
  "Can I come in?"
define flow check age
  user ask to enter
  $age = 16
  $age += 1
  if $name is none or not $age
    bot "Who are you?"
    stop
  elif $age < 18 and not ($with_parent == True):
    bot "Sorry, $age is too young."
  else if $age >= 65 or ($member and $paid == true)
    bot "Welcome back."
  else
    bot "Welcome."
  if $name not in ["Bob", 'Eve']
    bot "Bye, {{ name }}."
define flow name first
  user tell the name
    "I am Ann"
  set $name = "Ann"
  bot "Hello {{name}}."
"""
EXECUTE = """
define flow weather
  user ask for the weather
    "What is the weather like?"
  $report = execute get_weather( city = "Oslo", days=[1, 2],
                                 unit={"name": "C"} )
  $first = $report.days[0]["high"]
  if $first > 3
    bot "$first degrees in $report.city."
"""
SUBFLOWS = """
define flow
  user ask for a refund
    "I want a refund"
  do ask for the number
  do say thanks(name="Ann")
  bot "Refunded."

define subflow ask for the number $reason
  bot "Which order?"
  user ...
  if $last_user_message == "none"
    bot "Then no refund."
    abort
  $order = $last_user_message
  done

define subflow say thanks $name
  bot "Thanks, $name, for $order."
  if not $order
    return
"""
META = """
define user shout
  "fire!"

define flow less
  meta
    priority: 0.5
  user shout
  bot "Pardon?"

define flow more
  meta
    priority: 10
    is_system_flow: True
  user shout
  bot "Leave the house."
  event own_siren(level="...")
  bot "It is loud."

define flow most
  priority 5
  user shout
  bot "Calm down."
"""
LOOPS = """
def user start the quiz
  "start"

def flow quiz
  user start the quiz
  $tries = 0
  checkpoint ask again
  bot "Question?"
  user ...
  $tries += 1
  if $tries < 2
    go to ask again
  while True
    $tries -= 1
    if $tries == 0
      break
    continue
  label end of it
  bot "Done: $tries."
"""
UNICODE = """
define user nach Öffnungszeiten fragen
  "Wann habt ihr geöffnet?"
  "営業時間は？"
define bot Öffnungszeiten nennen
  "Wir haben von 9–18 Uhr geöffnet. 😀"
define flow öffnungszeiten
   user nach Öffnungszeiten fragen
   bot Öffnungszeiten nennen
   $größe = 3
   bot "Größe: $größe"
"""
EVENTS = """
define parallel flow watch
  event Greeted(who="Ann")
  bot "I saw Ann."

define flow greet
  user greet
    "hello"
  create event Greeted(who="Bob")
  create event Greeted(who="Ann")
  bot "Hello."
"""

CONVERSATIONS = {
    "tabs": (TABS, {"Hi there!": ["Hello!", "What is wrong with it?"]}),
    "texts": (
        TEXTS,
        {"Which rules are there?": ['1. Be on time.\n  2. Bring a "helmet".', "First\nsecond"]},
    ),
    "when": (WHEN, {"I'd like a pizza": ["Extra cheese?"], "no thanks": ["Cheese: False."]}),
    "or when": (WHEN, {"I'd like a pizza": ["Extra cheese?"], "Maybe later": ["Take your time."]}),
    "conditions": (
        CONDITIONS,
        {"I am Ann": ["Hello Ann."], "Can I come in?": ["Sorry, 17 is too young.", "Bye, Ann."]},
    ),
    "unset": (CONDITIONS, {"Can I come in?": ["Who are you?"]}),
    "execute": (EXECUTE, {"What is the weather like?": ["7 degrees in Oslo."]}),
    "subflows": (
        SUBFLOWS,
        {"I want a refund": ["Which order?"], "17": ["Thanks, Ann, for 17.", "Refunded."]},
    ),
    "abort": (SUBFLOWS, {"I want a refund": ["Which order?"], "none": ["Then no refund."]}),
    "meta": (META, {"fire!": ["Leave the house."]}),
    "loops": (LOOPS, {"start": ["Question?"], "one": ["Question?"], "two": ["Done: 0."]}),
    "unicode": (UNICODE, {"営業時間は？": ["Wir haben von 9–18 Uhr geöffnet. 😀", "Größe: 3"]}),
    "events": (EVENTS, {"hello": ["I saw Ann.", "Hello."]}),
}


def get_weather(city: str, days: list, unit: dict) -> dict:
    return {"city": city, "days": [{"high": 7, "unit": unit["name"]} for _ in days]}


@pytest.mark.parametrize("encoding", ["plain", "windows"])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_goes_as_its_author_means_it(
    name: str, encoding: str, tmp_path: Path
) -> None:
    flows, turns = CONVERSATIONS[name]
    if encoding == "windows":  # a mark of the order of bytes, and lines that end in two letters
        flows = "\ufeff" + flows.replace("\n", "\r\n")
        (tmp_path / "config.yml").write_text('\ufeffcolang_version: "1.0"\r\n', "utf-8")
    (tmp_path / "rails.co").write_bytes(flows.encode())
    world = RailsWorld(embed=bundled_embedder().embed_passages)
    engine = Rails(read_rails(tmp_path), world, [make_action("get_weather", get_weather)])
    assert not engine.unknown_actions()
    conversation = engine.begin()
    for text, expected in turns.items():
        turn = engine.say(conversation, text)
        said = [told for who, told in transcript(list(turn)) if who == "bot"]
        assert said == expected
        conversation = turn.conversation
