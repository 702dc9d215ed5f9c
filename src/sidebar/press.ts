import { gridText } from "../text/terminal-text.ts";
import type { SidebarApproval, SidebarData } from "./data.ts";
import type { Source } from "./documents.ts";
import type { Action } from "./keys.ts";
import {
  type Answer,
  askerDirectory,
  backToList,
  currentRequest,
  listOf,
  type MemberAction,
  type Prompt,
  type ScreenSize,
  type SidebarState,
  type SidebarTarget,
  type Step,
  sameTarget,
  selectedMember,
  selectedTarget,
  targets,
} from "./state.ts";

/** The state and data that a key acts on. */
export interface Scene {
  readonly state: SidebarState;
  readonly data: SidebarData;
  /** The requests that the screen shows to their end, by id, and for how many milliseconds. */
  readonly seen: ReadonlyMap<string, number>;
  readonly size: ScreenSize;
}

export type Handler = (scene: Scene) => Step;

/** The action of each key in a list. */
export const IN_LISTS: Readonly<Partial<Record<Action, Handler>>> = {
  down: moving((at) => at + 1),
  up: moving((at) => at - 1),
  first: moving(() => 0),
  last: moving((_, last) => last),
  go: onMember("focus"),
  zoom: onMember("zoom"),
  hide: onMember("hide"),
  interrupt: onMember("interrupt"),
  shutdown: onMember("shutdown"),
  kill: (scene) =>
    withMember(scene, (member) => ({
      state: { ...scene.state, prompt: { kind: "kill", member, text: "" } },
    })),
  approve: (scene) => asked(scene, "yes"),
  reject: (scene) => asked(scene, "no"),
  view: (scene) => withRequest(scene, ({ id, from }) => opened(scene.state, { kind: "request", id, from })),
  next: nextRequest,
  diff: opening("diff"),
  messages: opening("messages"),
  log: opening("log"),
  task: openTask,
  teams: ({ state }) => opened(state, { kind: "teams" }),
  help: ({ state }) => opened(state, { kind: "help" }),
  spawn: ({ state }) => ({ state: spawning(state) }),
  filter: ({ state }) => ({ state: { ...state, prompt: { kind: "filter", text: state.filter ?? "" } } }),
  tasks: ({ state }) => ({ state: { ...state, view: state.view === "tasks" ? "team" : "tasks" } }),
  graph: ({ state }) => ({ state: { ...state, view: state.view === "graph" ? "team" : "graph" } }),
  back: ({ state }) => ({ state: back(state) }),
  close: ({ state }) => leaving(state),
};

/** Hides the failures first, then clears the filter, then goes back to the members. */
function back({ failures = [], filter, ...state }: SidebarState): SidebarState {
  if (failures.length > 0) return filter === undefined ? state : { ...state, filter };
  return filter === undefined ? { ...state, view: "team" } : state;
}

/** Begins a teammate's name, with the texts that were typed for a teammate that could not be started. */
function spawning({ unstarted, ...state }: SidebarState): SidebarState {
  const { name = "", prompt: task } = unstarted ?? {};
  return { ...state, prompt: { kind: "spawn-name", text: name, ...(task !== undefined && { task }) } };
}

/** Closes the sidebar, or shows another team; asks first, if comments that were not sent would be lost. */
export function leaving(state: SidebarState, team?: string): Step {
  const count = Object.values(state.comments ?? {}).reduce((sum, { length }) => sum + length, 0);
  if (count === 0) return { state, effect: team === undefined ? { kind: "close" } : { kind: "team", team } };
  const next = { ...(team !== undefined && { team }) };
  return { state: { ...state, prompt: { kind: "discard", count, ...next, text: "" } } };
}

function moving(next: (at: number, last: number) => number): Handler {
  return ({ state, data }) => {
    const list = targets(state, data);
    const now = selectedTarget(state, data);
    const at = now === undefined ? 0 : list.findIndex((target) => sameTarget(target, now));
    const target = list[Math.min(Math.max(next(at, list.length - 1), 0), list.length - 1)];
    return { state: target === undefined ? state : select(state, target) };
  };
}

/** Selects a row. Selecting a member or a task deselects the request that `n` selected. */
export function select({ request, ...state }: SidebarState, target: SidebarTarget): SidebarState {
  if (target.kind === "member") return { ...state, member: target.name };
  if (target.kind === "task") return { ...state, task: target.id };
  return request === undefined ? state : { ...state, request };
}

function withMember({ state, data }: Scene, then: (member: string) => Step): Step {
  const member = selectedMember(state, data);
  if (member !== undefined) return then(member);
  if (selectedTarget(state, data) === undefined) return { state };
  return { state: { ...state, notice: "this task has no owner yet" } };
}

function onMember(action: MemberAction): Handler {
  return (scene) =>
    withMember(scene, (member) => ({ state: scene.state, effect: { kind: "member", action, member } }));
}

function opening(kind: "diff" | "messages" | "log"): Handler {
  return (scene) => withMember(scene, (member) => opened(scene.state, { kind, member }));
}

function openTask({ state, data }: Scene): Step {
  const target = selectedTarget(state, data);
  return target?.kind === "task" ? opened(state, { kind: "task", id: target.id }) : { state };
}

/** Opens a document over the list that is shown. */
export function opened(state: SidebarState, source: Source): Step {
  const top = source.kind === "log" || source.kind === "messages" ? "end" : 0;
  const reader = { source, top, cursor: 0, back: listOf(state) } as const;
  if (source.kind === "help")
    return { state: { ...state, view: "help", reader: { ...reader, content: { kind: "help" } } } };
  const opening: SidebarState = { ...state, view: source.kind, reader };
  return { state: opening, effect: { kind: "open", source } };
}

function withRequest({ state, data }: Scene, then: (request: SidebarApproval) => Step): Step {
  const request = currentRequest(state, data);
  return request === undefined
    ? { state: { ...state, notice: noRequestNotice(state, data) } }
    : then(request);
}

const NO_REQUEST_NOTICE = "nothing is waiting for an answer";

function noRequestNotice(state: SidebarState, data: SidebarData): string {
  if (data.status.approvals.length === 0) return NO_REQUEST_NOTICE;
  const member = selectedMember(state, data);
  return `${member === undefined ? "this row" : gridText(member)} has no request; n selects the next one`;
}

/** Milliseconds in which no user can read a request: an earlier key was meant for the previous screen. */
const READING_MS = 300;
const NEW_NOTICE = "the request has just appeared: read it, then press a";
const NEW_WHOLE_NOTICE = "the request has just appeared: read it, then answer";
const UNREAD_NOTICE = "part of the request was not shown yet: read on (Space), then answer";
const PART_NOTICE = "read the request to its end, then press y";

/** Begins an answer to the current request. A request that is shown only in part is opened instead of approved. */
function asked(scene: Scene, verdict: Answer["verdict"]): Step {
  const { state, data, seen } = scene;
  return withRequest(scene, (asking) => {
    const { id, from } = asking;
    const shownMs = seen.get(id);
    if (verdict !== "no" && shownMs === undefined) {
      const whole = opened(state, { kind: "request", id, from });
      return { ...whole, state: { ...whole.state, notice: PART_NOTICE } };
    }
    if (verdict !== "no" && Number(shownMs) < READING_MS) return { state: { ...state, notice: NEW_NOTICE } };
    return { state: { ...state, prompt: answerPrompt(asking, data, verdict) } };
  });
}

/** Returns the line for an answer. */
function answerPrompt(
  { id, from, summary, kind }: Pick<SidebarApproval, "id" | "from" | "summary" | "kind">,
  data: SidebarData,
  verdict: Answer["verdict"],
): Prompt {
  return {
    kind: "answer",
    ...{ id, from, summary, cwd: askerDirectory(data, { from }), verdict, text: "" },
    ...(kind === "question" || kind === "crash" ? { asks: kind } : {}),
  };
}

/** Begins an answer to the request of the view that shows it whole. */
export function answering(verdict: Answer["verdict"]): Handler {
  return ({ state, data, seen }) => {
    const { content } = state.reader ?? {};
    if (content?.kind !== "request") return { state };
    const { id, always = [] } = content.request;
    const shownMs = seen.get(id);
    const notice = (text: string): Step => ({ state: { ...state, notice: text } });
    if (verdict === "always" && always.length === 0)
      return notice("no rule can allow this; y allows it once");
    if (verdict !== "no" && shownMs === undefined)
      return { state: { ...unread(state), notice: UNREAD_NOTICE } };
    if (verdict !== "no" && Number(shownMs) < READING_MS) return notice(NEW_WHOLE_NOTICE);
    return { state: { ...state, prompt: answerPrompt(content.request, data, verdict) } };
  };
}

/** Goes to the first row that was not on the screen. */
function unread(state: SidebarState): SidebarState {
  const { reader } = state;
  if (reader === undefined) return state;
  return { ...state, reader: { ...reader, top: Math.max(0, (reader.read?.rows ?? 0) - 1) } };
}

/** Selects the next request, and its member. */
function nextRequest(scene: Scene): Step {
  const { state, data } = scene;
  const { approvals, members } = data.status;
  const current = currentRequest(state, data);
  const next =
    current === undefined ? approvals[0] : approvals[(approvals.indexOf(current) + 1) % approvals.length];
  if (next === undefined) return { state: { ...state, notice: NO_REQUEST_NOTICE } };
  const { filter: _, ...all } = state;
  const isListed = members.some(({ name }) => name === next.from);
  const selected = isListed ? { ...all, member: next.from } : state;
  return { state: { ...selected, view: "team", request: next.id } };
}

/** Leaves a document whose request was answered elsewhere, and forgets a selected request that no longer waits. */
export function settled(state: SidebarState, data: SidebarData): SidebarState {
  const isOpen = (id: string): boolean => data.status.approvals.some((one) => one.id === id);
  const { reader, request, prompt } = state;
  if (request !== undefined && !isOpen(request)) {
    const { request: _, ...rest } = state;
    return settled(rest, data);
  }
  if (reader?.source.kind !== "request" || isOpen(reader.source.id)) return state;
  // An answer that is being written reports when it is sent that it came too late.
  if (prompt?.kind === "answer") return state;
  return { ...backToList(state), notice: `${reader.source.from}'s request was already answered or closed` };
}
