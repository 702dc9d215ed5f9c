import type { SidebarApproval, SidebarData } from "./data.ts";
import type { Action } from "./keys.ts";

/** The member or task of a row, which a click selects. */
export type SidebarTarget =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "task"; readonly id: string };

/** The whole state of the sidebar. */
export interface SidebarState {
  readonly view: "team" | "tasks" | "help";
  /** The selected member's name; the first member counts if it has gone. */
  readonly member?: string;
  readonly task?: string;
  /** A notice about the last key, until the next one. */
  readonly notice?: string;
  /** The answer that the user is writing; it takes every key. */
  readonly answer?: Answer;
}

/** An answer to a request. */
export interface Answer {
  readonly id: string;
  readonly from: string;
  readonly approve: boolean;
  readonly note: string;
}

/** An action outside of the sidebar's state. */
type Effect =
  | { readonly kind: "focus" | "hide"; readonly member: string }
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "close" };

export interface Step {
  readonly state: SidebarState;
  readonly effect?: Effect;
}

export const START: SidebarState = { view: "team" };

/** Returns the selected row of the current data. */
export function selectedTarget(state: SidebarState, data: SidebarData): SidebarTarget | undefined {
  const list = targets(state, data);
  return list.find((target) => isSelected(target, state)) ?? list[0];
}

/** Returns the next state and effect of a key. */
export function press(state: SidebarState, action: Action, data: SidebarData): Step {
  const calm = withoutNotice(state);
  switch (action) {
    case "close":
      return { state: calm, effect: { kind: "close" } };
    case "help":
      return { state: { ...calm, view: state.view === "help" ? "team" : "help" } };
    case "tasks":
      return { state: { ...calm, view: state.view === "tasks" ? "team" : "tasks" } };
    case "back":
      return { state: { ...calm, view: "team" } };
    case "go":
      return go(calm, data);
    case "approve":
      return { state: asked(calm, data, true) };
    case "reject":
      return { state: asked(calm, data, false) };
    case "hide":
      return withOwner(calm, data, "hide");
    case "down":
      return { state: moved(calm, data, (at) => at + 1) };
    case "up":
      return { state: moved(calm, data, (at) => at - 1) };
    case "first":
      return { state: moved(calm, data, () => 0) };
    case "last":
      return { state: moved(calm, data, (_, last) => last) };
  }
}

/** Characters of a note; for a longer one, use an editor and `teams approve --note -`. */
const MAX_NOTE = 2_000;

/**
 * Handles a key while the user writes an answer: Enter sends it, Esc and Ctrl-C cancel it, any character is added to its note.
 * @param key as blessed names it
 * @param char its character; undefined for other keys
 */
export function write(state: SidebarState, key: string, char: string | undefined): Step {
  const { answer, ...rest } = state;
  if (answer === undefined) return { state };
  switch (key) {
    case "enter":
    case "return":
      return { state: rest, effect: { kind: "answer", answer: { ...answer, note: answer.note.trim() } } };
    case "escape":
    case "C-c":
      return { state: rest };
    case "backspace":
      return { state: { ...rest, answer: { ...answer, note: [...answer.note].slice(0, -1).join("") } } };
    case "C-u":
      return { state: { ...rest, answer: { ...answer, note: "" } } };
    default: {
      if (char === undefined || /\p{Cc}/u.test(char)) return { state };
      return { state: { ...rest, answer: { ...answer, note: (answer.note + char).slice(0, MAX_NOTE) } } };
    }
  }
}

/** Begins an answer to the selected member's request, else to the oldest one. */
function asked(state: SidebarState, data: SidebarData, approve: boolean): SidebarState {
  const waits = waitingOf(state, data);
  if (waits === undefined) return { ...state, notice: "nothing waits for an answer" };
  return { ...state, answer: { id: waits.id, from: waits.from, approve, note: "" } };
}

function waitingOf(state: SidebarState, data: SidebarData): SidebarApproval | undefined {
  const { approvals } = data.status;
  const target = selectedTarget({ ...state, view: "team" }, data);
  return approvals.find(({ from }) => target?.kind === "member" && target.name === from) ?? approvals[0];
}

/** A click selects a row; a click on the selected row goes to its pane. */
export function click(state: SidebarState, target: SidebarTarget, data: SidebarData): Step {
  const calm = withoutNotice(state);
  const now = selectedTarget(state, data);
  if (now !== undefined && sameTarget(now, target)) return go(calm, data);
  return { state: select(calm, target) };
}

function go(state: SidebarState, data: SidebarData): Step {
  if (state.view === "help") return { state: { ...state, view: "team" } };
  return withOwner(state, data, "focus");
}

/** An effect for the selected member, or for the owner of the selected task. */
function withOwner(state: SidebarState, data: SidebarData, kind: "focus" | "hide"): Step {
  const target = selectedTarget(state, data);
  if (target === undefined) return { state };
  const member = target.kind === "member" ? target.name : ownerOf(target.id, data);
  if (member !== undefined) return { state, effect: { kind, member } };
  return { state: { ...state, notice: "this task has no owner yet" } };
}

function ownerOf(id: string, data: SidebarData): string | undefined {
  return data.status.tasks.list.find((task) => task.id === id)?.owner;
}

function moved(
  state: SidebarState,
  data: SidebarData,
  next: (at: number, last: number) => number,
): SidebarState {
  const list = targets(state, data);
  const now = selectedTarget(state, data);
  const at = now === undefined ? 0 : list.findIndex((target) => sameTarget(target, now));
  const target = list[Math.min(Math.max(next(at, list.length - 1), 0), list.length - 1)];
  return target === undefined ? state : select(state, target);
}

function select(state: SidebarState, target: SidebarTarget): SidebarState {
  return target.kind === "member" ? { ...state, member: target.name } : { ...state, task: target.id };
}

function targets(state: SidebarState, data: SidebarData): readonly SidebarTarget[] {
  if (state.view === "help") return [];
  return state.view === "tasks"
    ? data.status.tasks.list.map((task) => ({ kind: "task", id: task.id }))
    : data.status.members.map((member) => ({ kind: "member", name: member.name }));
}

function isSelected(target: SidebarTarget, state: SidebarState): boolean {
  return target.kind === "member" ? target.name === state.member : target.id === state.task;
}

export function sameTarget(a: SidebarTarget, b: SidebarTarget): boolean {
  return a.kind === "member" ? b.kind === "member" && a.name === b.name : b.kind === "task" && a.id === b.id;
}

function withoutNotice({ notice: _, ...state }: SidebarState): SidebarState {
  return state;
}
