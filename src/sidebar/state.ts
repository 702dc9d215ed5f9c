import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { SidebarApproval, SidebarData, SidebarMember } from "./data.ts";
import type { DiffPlace, LineComment, Reader, Source } from "./documents.ts";
import { graphOrder } from "./graph.ts";
import type { Condition, ListView, View } from "./keys.ts";
import { lookOf } from "./labels.ts";

/** The member, task or row of a document that a click selects. */
export type SidebarTarget =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "task"; readonly id: string }
  | { readonly kind: "row"; readonly index: number };

/** The whole state of the sidebar. */
export interface SidebarState {
  readonly view: View;
  /** The document of a view that shows one. */
  readonly reader?: Reader;
  /** The selected member's name; the first member is used if it is gone. */
  readonly member?: string;
  readonly task?: string;
  /** Which of the selected member's requests is selected; the oldest one if it is answered. */
  readonly request?: string;
  /** Only members and tasks with this text are listed. */
  readonly filter?: string;
  /** A notice about the last key, until the next one. */
  readonly notice?: string;
  /** Failures, oldest first, until Esc. */
  readonly failures?: readonly string[];
  /** The line that the user is writing; it takes every key. */
  readonly prompt?: Prompt;
  /** The teammate that could not be started, for the next attempt. */
  readonly unstarted?: { readonly name: string; readonly prompt: string };
  /** Comments that were not sent yet, by member. */
  readonly comments?: Readonly<Record<string, readonly LineComment[]>>;
}

/** The line that the user is writing. */
export type Prompt = PromptKind & {
  /** Code units after the cursor; none if omitted. */
  readonly afterCursor?: number;
};

type PromptKind =
  | {
      readonly kind: "answer";
      readonly id: string;
      readonly from: string;
      /** The summary of the answered request. */
      readonly summary: string;
      /** The working directory of its member: a path is shown relative to it. */
      readonly cwd?: string | undefined;
      readonly verdict: Verdict;
      /** The kind of the request, if the words of its answer differ from those for a plan or a permission. */
      readonly asks?: "question" | "crash";
      readonly text: string;
    }
  | {
      readonly kind: "message";
      readonly to: string;
      readonly text: string;
      /** Earlier messages to this member, newest first; Up and Down go through them. */
      readonly sent: readonly string[];
      /** The position of the shown text in `sent`, counted from 1; 0 for a new text. */
      readonly at: number;
      /** The new text, while an earlier message is shown. */
      readonly draft?: string;
    }
  | { readonly kind: "comment"; readonly member: string; readonly place: DiffPlace; readonly text: string }
  | { readonly kind: "filter"; readonly text: string }
  | { readonly kind: "search"; readonly text: string }
  /** With the task that was written for a teammate that could not be started. */
  | { readonly kind: "spawn-name"; readonly text: string; readonly task?: string }
  | { readonly kind: "spawn-prompt"; readonly name: string; readonly text: string }
  /** Answered by one key: `y`, or any other. */
  | { readonly kind: "kill"; readonly member: string; readonly text: "" }
  | {
      readonly kind: "discard";
      readonly count: number;
      /** The team to show; without it, the sidebar closes. */
      readonly team?: string;
      readonly text: "";
    };

export type Verdict = "yes" | "no" | "always";

/** An answer to a request. */
export interface Answer {
  readonly id: string;
  readonly from: string;
  readonly verdict: Verdict;
  readonly note: string;
}

/** An action on a member that takes one key. */
export type MemberAction = "focus" | "zoom" | "hide" | "interrupt" | "shutdown" | "kill";

/** An action outside the sidebar's state. */
export type Effect =
  | { readonly kind: "member"; readonly action: MemberAction; readonly member: string }
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "open"; readonly source: Source }
  | { readonly kind: "message"; readonly to: string; readonly text: string }
  | { readonly kind: "comments"; readonly member: string; readonly comments: readonly LineComment[] }
  | { readonly kind: "spawn"; readonly name: string; readonly prompt: string }
  | { readonly kind: "team"; readonly team: string }
  | { readonly kind: "close" };

export interface Step {
  readonly state: SidebarState;
  readonly effect?: Effect;
}

export type Change = (state: SidebarState) => SidebarState;

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

export const START: SidebarState = { view: "team" };

/** The list that is shown, or to which a document goes back. */
export function listOf({ view, reader }: SidebarState): ListView {
  if (view === "team" || view === "tasks" || view === "graph") return view;
  return reader?.back ?? "team";
}

/** Returns the selected row of the current data. */
export function selectedTarget(state: SidebarState, data: SidebarData): SidebarTarget | undefined {
  const list = targets(state, data);
  return list.find((target) => isSelected(target, state)) ?? list[0];
}

/** Returns the rows of the list that can be selected, in their order on the screen. */
export function targets(state: SidebarState, data: SidebarData): readonly SidebarTarget[] {
  const list = listOf(state);
  if (list === "team") return shownMembers(state, data).map(({ name }) => ({ kind: "member", name }));
  const tasks = shownTasks(state, data);
  const ids = list === "graph" ? graphOrder(tasks) : tasks.map(({ id }) => id);
  return ids.map((id) => ({ kind: "task", id }));
}

/** Returns the members that the filter leaves. */
export function shownMembers({ filter }: SidebarState, { status }: SidebarData): readonly SidebarMember[] {
  const { members, tasks } = status;
  if (filter === undefined) return members;
  return members.filter((member) => {
    const own = tasks.list.filter(({ id }) => member.taskIds.includes(id)).map(({ subject }) => subject);
    return hasText([member.name, member.activity, lookOf(member, status).word, ...own], filter);
  });
}

/** Returns the tasks that the filter leaves. */
export function shownTasks(
  { filter }: SidebarState,
  { status }: SidebarData,
): SidebarData["status"]["tasks"]["list"] {
  const { list } = status.tasks;
  if (filter === undefined) return list;
  return list.filter(({ id, subject, owner = "" }) => hasText([`#${id}`, subject, owner], filter));
}

function hasText(texts: readonly string[], wanted: string): boolean {
  return texts.some((text) => text.toLowerCase().includes(wanted.toLowerCase()));
}

function isSelected(target: SidebarTarget, state: SidebarState): boolean {
  if (target.kind === "member") return target.name === state.member;
  return target.kind === "task" && target.id === state.task;
}

export function sameTarget(a: SidebarTarget, b: SidebarTarget): boolean {
  if (a.kind === "member") return b.kind === "member" && a.name === b.name;
  return a.kind === "task" ? b.kind === "task" && a.id === b.id : b.kind === "row" && a.index === b.index;
}

/** Returns the selected member, or the owner of the selected task. */
export function selectedMember(state: SidebarState, data: SidebarData): string | undefined {
  const target = selectedTarget(state, data);
  if (target?.kind === "member") return target.name;
  return data.status.tasks.list.find(({ id }) => target?.kind === "task" && id === target.id)?.owner;
}

/**
 * Returns the request that a key answers: a request of the selected member, or of the selected task's owner. A key never answers a
 * request of another listed member.
 */
export function currentRequest(state: SidebarState, data: SidebarData): SidebarApproval | undefined {
  const { approvals, members } = data.status;
  const selected = approvals.find(({ id }) => id === state.request);
  // No row can select a request whose asker is not listed: only `n` does.
  if (selected !== undefined && !members.some(({ name }) => name === selected.from)) return selected;
  const member = selectedMember(state, data);
  const own = approvals.filter(({ from }) => member !== undefined && sameName(from, member));
  return own.find(({ id }) => id === state.request) ?? own[0];
}

/** Returns the working directory of the member that asks; undefined if it is not listed. */
export function askerDirectory(
  { status }: SidebarData,
  { from }: Pick<SidebarApproval, "from">,
): string | undefined {
  return status.members.find(({ name }) => name === from)?.cwd;
}

/** Returns the conditions of keys that hold now, except those of a document. */
export function listConditions(state: SidebarState, data: SidebarData): ReadonlySet<Condition> {
  const name = selectedMember(state, data);
  const member = data.status.members.find((one) => name !== undefined && sameName(one.name, name));
  const request = currentRequest(state, data);
  const facts: readonly (readonly [Condition, boolean])[] = [
    ["asks", request !== undefined],
    ["others-ask", data.status.approvals.some((one) => one !== request)],
    ["member", member !== undefined],
    ["task", selectedTarget(state, data)?.kind === "task"],
    ["teammate", member !== undefined && member.name !== LEAD_NAME],
    ["in-turn", member !== undefined && ["running", "throttled", "needs-input"].includes(member.state)],
    ["has-back", (state.failures ?? []).length > 0 || state.filter !== undefined],
  ];
  return new Set(facts.flatMap(([condition, holds]) => (holds ? [condition] : [])));
}

export function withoutNotice({ notice: _, ...state }: SidebarState): SidebarState {
  return state;
}

/** Returns to the list that was shown before the document. */
export function backToList({ reader, ...state }: SidebarState): SidebarState {
  return {
    ...state,
    view: reader?.back ?? (state.view === "tasks" || state.view === "graph" ? state.view : "team"),
  };
}

const NO_COMMENTS: readonly LineComment[] = [];

export function commentsOn({ comments = {} }: SidebarState, member: string): readonly LineComment[] {
  return Object.hasOwn(comments, member) ? (comments[member] ?? NO_COMMENTS) : NO_COMMENTS;
}
