import type { LeadRest } from "../lead/lead.ts";

/** The activity of a session, as protocol version 2 names it. */
export type Activity = "idle" | "running" | "requires_action";

/** How a prompt ended. */
export type PromptEnd =
  | { readonly how: "done" | "cancelled" }
  /** @param needsLogin true if the model's key is wrong or missing */
  | { readonly how: "failed"; readonly failure: string; readonly needsLogin?: boolean };

export type SessionEvent =
  | { readonly type: "prompted"; readonly prompt: number }
  /** The line of a prompt is in the lead's inbox. */
  | { readonly type: "saved"; readonly prompt: number; readonly key: string }
  | { readonly type: "unsaved"; readonly prompt: number; readonly failure: string }
  /** A turn began with this line, which may come from an earlier process. */
  | { readonly type: "taken"; readonly key: string }
  | { readonly type: "turn_started" }
  /** @param needsLogin true if it failed because the model's key is wrong or missing */
  | { readonly type: "turn_ended"; readonly needsLogin?: boolean }
  | { readonly type: "rested"; readonly rest: LeadRest; readonly failure?: string | undefined }
  /** @param inTurn whether a turn was interrupted, whose end follows */
  | { readonly type: "cancelled"; readonly inTurn: boolean }
  /**
   * The number of requests that the client has not answered.
   * @param isLeft true if the last change was a request that its user left unanswered
   */
  | { readonly type: "requests"; readonly open: number; readonly isLeft?: boolean }
  /**
   * Later prompts fail at once.
   * @param isClosed true if the client closed it, or this process ends: the open prompts are cancelled instead of failed
   */
  | { readonly type: "ended"; readonly failure: string; readonly isClosed?: boolean };

/** A consequence of an event. */
export type SessionEffect =
  | { readonly type: "end_prompt"; readonly prompt: number; readonly end: PromptEnd }
  /** The line must no longer start a turn. */
  | { readonly type: "withdraw"; readonly key: string }
  /** The running turn began with the line of a cancelled prompt. */
  | { readonly type: "interrupt" }
  | { readonly type: "activity"; readonly activity: Activity };

interface Prompt {
  readonly id: number;
  /** The key of its line; undefined until the line is saved. */
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
  /** Lines that a turn took before their prompt was known: while a save is not yet reported, each may be that prompt's line. */
  readonly early: readonly string[];
  /** Lines of cancelled prompts that a turn may have taken without a report. */
  readonly withdrawn: readonly string[];
  /** `begins`: the turn has its lines, and the agent is being prepared. */
  readonly turn: "none" | "begins" | "runs";
  /** The user has cancelled; the interrupted turn has not ended. */
  readonly isCancelling: boolean;
  /** The newest turn failed because the model's key is wrong or missing. */
  readonly needsLogin: boolean;
  /** Why the lead rests; undefined while it or a teammate works. */
  readonly rest: LeadRest | undefined;
  readonly openRequests: number;
  /** Why the session has ended; undefined before. */
  readonly endReason?: string;
}

export const NEW_SESSION: SessionState = {
  prompts: [],
  unsaved: [],
  early: [],
  withdrawn: [],
  turn: "none",
  isCancelling: false,
  needsLogin: false,
  // The lead may resume an interrupted turn, and reports when it rests.
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

export function activityOf({ prompts, turn, rest, openRequests, endReason }: SessionState): Activity {
  if (endReason !== undefined) return "idle";
  if (openRequests > 0) return "requires_action";
  return prompts.length > 0 || turn !== "none" || rest === undefined ? "running" : "idle";
}

function change(state: SessionState, event: SessionEvent): Step {
  switch (event.type) {
    case "prompted":
      return prompted(state, event.prompt);
    case "saved":
      return saved(state, event.prompt, event.key);
    case "unsaved":
      return unsaved(state, event.prompt, event.failure);
    case "taken":
      return taken(state, event.key);
    case "turn_started":
      return only({ ...state, turn: "runs", rest: undefined });
    case "turn_ended": {
      const { needsLogin = false } = event;
      const next = { ...state, turn: "none", isCancelling: false, needsLogin } as const;
      return state.isCancelling ? endTaken(next, { how: "cancelled" }) : only(next);
    }
    case "rested":
      return rested(state, event.rest, event.failure);
    case "cancelled":
      return cancelled(state, event.inTurn);
    case "requests": {
      const next = { ...state, openRequests: event.open };
      // The client no longer has a request that could wake the lead: its user reads the question, and types the answer.
      const isOver = event.isLeft === true && event.open === 0 && state.rest === "asking";
      return isOver ? endTaken(next, { how: "done" }) : only(next);
    }
    case "ended": {
      const { failure, isClosed = false } = event;
      const end: PromptEnd = isClosed ? { how: "cancelled" } : { how: "failed", failure };
      const effects = state.prompts.map(({ id }) => ended(id, end));
      return { state: { ...NEW_SESSION, endReason: failure }, effects };
    }
  }
}

function prompted(state: SessionState, prompt: number): Step {
  if (state.endReason !== undefined)
    return { state, effects: [ended(prompt, { how: "failed", failure: state.endReason })] };
  const prompts = [...state.prompts, { id: prompt, isTaken: false }];
  return only({ ...state, prompts, rest: undefined });
}

function saved(state: SessionState, prompt: number, key: string): Step {
  const isEarly = state.early.includes(key);
  const early = state.early.filter((one) => one !== key);
  if (!state.unsaved.includes(prompt)) {
    const prompts = state.prompts.map((one) =>
      one.id === prompt ? { ...one, key, isTaken: one.isTaken || isEarly } : one,
    );
    return only(withoutForeignLines({ ...state, prompts, early }));
  }
  const next = withoutForeignLines({
    ...state,
    early,
    unsaved: state.unsaved.filter((id) => id !== prompt),
  });
  return isEarly ? interrupted(next) : withdraw(next, [key]);
}

function unsaved(state: SessionState, prompt: number, failure: string): Step {
  const isOpen = state.prompts.some(({ id }) => id === prompt);
  const next = withoutForeignLines({
    ...state,
    prompts: state.prompts.filter(({ id }) => id !== prompt),
    unsaved: state.unsaved.filter((id) => id !== prompt),
  });
  return { state: next, effects: isOpen ? [ended(prompt, { how: "failed", failure })] : [] };
}

function taken(before: SessionState, key: string): Step {
  const state = before.turn === "none" ? ({ ...before, turn: "begins", rest: undefined } as const) : before;
  if (state.withdrawn.includes(key))
    return interrupted({ ...state, withdrawn: state.withdrawn.filter((one) => one !== key) });
  if (!state.prompts.some((one) => one.key === key)) {
    return only(withoutForeignLines({ ...state, early: [...state.early, key] }));
  }
  const prompts = state.prompts.map((one) => (one.key === key ? { ...one, isTaken: true } : one));
  return only({ ...state, prompts });
}

/** Drops the early lines if every save was reported: they come from an earlier process. */
function withoutForeignLines(state: SessionState): SessionState {
  const isSaving = state.unsaved.length > 0 || state.prompts.some(({ key }) => key === undefined);
  return isSaving ? state : { ...state, early: [] };
}

function rested(state: SessionState, rest: LeadRest, failure: string | undefined): Step {
  // A lead that rests has reported every line that a turn took, so the withdrawn ones no longer start a turn.
  const next = { ...state, rest, turn: "none", isCancelling: false, withdrawn: [] } as const;
  if (state.isCancelling) return endTaken(next, { how: "cancelled" });
  // The client has the question: its answer continues the prompt.
  if (rest === "asking" && state.openRequests > 0) return only(next);
  const { needsLogin } = state;
  if (rest === "failed")
    return endTaken(next, { how: "failed", failure: failure ?? "The model failed.", needsLogin });
  return endTaken(next, { how: rest === "interrupted" ? "cancelled" : "done" });
}

/**
 * Ends at once the prompts that no turn has taken, and the other prompts when the interrupted turn has ended. A turn that is already
 * ending reports no second end, so its prompts end here too.
 */
function cancelled(state: SessionState, inTurn: boolean): Step {
  const waiting = state.prompts.filter(({ isTaken }) => !isTaken);
  const ends = waiting.map(({ id }) => ended(id, { how: "cancelled" }));
  const dropped = withdraw(
    {
      ...state,
      prompts: state.prompts.filter(({ isTaken }) => isTaken),
      unsaved: [...state.unsaved, ...waiting.flatMap(({ id, key }) => (key === undefined ? [id] : []))],
    },
    waiting.flatMap(({ key }) => key ?? []),
  );
  const rest =
    inTurn && state.turn !== "none"
      ? only({ ...dropped.state, isCancelling: true })
      : endTaken(dropped.state, { how: "cancelled" });
  return { state: rest.state, effects: [...ends, ...dropped.effects, ...rest.effects] };
}

function withdraw(state: SessionState, keys: readonly string[]): Step {
  const effects = keys.map((key) => ({ type: "withdraw", key }) as const);
  return { state: { ...state, withdrawn: [...state.withdrawn, ...keys] }, effects };
}

/** The line of a cancelled prompt is in a turn. */
function interrupted(state: SessionState): Step {
  return { state, effects: state.turn === "none" ? [] : [{ type: "interrupt" }] };
}

function endTaken(state: SessionState, end: PromptEnd): Step {
  const prompts = state.prompts.filter(({ isTaken }) => !isTaken);
  const effects = state.prompts.filter(({ isTaken }) => isTaken).map(({ id }) => ended(id, end));
  return { state: { ...state, prompts }, effects };
}

function ended(prompt: number, end: PromptEnd): SessionEffect {
  return { type: "end_prompt", prompt, end };
}

function only(state: SessionState): Step {
  return { state, effects: [] };
}
