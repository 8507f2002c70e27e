"""The state of a conversation, and what its flows do next. Pure functions; any thread.

Of all flows that could act the first does: reactions before what they react to, then by priority,
then flows that name the intent before those that take any, then the earliest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from desktop_rag.features.rails.language.expression_values import ExpressionError, as_text, evaluate
from desktop_rag.features.rails.language.flow_program import (
    End,
    Flow,
    Halt,
    Instruction,
    Jump,
    Program,
    Say,
    Test,
    Wait,
)
from desktop_rag.features.rails.language.flow_syntax import (
    Arguments,
    Assign,
    CreateEvent,
    Do,
    Execute,
)
from desktop_rag.features.rails.rail_events import (
    BotIntent,
    BotSaid,
    CommandProposed,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
    UserIntent,
    UserSaid,
    plain,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A position within a flow."""

    flow: str
    at: int


@dataclass(frozen=True, slots=True)
class FlowRun:
    """A flow under way; `frames` end with the subflow that it is in.

    A reaction has a higher `level` than what it reacts to, and runs first. `cause` is the kind of
    event that moved it last: flows moved by the same intent compete, and the losers end.
    """

    run_id: int
    frames: tuple[Frame, ...]
    level: int
    cause: str
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class RailsState:
    """The variables and flows of a conversation, made from its events alone.

    `acting` is the flow that waits for its action, `proposed` the action that waits for the person.
    """

    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runs: tuple[FlowRun, ...] = ()
    next_id: int = 1
    acting: int | None = None
    proposed: CommandProposed | None = None


def flow_of(program: Program, run: FlowRun) -> Flow:
    """The flow of a run, whichever subflow it is in."""
    return program.flows[run.frames[0].flow]


def instruction_of(program: Program, run: FlowRun) -> Instruction:
    """What the flow does next."""
    frame = run.frames[-1]
    return program.flows[frame.flow].instructions[frame.at]


def is_waiting(program: Program, run: FlowRun) -> bool:
    """Whether the flow waits for an event."""
    return isinstance(instruction_of(program, run), Wait)


# Runs when an action failed, or a flow can't go on.
FAILURE_FLOW = "handle failed action"
_MOST_SILENT_STEPS = 2_000
_DEEPEST_CALLS = 30
_MOST_JUMPS = 50


@dataclass(frozen=True, slots=True)
class Step:
    """The next event, the run that makes it, and the state with that run moved on."""

    event: RailEvent
    run_id: int | None
    state: RailsState


def next_step(program: Program, state: RailsState) -> Step:
    """The next step of the flows, within limits; `listen` when none is left."""
    for _ in range(_MOST_SILENT_STEPS):
        run = _foremost(program, state)
        if run is None:
            return Step(Listen(), None, state)
        try:
            done = _advanced(program, state, run)
        except ExpressionError as exc:
            done = fail(program, state, "", f"{flow_of(program, run).place}: {exc}")
        if isinstance(done, Step):
            return done
        state = done
    # The flows loop without an event.
    return Step(Listen(), None, replace(state, runs=waiting_runs(program, state)))


def fail(program: Program, state: RailsState, action: str, reason: str) -> RailsState:
    """End all flows under way and start the one for failures, unless it failed itself."""
    waiting = waiting_runs(program, state)
    context = {**state.context, "failed_action": action, "failure": reason}
    is_failing = any(run.frames[0].flow == FAILURE_FLOW for run in state.runs if run not in waiting)
    if is_failing or FAILURE_FLOW not in program.flows:
        return replace(state, runs=waiting, context=context, acting=None)
    handler = FlowRun(state.next_id, (Frame(FAILURE_FLOW, 0),), 0, "")
    runs = (*waiting, handler)
    return replace(state, runs=runs, context=context, next_id=state.next_id + 1, acting=None)


def waiting_runs(program: Program, state: RailsState) -> tuple[FlowRun, ...]:
    """The flows that wait for an event."""
    return tuple(run for run in state.runs if is_waiting(program, run))


def moved(state: RailsState, run: FlowRun, at: int, cause: str | None = None) -> RailsState:
    """The state with the flow at another place."""
    return _with(state, run, placed(run, at, run.cause if cause is None else cause))


def placed(run: FlowRun, at: int, cause: str) -> FlowRun:
    """The flow at another place."""
    return replace(run, frames=(*run.frames[:-1], Frame(run.frames[-1].flow, at)), cause=cause)


def settled(program: Program, state: RailsState) -> RailsState:
    """The state without the flows that have come to their end."""
    for run in state.runs:
        frames = run.frames
        for _ in range(_MOST_JUMPS):
            frame = frames[-1]
            instruction = program.flows[frame.flow].instructions[frame.at]
            if isinstance(instruction, Jump):
                frames = (*frames[:-1], replace(frame, at=instruction.target))
            elif isinstance(instruction, End) and frames[1:]:
                frames = frames[:-1]
            else:
                break
        if isinstance(program.flows[frames[-1].flow].instructions[frames[-1].at], End):
            state = replace(state, runs=tuple(r for r in state.runs if r.run_id != run.run_id))
        elif frames != run.frames:
            state = _with(state, run, replace(run, frames=frames))
    return state


# --- one flow ------------------------------------------------------------------------------------


def _foremost(program: Program, state: RailsState) -> FlowRun | None:
    ready = [run for run in state.runs if not is_waiting(program, run)]
    return min(
        ready,
        key=lambda r: (-r.level, -flow_of(program, r).priority, r.is_general, r.run_id),
        default=None,
    )


def _advanced(  # noqa: PLR0911  one case for each instruction
    program: Program, state: RailsState, run: FlowRun
) -> Step | RailsState:
    """The next event of a flow, or the state after a silent step."""
    at = run.frames[-1].at
    match instruction_of(program, run):
        case Jump(target):
            return moved(state, run, target)
        case Test(condition, target):
            return moved(state, run, at + 1 if evaluate(condition, state.context) else target)
        case Halt():
            return replace(state, runs=waiting_runs(program, state))
        case Say(form, instruction):
            return Step(BotIntent(form, instruction), run.run_id, state)
        case Execute(action, arguments):
            event = StartAction(action, _values(arguments, state.context))
            return Step(event, run.run_id, state)
        case Assign(variable, expression):
            event = ContextUpdate(_values(((variable, expression),), state.context))
            return Step(event, run.run_id, moved(state, run, at + 1))
        case CreateEvent(name, arguments):
            event = _made(name, _values(arguments, state.context))
            return Step(event, run.run_id, moved(state, run, at + 1))
        case Do(flow, arguments):
            return _entered(program, moved(state, run, at + 1), run, flow, arguments)
        case _:
            return _returned(state, run)


def _entered(
    program: Program, state: RailsState, run: FlowRun, name: str, arguments: Arguments
) -> Step | RailsState:
    flow = as_text(state.context.get(name[1:])) if name.startswith("$") else name
    if flow not in program.flows:
        raise ExpressionError(f"There is no subflow “{flow}”.")
    if len(run.frames) >= _DEEPEST_CALLS:
        raise ExpressionError(f"The subflow “{flow}” calls itself again and again.")
    caller = next(found for found in state.runs if found.run_id == run.run_id)
    inside = replace(caller, frames=(*caller.frames, Frame(flow, 0)))
    entered = _with(state, caller, inside)
    if not arguments:
        return entered
    return Step(ContextUpdate(_values(arguments, state.context)), run.run_id, entered)


def _returned(state: RailsState, run: FlowRun) -> RailsState:
    if len(run.frames) == 1:
        return replace(state, runs=tuple(r for r in state.runs if r.run_id != run.run_id))
    return _with(state, run, replace(run, frames=run.frames[:-1]))


def _with(state: RailsState, run: FlowRun, new: FlowRun) -> RailsState:
    return replace(state, runs=tuple(new if r.run_id == run.run_id else r for r in state.runs))


def _values(arguments: Arguments, context: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(evaluate(value, context)) for name, value in arguments}


def _made(name: str, values: Mapping[str, Any]) -> RailEvent:
    """The event that a flow creates, of a known kind or an OwnEvent."""
    if name == BotSaid.kind:
        return BotSaid(as_text(values.get("content", "")))
    if name == UserSaid.kind:
        return UserSaid(as_text(values.get("content", "")))
    if name in (BotIntent.kind, UserIntent.kind):
        cls = BotIntent if name == BotIntent.kind else UserIntent
        return cls(as_text(values.get("intent", "")))
    if name == ContextUpdate.kind:
        return ContextUpdate(values)
    return OwnEvent(name, values)
