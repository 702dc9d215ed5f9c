import type { LeadRest } from "../lead/lead.ts";

/** The activity of a session, as protocol version 2 names it. */
export type Activity = "idle" | "running" | "requires_action";

/** How a prompt ended. */
export type PromptEnd =
  | { readonly how: "done" | "cancelled" }
  | { readonly how: "failed"; readonly failure: string };

export type SessionEvent =
  | { readonly type: "prompted"; readonly prompt: number }
  /** The line of a prompt is in the lead's inbox. */
  | { readonly type: "saved"; readonly prompt: number; readonly key: string }
  | { readonly type: "unsaved"; readonly prompt: number; readonly failure: string }
  /** A turn began with the oldest line that waited. */
  | { readonly type: "taken" }
  | { readonly type: "turn_started" }
  | { readonly type: "turn_ended" }
  | { readonly type: "rested"; readonly rest: LeadRest; readonly failure?: string | undefined }
  /** @param inTurn whether a turn was interrupted, whose end follows */
  | { readonly type: "cancelled"; readonly inTurn: boolean }
  /**
   * The number of requests that the client has, and has not answered.
   * @param isLeft the last change was a request that its user left unanswered
   */
  | { readonly type: "requests"; readonly open: number; readonly isLeft?: boolean }
  | { readonly type: "ended"; readonly failure: string };

/** A consequence of an event. */
export type SessionEffect =
  | { readonly type: "end_prompt"; readonly prompt: number; readonly end: PromptEnd }
  /** The line starts no turn any more. */
  | { readonly type: "withdraw"; readonly key: string }
  | { readonly type: "activity"; readonly activity: Activity };

interface Prompt {
  readonly id: number;
  readonly key?: string;
  /** A turn has begun with it. */
  readonly isTaken: boolean;
}

/**
 * The state of a session: its prompts until they end, and the lead's activity. Knows no version of the protocol: version 1 answers a
 * prompt at its end, version 2 reports the activity.
 */
export interface SessionState {
  readonly prompts: readonly Prompt[];
  /** Prompts that were cancelled before their line was saved. */
  readonly unsaved: readonly number[];
  readonly isInTurn: boolean;
  /** The user has cancelled; the interrupted turn has not ended. */
  readonly isCancelling: boolean;
  /** Why the lead rests; undefined while it or a teammate works. */
  readonly rest: LeadRest | undefined;
  readonly openRequests: number;
}

export const NEW_SESSION: SessionState = {
  prompts: [],
  unsaved: [],
  isInTurn: false,
  isCancelling: false,
  // The lead may resume an interrupted turn, and says when it rests.
  rest: undefined,
  openRequests: 0,
};

export interface Step {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

/** Returns the state after an event, and the effects. Pure. */
export function step(before: SessionState, event: SessionEvent): Step {
  const { state, effects } = change(before, event);
  const activity = activityOf(state);
  if (activity === activityOf(before)) return { state, effects };
  return { state, effects: [...effects, { type: "activity", activity }] };
}

export function activityOf({ prompts, isInTurn, rest, openRequests }: SessionState): Activity {
  if (openRequests > 0) return "requires_action";
  return prompts.length > 0 || isInTurn || rest === undefined ? "running" : "idle";
}

function change(state: SessionState, event: SessionEvent): Step {
  switch (event.type) {
    case "prompted": {
      const prompt = { id: event.prompt, isTaken: false };
      return only({ ...state, prompts: [...state.prompts, prompt], rest: undefined });
    }
    case "saved":
      return saved(state, event.prompt, event.key);
    case "unsaved": {
      const { failure, prompt } = event;
      const isOpen = state.prompts.some(({ id }) => id === prompt);
      const prompts = state.prompts.filter(({ id }) => id !== prompt);
      const unsaved = state.unsaved.filter((id) => id !== prompt);
      const effects = isOpen ? [ended(prompt, { how: "failed", failure })] : [];
      return { state: { ...state, prompts, unsaved }, effects };
    }
    case "taken": {
      const oldest = state.prompts.find(({ isTaken }) => !isTaken);
      const prompts = state.prompts.map((one) => (one === oldest ? { ...one, isTaken: true } : one));
      return only({ ...state, prompts });
    }
    case "turn_started":
      return only({ ...state, isInTurn: true, rest: undefined });
    case "turn_ended": {
      const next = { ...state, isInTurn: false, isCancelling: false };
      return state.isCancelling ? endTaken(next, { how: "cancelled" }) : only(next);
    }
    case "rested":
      return rested(state, event.rest, event.failure);
    case "cancelled":
      return cancelled(state, event.inTurn);
    case "requests": {
      const next = { ...state, openRequests: event.open };
      // The client has no more request that could wake the lead: its user reads the question, and types the answer.
      const isOver = event.isLeft === true && event.open === 0 && state.rest === "asking";
      return isOver ? endTaken(next, { how: "done" }) : only(next);
    }
    case "ended": {
      const end = { how: "failed", failure: event.failure } as const;
      const effects = state.prompts.map(({ id }) => ended(id, end));
      return { state: { ...NEW_SESSION, rest: "done" }, effects };
    }
  }
}

function saved(state: SessionState, prompt: number, key: string): Step {
  if (state.unsaved.includes(prompt)) {
    const unsaved = state.unsaved.filter((id) => id !== prompt);
    return { state: { ...state, unsaved }, effects: [{ type: "withdraw", key }] };
  }
  const prompts = state.prompts.map((one) => (one.id === prompt ? { ...one, key } : one));
  return only({ ...state, prompts });
}

function rested(state: SessionState, rest: LeadRest, failure: string | undefined): Step {
  const next = { ...state, rest };
  // The client has the question: its answer continues the prompt.
  if (rest === "asking" && state.openRequests > 0) return only(next);
  if (rest === "failed") return endTaken(next, { how: "failed", failure: failure ?? "The model failed." });
  return endTaken(next, { how: rest === "interrupted" ? "cancelled" : "done" });
}

/** Ends the prompts that no turn has taken at once, and the others when the interrupted turn has ended. */
function cancelled(state: SessionState, inTurn: boolean): Step {
  const waiting = state.prompts.filter(({ isTaken }) => !isTaken);
  const unsaved = waiting.flatMap(({ id, key }) => (key === undefined ? [id] : []));
  const effects: SessionEffect[] = waiting.flatMap(({ id, key }) => [
    ended(id, { how: "cancelled" }),
    ...(key === undefined ? [] : [{ type: "withdraw", key } as const]),
  ]);
  const prompts = state.prompts.filter(({ isTaken }) => isTaken);
  const next = { ...state, prompts, unsaved: [...state.unsaved, ...unsaved] };
  if (inTurn) return { state: { ...next, isCancelling: true }, effects };
  const rest = endTaken(next, { how: "cancelled" });
  return { state: rest.state, effects: [...effects, ...rest.effects] };
}

function endTaken(state: SessionState, end: PromptEnd): Step {
  const taken = state.prompts.filter(({ isTaken }) => isTaken);
  const prompts = state.prompts.filter(({ isTaken }) => !isTaken);
  return { state: { ...state, prompts }, effects: taken.map(({ id }) => ended(id, end)) };
}

function ended(prompt: number, end: PromptEnd): SessionEffect {
  return { type: "end_prompt", prompt, end };
}

function only(state: SessionState): Step {
  return { state, effects: [] };
}
