import type { AgentState } from "../../schema/status.ts";
import type { TypingOutcome } from "./type-message.ts";

/** The state of message delivery to a program that reads keys. */
export type InputState =
  /** The program is working; new messages wait in the inbox. */
  | "busy"
  /** The program is waiting for input, and there is no message. */
  | "idle"
  /** A message is being typed. */
  | "typing"
  /** Like `typing`, but the program has already sent its next idle signal. */
  | "answered"
  /** The program is waiting, but its screen is not the idle screen: a person is using it. Nothing was typed. */
  | "held"
  /** The text is in the program's input, but Enter was not pressed. */
  | "unsent"
  | "gone";

export type InputEvent =
  /** The program reports that it is working. */
  | "busy"
  /** The program reports that it is waiting; its current screen is the idle screen. */
  | "idle"
  /** A message is in the inbox. */
  | "message"
  /** The slow check, at most every 5 s: only this event can notice that the idle screen is back. */
  | "check"
  /** The inbox was empty when typing was about to begin. */
  | "inbox-empty"
  | TypingOutcome["kind"]
  | "gone";

export type InputAction =
  /** Take the oldest message and call `typeMessage()`; its outcome is the next event. Without a message, that is `inbox-empty`. */
  | "type"
  /** Call `submitTyped()`; its outcome is the next event (`unsent` if the screen with the text is not back). */
  | "submit"
  /** The program has the message: remove it from the inbox. */
  | "delivered";

interface InputStep {
  readonly state: InputState;
  readonly actions: readonly InputAction[];
}

type Row = Readonly<Partial<Record<InputEvent, readonly [InputState, ...InputAction[]]>>>;

/** State × event; an event that is not listed changes nothing. */
const STEPS: Readonly<Record<InputState, Row>> = {
  busy: { idle: ["typing", "type"], gone: ["gone"] },
  idle: {
    busy: ["busy"],
    idle: ["typing", "type"],
    message: ["typing", "type"],
    // The bell of a message may have been lost.
    check: ["typing", "type"],
    gone: ["gone"],
  },
  typing: {
    idle: ["answered"],
    "inbox-empty": ["idle"],
    sent: ["busy", "delivered"],
    unconfirmed: ["busy", "delivered"],
    held: ["held"],
    unsent: ["unsent"],
    gone: ["gone"],
  },
  answered: {
    busy: ["typing"],
    "inbox-empty": ["idle"],
    sent: ["typing", "delivered", "type"],
    unconfirmed: ["typing", "delivered", "type"],
    // The check used an older idle screen.
    held: ["typing", "type"],
    unsent: ["unsent"],
    gone: ["gone"],
  },
  held: { busy: ["busy"], idle: ["typing", "type"], check: ["typing", "type"], gone: ["gone"] },
  unsent: {
    // The person has pressed Enter: typing the text again would duplicate it.
    busy: ["busy", "delivered"],
    idle: ["typing", "delivered", "type"],
    check: ["typing", "submit"],
    gone: ["gone"],
  },
  gone: {},
};

/** Returns the next state and the actions for an event. Pure; the caller keeps the state and performs the actions in order. */
export function inputStep(state: InputState, event: InputEvent): InputStep {
  const [next, ...actions] = STEPS[state][event] ?? [state];
  return { state: next, actions };
}

/** Returns the event for the outcome of typing. */
export function toInputEvent(outcome: TypingOutcome): InputEvent {
  return "why" in outcome && outcome.why === "gone" ? "gone" : outcome.kind;
}

/** The agent state to show for each input state. */
export const SHOWN_STATES: Readonly<Record<InputState, AgentState>> = {
  busy: "running",
  idle: "idle",
  typing: "running",
  answered: "running",
  held: "needs-input",
  unsent: "needs-input",
  gone: "exited",
};
