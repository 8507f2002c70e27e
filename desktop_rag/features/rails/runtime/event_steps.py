"""What an event changes: pure functions of the state, so that runs can be replayed. Any thread."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop_rag.features.rails.language.expression_values import ExpressionError, evaluate
from desktop_rag.features.rails.language.flow_program import (
    Flow,
    Jump,
    Pattern,
    Program,
    Say,
    Test,
    Wait,
)
from desktop_rag.features.rails.language.flow_syntax import Execute
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    BotIntent,
    BotSaid,
    CommandProposed,
    Confirmation,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
    UserIntent,
    UserSaid,
    event_fields,
)
from desktop_rag.features.rails.runtime.next_step import (
    FlowRun,
    Frame,
    RailsState,
    Step,
    fail,
    instruction_of,
    is_waiting,
    moved,
    next_step,
    placed,
    settled,
    waiting_runs,
)

# The event that ends a turn at a limit, or because the person stopped it.
TURN_ENDED = "turn_ended"
# Set while the rails for output check a message that nobody has seen yet.
CHECKING = "checking_output"
# The intent by which a flow takes back what the bot said last.
REMOVE_LAST_MESSAGE = "remove last message"
_MOST_TESTS = 200
# Runs of a parallel flow at the same time.
_MOST_AT_ONCE = 50
# Events that don't end the wait for the person's word.
_ABOUT_PROPOSALS = (CommandProposed, Confirmation, ActionFinished, ContextUpdate, Listen)
# Flows moved by one of these compete for what happens next.
_COMPETING = {"user_intent", "bot_intent"}


def receive(
    program: Program, state: RailsState, event: RailEvent, step: Step | None = None
) -> RailsState:
    """The state after an event, whether a flow made it or the world did.

    `step` is the next step of this state, if it is known already.
    """
    if state.proposed is not None and not isinstance(event, _ABOUT_PROPOSALS):
        # Going on without a word on it is no consent.
        state, step = _given_up(program, state), None
    step = step or next_step(program, state)
    author = None
    if step.event == event:
        state = step.state
        author = next((run for run in state.runs if run.run_id == step.run_id), None)
    state = replace(state, context=_context(state.context, event))
    if isinstance(event, ActionFinished):
        state = _after_action(program, state, event)
    if isinstance(event, StartAction):
        state = replace(state, acting=step.run_id if author else None)
    if isinstance(event, CommandProposed):
        state = replace(state, proposed=event)
    before = state
    state = _matched(program, state, event, author)
    if isinstance(event, StartAction | BotIntent):
        state = _without_losers(program, state, before, author)
    if isinstance(event, OwnEvent) and event.name == TURN_ENDED:
        state = replace(state, runs=waiting_runs(program, state), acting=None)
    return _started(program, settled(program, state), event, author)


def replay(program: Program, state: RailsState, events: Iterable[RailEvent]) -> RailsState:
    """The state after all events."""
    for event in events:
        state = receive(program, state, event)
    return state


# --- variables -----------------------------------------------------------------------------------


def _context(context: Mapping[str, Any], event: RailEvent) -> Mapping[str, Any]:
    """The variables after an event."""
    match event:
        case UserSaid(content):
            said = {"user_message": content, "last_user_message": content}
            return {**context, **said, CHECKING: False}
        case UserIntent(intent):
            return {**context, "user_intent": intent}
        case BotIntent(intent):
            # The passages of a message are those found for it, and not for the one before.
            is_new = context.get("has_knowledge_base") and not intent.startswith("$")
            forgotten = {"relevant_chunks": "", "relevant_passages": []} if is_new else {}
            is_taken_back = intent == REMOVE_LAST_MESSAGE
            return {**context, **({} if is_taken_back else forgotten), "bot_intent": intent}
        case BotSaid(content):
            # What is said while a message is checked doesn't replace it.
            checked = {} if context.get(CHECKING) else {"bot_message": content}
            return {**context, **checked, "last_bot_message": content}
        case ContextUpdate(data):
            return {**context, **data}
        case OwnEvent(name, data):
            return {**context, "event": {"type": name, **data}}
        case _:
            return context


def _after_action(program: Program, state: RailsState, event: ActionFinished) -> RailsState:
    """The waiting flow goes on with the result of its action, or fails with it."""
    run = next((run for run in state.runs if run.run_id == state.acting), None)
    if event.status is ActionStatus.REFUSED:
        return _given_up(program, state)
    state = replace(state, acting=None, proposed=None)
    if run is None:
        return state
    instruction = instruction_of(program, run)
    if not isinstance(instruction, Execute) or instruction.action != event.action_name:
        return state
    if event.status is not ActionStatus.SUCCESS:
        return fail(program, state, event.action_name, event.status.value)
    if instruction.result:
        state = replace(state, context={**state.context, instruction.result: event.result})
    return moved(state, run, run.frames[-1].at + 1)


def _given_up(program: Program, state: RailsState) -> RailsState:
    """The state after a refusal, which ends all flows of the turn."""
    return replace(state, runs=waiting_runs(program, state), acting=None, proposed=None)


# --- flows under way -----------------------------------------------------------------------------


def _matched(
    program: Program, state: RailsState, event: RailEvent, author: FlowRun | None
) -> RailsState:
    """Moves on the flows that waited for this event, or were about to say just this."""
    runs: list[FlowRun] = []
    for run in state.runs:
        target = _target(program, run, event, state.context)
        if target is None and isinstance(event, BotIntent):
            target = _said_target(program, run, event, state.context, author)
        runs.append(run if target is None else placed(run, target, event.kind))
    return replace(state, runs=tuple(runs))


def _target(
    program: Program, run: FlowRun, event: RailEvent, context: Mapping[str, Any]
) -> int | None:
    instruction = instruction_of(program, run)
    if not isinstance(instruction, Wait):
        return None
    for pattern, target in instruction.cases:
        if fits(pattern, event, context):
            return target
    return instruction.otherwise if isinstance(event, UserIntent) else None


def _said_target(
    program: Program,
    run: FlowRun,
    event: BotIntent,
    context: Mapping[str, Any],
    author: FlowRun | None,
) -> int | None:
    """Where a flow that was about to say the same goes on."""
    if author is not None and run.run_id == author.run_id:
        return run.frames[-1].at + 1
    at = _slid(program.flows[run.frames[-1].flow], run.frames[-1].at, context)
    instruction = program.flows[run.frames[-1].flow].instructions[at]
    is_same = isinstance(instruction, Say) and instruction.form in (event.intent, "...")
    return at + 1 if is_same and run.level == (author.level if author else 0) else None


def _without_losers(
    program: Program, state: RailsState, before: RailsState, author: FlowRun | None
) -> RailsState:
    """Without the competing flows that wanted something else than an ordinary flow does now."""
    if author is not None and author.level > 0:
        return state
    stayed = {run.run_id: run for run in before.runs}
    return replace(
        state,
        runs=tuple(
            run
            for run in state.runs
            if stayed.get(run.run_id) != run
            or (author is not None and run.run_id == author.run_id)
            or run.level > 0
            or run.cause not in _COMPETING
            or is_waiting(program, run)
        ),
    )


# --- flows that start ----------------------------------------------------------------------------


def _started(
    program: Program, state: RailsState, event: RailEvent, author: FlowRun | None
) -> RailsState:
    kind = event.name if isinstance(event, OwnEvent) else event.kind
    flows = program.started_by.get(kind, ())
    if not flows:
        return state
    above = max((r.level for r in state.runs if not is_waiting(program, r)), default=0) + 1
    by = author.frames[0].flow if author else ""
    for flow in flows:
        target = _opened(flow, event, state.context)
        running = [run for run in state.runs if run.frames[0].flow == flow.name]
        is_busy = any(not is_waiting(program, run) for run in running) or flow.name == by
        # A flow that waits for the user begins anew, unless this event moved it.
        if target is None or (is_busy and not flow.is_parallel):
            continue
        left = _left_for_another(program, running) if flow.is_parallel else running
        if left is None:
            continue
        kept = tuple(run for run in state.runs if run not in left)
        level = above if flow.is_reaction else 0
        is_general = all(pattern.is_any for pattern in flow.opening)
        new = FlowRun(state.next_id, (Frame(flow.name, target),), level, event.kind, is_general)
        state = replace(state, runs=(*kept, new), next_id=state.next_id + 1)
    return state


def _left_for_another(program: Program, running: Sequence[FlowRun]) -> Sequence[FlowRun] | None:
    """The runs of a parallel flow that give way to one more; None if it can't be started.

    A flow that answers its own messages would start runs without end, and each step looks at all.
    """
    if len(running) < _MOST_AT_ONCE:
        return ()
    waiting = [run for run in running if is_waiting(program, run)]
    return waiting[:1] or None


def _opened(flow: Flow, event: RailEvent, context: Mapping[str, Any]) -> int | None:
    first = flow.instructions[0]
    assert isinstance(first, Wait)
    found = (target for pattern, target in first.cases if fits(pattern, event, context))
    return next(found, None)


# --- patterns ------------------------------------------------------------------------------------


def fits(pattern: Pattern, event: RailEvent, context: Mapping[str, Any]) -> bool:
    """Whether an event fits the pattern."""
    if pattern.kind != (event.name if isinstance(event, OwnEvent) else event.kind):
        return False
    if isinstance(event, UserIntent | BotIntent) and (pattern.is_any or pattern.form):
        return pattern.is_any or pattern.form == event.intent
    is_failed = isinstance(event, ActionFinished) and event.status is not ActionStatus.SUCCESS
    # Only flows that ask for the status hear of failed actions.
    if is_failed and all(name != "status" for name, _ in pattern.arguments):
        return False
    found = event_fields(event)
    try:
        wanted = ((name, evaluate(value, context)) for name, value in pattern.arguments)
        return all(value == "..." or found.get(name) == value for name, value in wanted)
    except ExpressionError:
        return False


def _slid(flow: Flow, at: int, context: Mapping[str, Any]) -> int:
    """The place after the conditions that come first."""
    for _ in range(_MOST_TESTS):
        instruction = flow.instructions[at]
        if isinstance(instruction, Jump):
            at = instruction.target
        elif isinstance(instruction, Test):
            try:
                at = at + 1 if evaluate(instruction.condition, context) else instruction.target
            except ExpressionError:
                break
        else:
            break
    return at
