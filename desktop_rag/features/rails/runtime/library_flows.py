"""The flows below every configuration: the three stages, the rails, their texts.

A definition of the same name replaces one of these. Any thread.
"""

from collections.abc import Sequence
from functools import cache

from desktop_rag.features.rails.language.flow_parser import parse_flows
from desktop_rag.features.rails.language.flow_syntax import FlowFile

NEXT_STEP = "generate next step"
_STAGES = '''
define flow generate user intent
  """What the user said in a canonical form."""
  event user_said
  execute generate_user_intent

define flow generate next step
  """Below the priority of all flows that know what comes next."""
  priority 0.9
  user ...
  execute generate_next_step

define extension flow run input rails
  """Before anything else is done with what the user said."""
  priority 1000
  event user_said
{input_rails}

define parallel extension flow generate bot message
  """The words for what the bot is about to say."""
  priority 100
  bot ...
  if $bot_intent == "remove last message"
    execute remove_last_message
    return
  if $has_knowledge_base
    execute retrieve_relevant_chunks
{retrieval_rails}
{message}

define subflow handle failed action
  if $failed_action == "check_facts"
    if not $checking_output
      bot remove last message
    bot inform answer unknown
  else
    bot inform internal error
  stop
'''
_MESSAGE = """
  execute generate_bot_message
"""
# A message that the author of the rails wrote needs no check, nor does one from a rail.
_CHECKED_MESSAGE = """
  if $checking_output
    execute generate_bot_message
    return
  execute generate_bot_message(is_held=True)
  if $is_held
    $checking_output = True
{output_rails}
    $checking_output = False
    create event bot_said(content=$bot_message)
"""
# The rails for output over the beginning of a message that is still being written.
PIECE_WRITTEN, PIECE_PASSED = "piece_written", "piece_passed"
_PIECE = """
define extension flow check a piece
  priority 1000
  event piece_written
  $checking_output = True
{output_rails}
  $checking_output = False
  create event piece_passed(content=$bot_message)
"""
_RAILS = '''
define subflow self check input
  $allowed = execute check_input
  if not $allowed
    if $config.enable_rails_exceptions
      create event InputRailException(message="The input was blocked.")
    else
      bot refuse to respond
    stop

define subflow jailbreak detection heuristics
  do self check input

define subflow check jailbreak
  do self check input

define subflow self check output
  $allowed = execute check_output
  if not $allowed
    if $config.enable_rails_exceptions
      create event OutputRailException(message="The output was blocked.")
    else
      bot refuse to respond
    stop

define subflow self check facts
  """Only where a flow asked for it by $check_facts."""
  if $check_facts
    $check_facts = False
    $accuracy = execute check_facts
    if not $accuracy
      if $config.enable_rails_exceptions
        create event FactCheckRailException(message="The answer is not in the documents.")
      else
        bot inform answer unknown
      stop

define subflow check grounding
  """Each answer from documents is checked before anybody sees it."""
  if $relevant_passages or $is_own_knowledge
    $check_facts = True
    do self check facts

define subflow mask personal data on output
  $bot_message = execute hide_personal_data(text=$bot_message)

define subflow mask personal data on input
  $user_message = execute hide_personal_data(text=$user_message)

define subflow alignscore check facts
  do check facts

define subflow check facts
  do self check facts

define subflow self check hallucination
  """The same check against the documents, where a flow asked for it."""
  if $check_hallucination
    $check_hallucination = False
    $check_facts = True
    do self check facts
'''
_TEXTS = """
define bot refuse to respond
  "I'm sorry, I can't respond to that."

define bot inform answer unknown
  "I don't know the answer to that."

define bot inform internal error
  "I'm sorry, something went wrong here."
"""
# For configurations that want it: each answer from documents is checked once it is said.
_GROUNDING = """
define extension flow grounding
  priority 10
  bot ...
  if ($relevant_passages or $is_own_knowledge) and $bot_intent != "remove last message"
    $accurate = execute check_facts
    if not $accurate
      bot remove last message
      bot inform answer unknown
"""


@cache
def library_flows(
    input_rails: tuple[str, ...] = (),
    output_rails: tuple[str, ...] = (),
    retrieval_rails: tuple[str, ...] = (),
    *,
    is_grounded: bool = False,
) -> FlowFile:
    """The flows with the rails of a configuration, each a statement: `do self check input`."""
    stages = _STAGES.replace("{message}", _CHECKED_MESSAGE if output_rails else _MESSAGE)
    stages = stages.replace("{output_rails}", _lines(output_rails, 4))
    if output_rails:
        stages += _PIECE.replace("{output_rails}", _lines(output_rails, 2))
    stages = stages.replace("{retrieval_rails}", _lines(retrieval_rails, 4))
    stages = stages.replace("{input_rails}", _lines(input_rails or ("return",), 2))
    grounding = _GROUNDING if is_grounded else ""
    return parse_flows(stages + _RAILS + _TEXTS + grounding, "library.co")


def _lines(calls: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + call for call in calls)
