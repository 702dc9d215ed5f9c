import type { SidebarData } from "./data.ts";
import type { Action } from "./keys.ts";

/** What a row stands for: the thing that a click selects. */
export type Target =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "task"; readonly id: string };

/** All that the sidebar remembers; closing it loses nothing else. */
export interface SidebarState {
  readonly view: "team" | "tasks" | "help";
  /** The selected member's name; the first one where it is gone. */
  readonly member?: string;
  readonly task?: string;
  /** News about the last key, until the next one. */
  readonly notice?: string;
}

/** What the world is asked for by a key. */
export type Effect =
  | { readonly kind: "focus" | "hide"; readonly member: string }
  | { readonly kind: "close" };

export interface Step {
  readonly state: SidebarState;
  readonly effect?: Effect;
}

export const START: SidebarState = { view: "team" };

/** The selected row, of those that are there now. */
export function selectedTarget(state: SidebarState, data: SidebarData): Target | undefined {
  const list = targets(state, data);
  return list.find((target) => isSelected(target, state)) ?? list[0];
}

/** One key or click: the next state, and what is to be done. */
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

/** A click on a row: it selects; on the selected one it goes there. */
export function click(state: SidebarState, target: Target, data: SidebarData): Step {
  const calm = withoutNotice(state);
  const now = selectedTarget(state, data);
  if (now !== undefined && sameTarget(now, target)) return go(calm, data);
  return { state: select(calm, target) };
}

function go(state: SidebarState, data: SidebarData): Step {
  if (state.view === "help") return { state: { ...state, view: "team" } };
  return withOwner(state, data, "focus");
}

/** Something with the selected member, or with who has the selected task. */
function withOwner(state: SidebarState, data: SidebarData, kind: "focus" | "hide"): Step {
  const target = selectedTarget(state, data);
  if (target === undefined) return { state };
  const member = target.kind === "member" ? target.name : ownerOf(target.id, data);
  if (member !== undefined) return { state, effect: { kind, member } };
  return { state: { ...state, notice: "nobody has this task yet" } };
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

function select(state: SidebarState, target: Target): SidebarState {
  return target.kind === "member" ? { ...state, member: target.name } : { ...state, task: target.id };
}

function targets(state: SidebarState, data: SidebarData): readonly Target[] {
  if (state.view === "help") return [];
  return state.view === "tasks"
    ? data.status.tasks.list.map((task) => ({ kind: "task", id: task.id }))
    : data.status.members.map((member) => ({ kind: "member", name: member.name }));
}

function isSelected(target: Target, state: SidebarState): boolean {
  return target.kind === "member" ? target.name === state.member : target.id === state.task;
}

export function sameTarget(a: Target, b: Target): boolean {
  return a.kind === "member" ? b.kind === "member" && a.name === b.name : b.kind === "task" && a.id === b.id;
}

function withoutNotice({ notice: _, ...state }: SidebarState): SidebarState {
  return state;
}
