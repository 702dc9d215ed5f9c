import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { TeamError } from "../../errors.ts";
import type { LaunchScriptInput } from "../../launch/launch-script.ts";
import { discardLaunch, prepareLaunches } from "../../launch/prepare.ts";
import { endTree } from "../../os/process/process-tree.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { withLock } from "../../store/lock.ts";
import { attemptBatch } from "../../tmux/attempt-batch.ts";
import { errorKindOf, TmuxError } from "../../tmux/error.ts";
import { listPanes, type PaneList } from "../../tmux/list-panes.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { requireSupported } from "../../tmux/version.ts";
import { LEFTOVER_GRACE_MS } from "../await-start.ts";
import type { NotHereReason, Placement, SpawnRequest } from "../backend.ts";
import { actualPosition, POSITION_OPTIONS } from "./caller-position.ts";
import type { PaneSize } from "./grid.ts";
import {
  type CreatedPane,
  createCommands,
  findCommands,
  finishCommands,
  parseCreatedPanes,
  remainingPanes,
} from "./pane-commands.ts";
import { isInOurSession, ownerTag } from "./pane-tags.ts";
import { type PanePlan, PLAN_OPTIONS, planPanes } from "./plan-panes.ts";
import { attemptCreation, explainServerEnd, refuseManualSize, WINDOW_SIZE } from "./server-options.ts";

type Created = ReadonlyMap<string, CreatedPane>;

/** Why panes are missing. */
interface Problem {
  readonly errors: readonly string[];
  readonly hint?: string | undefined;
}

interface CreatedPanes {
  /** The panes, by instance. */
  readonly created: Created;
  /** The panes next to the caller, by instance: each with its window and the earlier layout of that window. */
  readonly stacked: ReadonlyMap<string, PlaceRecord["beside"]>;
  /** The instances of the panes in a session of the team. */
  readonly inTeamSession: ReadonlySet<string>;
  /** Why other panes are not next to the caller, if that was requested. */
  readonly notHere?: NotHereReason | undefined;
  readonly problem: Problem;
}

/**
 * Makes the three calls of a spawn: list panes, create panes, tag them. After a problem, it lists the panes again: the result contains
 * each created pane, and no process of the other requests is left. A lock serialises the spawns of a team, so the second spawn finds the
 * window of the first; it is released before the agents are ready.
 * @throws TeamError if tmux does not work; nothing is left behind
 */
export async function createPanes(
  server: TmuxServer,
  requests: readonly SpawnRequest[],
  placement: Placement,
  minPane: PaneSize | undefined,
): Promise<CreatedPanes> {
  const [first] = requests;
  if (first === undefined) {
    const none = new Map();
    return { created: none, stacked: none, inTeamSession: new Set(), problem: { errors: [] } };
  }
  const preparing = prepareLaunches(requests.map(scriptOf));
  const list = (): Promise<PaneList> =>
    listPanes(server, [...PLAN_OPTIONS, ...POSITION_OPTIONS, WINDOW_SIZE]);
  const make = async (seen: PaneList): Promise<{ readonly plan: PanePlan; readonly panes: CreatedPanes }> => {
    const position = actualPosition(seen, placement);
    const plan = planPanes(seen, first, requests.length, { kind: placement.kind, ...position }, minPane);
    if (plan.hosts.some(({ host }) => host.kind !== "window")) await refuseManualSize(server, seen);
    try {
      return { plan, panes: await makePanes(server, seen, plan, requests, placement) };
    } catch (error) {
      await endProcessesOf(requests);
      throw await explainServerEnd(server, error);
    }
  };
  const making = withLock(join(dirname(first.paths.run), "panes"), async (): Promise<CreatedPanes> => {
    // Both start a program, so run them in parallel.
    const [seen] = await Promise.all([list(), preparing]);
    const { plan, panes } = await make(seen);
    return hasLostWindow(plan, panes) ? (await make(await list())).panes : panes;
  });
  const [prepared, panes] = await Promise.allSettled([preparing, making]);
  // Remove nothing here: the preparation fails if a foreign file has one of its names, and that file must stay.
  if (prepared.status === "rejected") throw prepared.reason;
  if (panes.status === "fulfilled") return panes.value;
  for (const { paths } of requests) discardLaunch(paths);
  throw panes.reason;
}

/** True if nothing was created because the pane to split in the team's window has ended since it was listed. */
function hasLostWindow(plan: PanePlan, { created, problem }: CreatedPanes): boolean {
  if (created.size > 0 || !plan.hosts.some(({ host }) => host.kind === "window")) return false;
  return problem.errors.some((line) => errorKindOf(line) === "no-target");
}

async function makePanes(
  server: TmuxServer,
  seen: PaneList,
  plan: PanePlan,
  requests: readonly SpawnRequest[],
  placement: Placement,
): Promise<CreatedPanes> {
  const { created, problem } = await createAll(server, seen, plan, requests);
  // The version of a server that was not running is unknown until now.
  if (created.size === 0 && !seen.running) requireSupported(await server.version());
  const missing = requests.filter(({ instance }) => !created.has(instance));
  if (missing.length > 0) await endProcessesOf(missing);
  const [some] = created.values();
  const notHere = placement.kind === "here" ? plan.notHere : undefined;
  const inTeamSession = inTeamSessions(seen, requests, created);
  const made = { created, inTeamSession, notHere, problem };
  if (some === undefined) return { ...made, stacked: new Map() };
  const { serverPid } = some;
  const { failure, errors } = await attemptBatch(server, finishCommands(plan, requests, created), {
    serverPid,
  });
  const stacked = stackedOf(plan, requests);
  if (failure === undefined && errors.length === 0) return { ...made, stacked };
  // The panes exist and their agents tag them, so only the places next to the caller must be checked.
  return { ...made, stacked: await reallyStacked(server, plan, stacked, created) };
}

/** Creates the panes of a plan, if necessary in several batches. @throws TmuxError if nothing was created */
async function createAll(
  server: TmuxServer,
  seen: PaneList,
  plan: PanePlan,
  requests: readonly SpawnRequest[],
): Promise<{ readonly created: Created; readonly problem: Problem }> {
  const created = new Map<string, CreatedPane>();
  const errors: string[] = [];
  let part: ReturnType<typeof remainingPanes> = { plan, requests };
  let { serverPid, running } = seen;
  while (part !== undefined) {
    const before = created.size;
    const batch = createCommands(part.plan, part.requests, randomUUID());
    const answer = await attemptCreation(server, batch, { running, serverPid });
    for (const pane of parseCreatedPanes(answer.lines).values()) created.set(pane.instance, pane);
    errors.push(...answer.errors);
    const [some] = created.values();
    if (isNoServer(answer.failure)) throw answer.failure;
    if (answer.failure !== undefined) {
      const found = await findPanes(server, requests);
      return { created: found ?? created, problem: { errors, hint: await answer.advice() } };
    }
    if (created.size === requests.length) break;
    if (created.size === before) return { created, problem: { errors, hint: await answer.advice() } };
    part = remainingPanes(plan, requests, created);
    serverPid = some?.serverPid ?? serverPid;
    running = true;
  }
  return { created, problem: { errors } };
}

/** Lists the panes of these requests; undefined if the server does not answer. */
async function findPanes(
  server: TmuxServer,
  requests: readonly SpawnRequest[],
): Promise<Created | undefined> {
  try {
    return parseCreatedPanes((await server.batch(findCommands(requests))).lines);
  } catch (error) {
    if (error instanceof TmuxError) return undefined;
    throw error;
  }
}

/** Ends the processes that carry the instance of a request without a pane. */
async function endProcessesOf(requests: readonly SpawnRequest[]): Promise<void> {
  const root = { pid: 0, procStart: "" };
  const how = { graceMs: LEFTOVER_GRACE_MS };
  await Promise.all(requests.map(({ instance: marker }) => endTree({ root, marker }, how)));
}

/** Returns the instances whose pane is in a new session or in a session of the team. */
function inTeamSessions(
  seen: PaneList,
  requests: readonly SpawnRequest[],
  created: Created,
): ReadonlySet<string> {
  return new Set(
    requests.flatMap((request) => {
      const pane = created.get(request.instance);
      const before = seen.panes.find(({ session }) => session === pane?.session);
      const isIn = pane !== undefined && (before === undefined || isInOurSession(before, ownerTag(request)));
      return isIn ? [request.instance] : [];
    }),
  );
}

/** Returns the stacked panes, which belong to the first requests of the plan. */
function stackedOf({ stack }: PanePlan, requests: readonly SpawnRequest[]): CreatedPanes["stacked"] {
  if (stack === undefined) return new Map();
  const beside = { window: stack.window, layout: stack.before };
  return new Map(requests.slice(0, stack.count).map(({ instance }) => [instance, beside]));
}

/** Returns the stacked panes that are in the caller's window; all stacked panes if the server does not answer. */
async function reallyStacked(
  server: TmuxServer,
  { stack }: PanePlan,
  stacked: CreatedPanes["stacked"],
  created: Created,
): Promise<CreatedPanes["stacked"]> {
  if (stack === undefined) return stacked;
  try {
    const { panes } = await listPanes(server);
    const inWindow = new Set(panes.filter(({ window }) => window === stack.window).map(({ id }) => id));
    return new Map(
      [...stacked].filter(([instance]) => inWindow.has(created.get(instance)?.pane ?? stack.caller)),
    );
  } catch (error) {
    if (error instanceof TmuxError) return stacked;
    throw error;
  }
}

function scriptOf(request: SpawnRequest): LaunchScriptInput {
  return {
    agentId: request.agentId,
    cwd: request.cwd,
    paths: request.paths,
    keptVariables: Object.keys(request.env),
    bells: request.bells,
    surface: "pane",
  };
}

/** Creates the error for a request without a pane. */
export function notCreated(request: SpawnRequest, { errors, hint }: Problem): TeamError {
  const why = [...new Set(errors)].join("; ").replace(/\.$/, "") || "it gave no reason";
  const next = /no space/.test(why)
    ? "Enlarge the window, or use --session for a separate session."
    : (hint ?? "Check the tmux server: outside tmux, $TEAMS_TMUX_SOCKET is its name, as for tmux -L.");
  return new TeamError("TMUX_ERROR", `tmux created no pane for ${request.name}: ${why}.`, {
    hint: `${request.name} was not started. ${next}`,
    details: { kind: "refused", errors },
  });
}
