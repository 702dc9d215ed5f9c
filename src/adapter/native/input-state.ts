import type { AgentState } from "../../schema/status.ts";
import type { Talk } from "./type-message.ts";

/** Where a program that reads keys stands with what is to be said to it. */
export type TalkState =
  /** It works; what comes meanwhile waits in the inbox. */
  | "busy"
  /** It waits, and nothing is to be said. */
  | "idle"
  /** A talk is under way. */
  | "talking"
  /** As `talking`, and its next idle signal has come already. */
  | "answered"
  /** It waits, but its screen is not the idle one: a person has it. Nothing was typed. */
  | "held"
  /** The text stands in its input and Enter was not pressed. */
  | "unsent"
  | "gone";

export type TalkEvent =
  /** It has gone to work, as it says itself. */
  | "busy"
  /** It waits, as it says itself; its screen now is the idle one. */
  | "idle"
  /** Something is in the inbox. */
  | "message"
  /** The slow check (never faster than every 5 s): the one event that tells of a screen that is back. */
  | "look"
  /** The inbox was empty when a talk was to begin. */
  | "nothing"
  | Talk["kind"]
  | "gone";

export type TalkAction =
  /** Take the oldest message, or raise `nothing`, and say it: `talk()`; what it gives is the next event. */
  | "talk"
  /** Press Enter where the screen with the text is back: `enter()`; what it gives is the next event (without such a screen `unsent`). */
  | "enter"
  /** The message is the program's now: take it out of the inbox. */
  | "delivered";

export interface TalkStep {
  readonly state: TalkState;
  readonly actions: readonly TalkAction[];
}

type Row = Readonly<Partial<Record<TalkEvent, readonly [TalkState, ...TalkAction[]]>>>;

/** State × event; what is not here changes nothing. */
const STEPS: Readonly<Record<TalkState, Row>> = {
  busy: { idle: ["talking", "talk"], gone: ["gone"] },
  idle: {
    busy: ["busy"],
    idle: ["talking", "talk"],
    message: ["talking", "talk"],
    // The bell of a message may have been lost.
    look: ["talking", "talk"],
    gone: ["gone"],
  },
  talking: {
    idle: ["answered"],
    nothing: ["idle"],
    sent: ["busy", "delivered"],
    unconfirmed: ["busy", "delivered"],
    held: ["held"],
    unsent: ["unsent"],
    gone: ["gone"],
  },
  answered: {
    busy: ["talking"],
    nothing: ["idle"],
    sent: ["talking", "delivered", "talk"],
    unconfirmed: ["talking", "delivered", "talk"],
    // The idle screen is a newer one than that which the talk was held against.
    held: ["talking", "talk"],
    unsent: ["unsent"],
    gone: ["gone"],
  },
  held: { busy: ["busy"], idle: ["talking", "talk"], look: ["talking", "talk"], gone: ["gone"] },
  unsent: {
    // It stood in the person's hands, who has entered it: to say it again would say it twice.
    busy: ["busy", "delivered"],
    idle: ["talking", "delivered", "talk"],
    look: ["talking", "enter"],
    gone: ["gone"],
  },
  gone: {},
};

/** What follows from an event. Pure; whoever drives a program keeps the state, and does the actions in their order. */
export function talkStep(state: TalkState, event: TalkEvent): TalkStep {
  const [next, ...actions] = STEPS[state][event] ?? [state];
  return { state: next, actions };
}

/** What a talk that is over says to the table. */
export function toInputEvent(talk: Talk): TalkEvent {
  return "why" in talk && talk.why === "gone" ? "gone" : talk.kind;
}

/** What is shown of an agent that is in such a state. */
export const SHOWN_AS: Readonly<Record<TalkState, AgentState>> = {
  busy: "running",
  idle: "idle",
  talking: "running",
  answered: "running",
  held: "needs-input",
  unsent: "needs-input",
  gone: "exited",
};
