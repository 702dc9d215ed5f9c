import { budget } from "../operations/budget.ts";
import { captureScreen, SCREEN_LINES } from "../operations/capture-screen.ts";
import { KILL_TIMEOUT, killAllTeammates, killTeammates } from "../operations/ending/kill.ts";
import { SHUTDOWN_TIMEOUT, shutdownTeammates } from "../operations/ending/shutdown.ts";
import { withWorktreeEnds } from "../operations/ending/worktree-report.ts";
import { interruptAgent } from "../operations/interrupt.ts";
import { changeMode } from "../runtime/commands/change-mode.ts";
import { knownCosts } from "../runtime/commands/known-costs.ts";
import { startTeammate } from "../runtime/commands/start-teammate.ts";
import { refuseNesting } from "../runtime/operation-context.ts";
import { deciderOf, memberByAddress, type OpenTeam } from "../runtime/select-team.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { loadSettings } from "../settings/settings.ts";
import type { TeamAccess } from "./access.ts";
import { interrupted } from "./attempt.ts";
import {
  requireChoices,
  requireLimits,
  requireLines,
  requireMilliseconds,
  requireOpenKeys,
} from "./checks.ts";
import { recordingDirectory, requireProgram } from "./host.ts";
import type { KillOptions, ShutdownOptions, SpawnOptions } from "./options.ts";
import type { InterruptReport, KillReport, ModeChange, ShutdownReport } from "./reports.ts";
import type { Budget, BudgetLimits, PermissionMode } from "./values.ts";

/** Starts a teammate. @returns its name */
export async function spawnMember(
  access: TeamAccess,
  name: string,
  options: SpawnOptions,
  signal: AbortSignal,
): Promise<string> {
  const { systemPrompt, appendSystemPrompt, worktree, teammateMode, placement, debug, recording, ...rest } =
    options;
  const { signal: _signal, ...input } = rest;
  const call = access.caller(signal);
  refuseNesting(call, "start a teammate");
  requireProgram(access.host);
  requireOpenKeys(input.metadata);
  requireLimits(input.budget);
  requireChoices({
    ...{ permissionMode: input.permissionMode, sandbox: input.sandbox },
    ...{ teammateMode, placement },
  });
  const overrides = defined({ override: systemPrompt, append: appendSystemPrompt });
  const worktreeInput = worktree === true ? {} : worktree ? defined(worktree) : undefined;
  const spawned = await startTeammate(call, access.open(), {
    input: {
      name,
      ...defined({ ...input, budget: input.budget && defined(input.budget), worktree: worktreeInput }),
      ...(Object.keys(overrides).length === 0 ? {} : { promptOverrides: overrides }),
    },
    settings: access.settings(),
    mode: teammateMode,
    recording: recordingDirectory(access.host, recording),
    ...defined({ placement, debug }),
  });
  return spawned.name;
}

/** Returns the name of a member as the team spells it. @throws TeamError AGENT_NOT_FOUND */
export function memberName(access: TeamAccess, address: string): string {
  const { ref, config } = access.open();
  return memberByAddress(ref, config, address).name;
}

export async function peek(
  access: TeamAccess,
  address: string,
  signal: AbortSignal,
  { lines = SCREEN_LINES }: { readonly lines?: number | undefined } = {},
): Promise<readonly string[]> {
  requireLines(lines);
  const name = memberName(access, address);
  return captureScreen(await access.fullContext(signal), name, lines);
}

export async function interrupt(
  access: TeamAccess,
  address: string,
  signal: AbortSignal,
): Promise<InterruptReport> {
  const { name, outcome } = await interruptAgent(access.filesContext(signal), memberName(access, address), {
    signal,
  });
  return { name, outcome };
}

export function setMode(
  access: TeamAccess,
  address: string,
  mode: PermissionMode,
  signal: AbortSignal,
): Promise<ModeChange> {
  requireChoices({ mode });
  const open = access.open();
  const member = memberByAddress(open.ref, open.config, address);
  return changeMode(access.caller(signal), open, member, mode, ({ takes }) => {
    if (takes !== "yes")
      access.host.note(`${member.name} was asked to change its mode; its program may ignore the request.`);
  });
}

/** @param address the address of a member; undefined for the budget of the team */
export function setBudget(
  access: TeamAccess,
  address: string | undefined,
  limits: BudgetLimits,
  signal: AbortSignal,
): Promise<Budget> {
  requireLimits(limits);
  const settings = loadSettings(access.home.root, access.host.cwd);
  return budget(
    access.filesContext(signal),
    address === undefined ? undefined : memberName(access, address),
    defined(limits),
    knownCosts(settings),
    deciderOf(access.host.env),
  );
}

export async function shutdown(
  access: TeamAccess,
  addresses: readonly string[] | undefined,
  { timeoutMs = SHUTDOWN_TIMEOUT, reason }: ShutdownOptions,
  signal: AbortSignal,
): Promise<readonly ShutdownReport[]> {
  requireMilliseconds(timeoutMs);
  const open = access.open();
  const ctx = await access.fullContext(signal, open);
  const reports = await shutdownTeammates(ctx, chosenMembers(open, addresses), {
    ...{ timeoutMs, signal },
    ...defined({ reason }),
  });
  return unlessInterrupted(signal, await withWorktreeEnds(ctx, open.config.members, reports));
}

/** @throws TeamError INTERRUPTED with the reports, if the signal has ended the wait for a member */
export function unlessInterrupted(
  signal: AbortSignal,
  reports: readonly ShutdownReport[],
): readonly ShutdownReport[] {
  const waiting = reports.filter(({ outcome }) => outcome === "timed-out").map(({ name }) => name);
  if (!signal.aborted || waiting.length === 0) return reports;
  const message = `Interrupted before ${waiting.join(", ")} had ended; the shutdown request stays open.`;
  throw interrupted(signal, message, { reports });
}

export async function kill(
  access: TeamAccess,
  addresses: readonly string[] | undefined,
  { timeoutMs = KILL_TIMEOUT, force = false, discardWorktree = false }: KillOptions,
  signal: AbortSignal,
): Promise<readonly KillReport[]> {
  requireMilliseconds(timeoutMs);
  const open = access.openToChange();
  const ctx = await access.fullContext(signal, open);
  const how = { timeoutMs, force, discardWorktrees: discardWorktree, signal };
  if (addresses === undefined) return killAllTeammates(ctx, how);
  return killTeammates(ctx, chosenMembers(open, addresses), how);
}

/** Returns the names of the addressed members; without addresses, those of all teammates. */
function chosenMembers(
  { ref, config }: OpenTeam,
  addresses: readonly string[] | undefined,
): readonly string[] {
  if (addresses !== undefined) return addresses.map((one) => memberByAddress(ref, config, one).name);
  return config.members.map(({ name }) => name).filter((name) => name !== LEAD_NAME);
}
