import { belongsToPane } from "../../launch/agent-environment.ts";
import { launchArgv } from "../../launch/launch-script.ts";
import type { BatchLine, TmuxCommand } from "../../tmux/command.ts";
import { type PaneId, paneId, type SessionId, sessionId, type WindowId, windowId } from "../../tmux/ids.ts";
import type { SpawnRequest } from "../backend.ts";
import type { PaneSize } from "./grid.ts";
import { layoutCommands, layoutOf } from "./layout-commands.ts";
import { isOfStart, newSession, ownerTag, paneTags, sessionOptions, TAG } from "./pane-tags.ts";
import type { Host, PanePlan } from "./plan-panes.ts";
import { stackCommands } from "./stack.ts";
import { freeWindowName, nameWindow, windowOptions } from "./team-window.ts";
import { recordZoom, restoreZoom } from "./zoom.ts";

/** A pane that a batch has created. */
export interface CreatedPane {
  readonly instance: string;
  readonly pane: PaneId;
  readonly pid: number;
  readonly window: WindowId;
  readonly session: SessionId;
  readonly windowWidth: number;
  readonly windowHeight: number;
  readonly serverPid: number;
  readonly socket: string;
}

/** Splits the requests among the hosts of the plan, in order. */
function assign(plan: PanePlan, requests: readonly SpawnRequest[]): readonly (readonly SpawnRequest[])[] {
  let next = 0;
  return plan.hosts.map(({ count }) => {
    const part = requests.slice(next, next + count);
    next += count;
    return part;
  });
}

/**
 * Returns the commands that create all panes of a plan. A batch cannot use the ids of panes that it creates, so a new window has a
 * unique temporary name until {@link finishCommands} names it. If a hook of the user renames that window, the later commands find no
 * window; {@link remainingPanes} then plans their panes with the printed ids.
 * @param batchId a unique id of word characters and `-`
 */
export function createCommands(
  plan: PanePlan,
  requests: readonly SpawnRequest[],
  batchId: string,
): BatchLine[] {
  const parts = assign(plan, requests);
  return plan.hosts.flatMap(({ host }, i) => {
    const [first, ...others] = parts[i] ?? [];
    if (first === undefined) return [];
    const temporary = temporaryName(batchId, i);
    if (host.kind === "window") {
      const splits = [first, ...others].reverse();
      // finishCommands restores the zoom.
      return [
        recordZoom(host.window),
        ...splits.flatMap((request) => splitInto(host.anchor, host.window, request)),
      ];
    }
    const target = `${sessionTarget(host)}=${temporary}`;
    return [
      hostCommand(host, temporary, i === 0 ? undefined : temporaryName(batchId, i - 1), first),
      // Each split is inserted right after the first pane: split in reverse, so the panes are in the order of the requests.
      ...others.reverse().flatMap((request) => splitInto(target, target, request)),
    ];
  });
}

/** Returns the commands that tag the created panes, name and lay out their windows, and stack panes next to the caller. */
export function finishCommands(
  plan: PanePlan,
  requests: readonly SpawnRequest[],
  created: ReadonlyMap<string, CreatedPane>,
): TmuxCommand[] {
  const commands: TmuxCommand[] = requests.flatMap((request) => {
    const pane = created.get(request.instance);
    return pane === undefined ? [] : paneTags(pane.pane, request);
  });
  const parts = assign(plan, requests);
  const names = new Set(plan.names);
  plan.hosts.forEach(({ host }, i) => {
    const panes = (parts[i] ?? []).flatMap((request) => created.get(request.instance) ?? []);
    const [first] = panes;
    const request = parts[i]?.[0];
    if (first === undefined || request === undefined) return;
    if (host.kind === "new-session")
      commands.push(...sessionOptions(first.session, ownerTag(request), Object.keys(request.env)));
    if (host.kind !== "window") commands.push(...windowOptions(first.window, request));
    if (plan.ownWindows) {
      commands.push(["set-option", "-w", "-t", first.window, TAG.apart, "1"]);
      commands.push(...nameWindow(first.window, `${request.name}@${request.teamTitle}`));
      return;
    }
    if (plan.stack !== undefined && i === 0) {
      const ids = panes.map(({ pane }) => pane);
      commands.push(...stackCommands(plan.stack, ids));
      return;
    }
    if (host.kind !== "window") {
      const name = freeWindowName(request.teamTitle, names);
      names.add(name);
      commands.push(...nameWindow(first.window, name));
    }
    const { panes: existing, layout } =
      host.kind === "window" ? host : { panes: 0, layout: layoutOf(undefined) };
    const size = sizeOf(host, first);
    commands.push(...layoutCommands({ id: first.window, size, panes: existing + panes.length, layout }));
    if (host.kind === "window") commands.push(restoreZoom(host.window));
  });
  return commands;
}

/** Returns the size of a pane's window. tmux 3.2a prints the pane of a new session before the session has its size. */
function sizeOf(host: Host, { windowWidth: width, windowHeight: height }: CreatedPane): PaneSize {
  return host.kind === "new-session" ? host.size : { width, height };
}

/**
 * Plans the panes that a batch did not create although tmux works, now that the ids of the plan's windows are printed.
 * @returns the plan and its requests; undefined if no pane can be created in another way
 */
export function remainingPanes(
  plan: PanePlan,
  requests: readonly SpawnRequest[],
  created: ReadonlyMap<string, CreatedPane>,
): { readonly plan: PanePlan; readonly requests: readonly SpawnRequest[] } | undefined {
  const parts = assign(plan, requests);
  const opened = plan.hosts.findIndex(({ host }) => host.kind === "new-session");
  const session = parts[opened]?.flatMap(({ instance }) => created.get(instance)?.session ?? [])[0];
  const rest = plan.hosts.flatMap(({ host }, i): { host: Host; missing: SpawnRequest[] }[] => {
    const part = parts[i] ?? [];
    const missing = part.filter(({ instance }) => !created.has(instance));
    const existing = part.flatMap(({ instance }) => created.get(instance) ?? []);
    const [first] = existing;
    if (missing.length === 0 || host.kind === "window") return [];
    if (first === undefined) {
      if (host.kind !== "same-session" || session === undefined) return [];
      return [{ host: { kind: "new-window", session }, missing }];
    }
    const { window, pane: anchor } = first;
    const layout = layoutOf(undefined);
    return [{ host: { kind: "window", window, anchor, panes: existing.length, layout }, missing }];
  });
  if (rest.length === 0) return undefined;
  const hosts = rest.map(({ host, missing }) => ({ host, count: missing.length }));
  return { plan: { ...plan, hosts }, requests: rest.flatMap(({ missing }) => missing) };
}

/** Returns the commands that print the existing panes of these requests, in the format of {@link createCommands}. */
export function findCommands(requests: readonly SpawnRequest[]): TmuxCommand[] {
  return requests.map(({ instance }) => {
    const [, ...format] = printCreated(instance);
    return ["list-panes", "-a", "-f", isOfStart(instance), ...format];
  });
}

/** Parses what the commands of {@link createCommands} printed, by instance; ignores all other lines. */
export function parseCreatedPanes(lines: readonly string[]): ReadonlyMap<string, CreatedPane> {
  const created = new Map<string, CreatedPane>();
  for (const line of lines) {
    const [mark, instance, id, pid, window, session, width, height, serverPid, ...socket] = line.split(" ");
    const [pane, win, sess] = [paneId(id), windowId(window), sessionId(session)];
    if (mark !== CREATED || instance === undefined) continue;
    if (pane === undefined || win === undefined || sess === undefined) continue;
    created.set(instance, {
      instance,
      pane,
      pid: Number(pid),
      window: win,
      session: sess,
      windowWidth: Number(width),
      windowHeight: Number(height),
      serverPid: Number(serverPid),
      socket: socket.join(" "),
    });
  }
  return created;
}

const CREATED = "teams-created";

function printCreated(instance: string): string[] {
  const variables = "pane_id pane_pid window_id session_id window_width window_height pid socket_path";
  const format = variables
    .split(" ")
    .map((name) => `#{${name}}`)
    .join(" ");
  return ["-P", "-F", `${CREATED} ${instance} ${format}`];
}

function temporaryName(batchId: string, index: number): string {
  return `teams-${batchId}-${index}`;
}

function sessionTarget(host: Exclude<Host, { kind: "window" }>): string {
  return host.kind === "new-window" ? `${host.session}:` : `=${host.name}:`;
}

/** @param before the temporary name of the previous window of the batch */
function hostCommand(
  host: Exclude<Host, { kind: "window" }>,
  temporary: string,
  before: string | undefined,
  request: SpawnRequest,
): BatchLine {
  const words = ["-n", temporary, ...startWords(request)];
  if (host.kind === "new-window") return ["new-window", "-d", "-t", sessionTarget(host), ...words];
  // The previous window identifies the session of this batch: another session may have got the name by now.
  if (host.kind === "same-session")
    return ["new-window", "-d", "-a", "-t", `${sessionTarget(host)}=${before}`, ...words];
  return newSession(host.name, host.size, words);
}

function splitInto(target: string, window: string, request: SpawnRequest): TmuxCommand[] {
  return [
    ["split-window", "-d", "-t", target, ...startWords(request)],
    // Make room for the next split; the final layout follows once sizes are known.
    ["select-layout", "-t", window, "tiled"],
  ];
}

function startWords(request: SpawnRequest): string[] {
  const env = Object.entries(request.env).filter(([name]) => !belongsToPane(name));
  return [
    ...printCreated(request.instance),
    ...env.flatMap(([name, value]) => (value === undefined ? [] : ["-e", `${name}=${value}`])),
    "--",
    ...launchArgv(request.paths, request.instance, request.argv),
  ];
}
