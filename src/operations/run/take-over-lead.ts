import { randomUUID } from "node:crypto";
import { TeamError } from "../../errors.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { isSessionId, LEAD_NAME } from "../../schema/names.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import { spentBy, withSpentOf } from "../../team/members/budget.ts";
import { removeRun } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { closeRequestsOf } from "../ending/process-ending.ts";
import { endDeadLeadCommands, endDeadLeadWatches } from "../processes/dead-lead.ts";
import { finishRename } from "./rename-team.ts";

/**
 * Who leads the team: `taken`: the caller took over from a dead process; `yours`: the caller, as before; `process`: a running
 * process; `unknown`: a process whose liveness cannot be judged from here.
 */
export type LeadOutcome = "taken" | "yours" | "process" | "unknown";

/**
 * Takes over from a lead whose process has died: removes the lead process from the config and sets a new session, so that
 * the caller of commands leads the team (S50).
 * @param force also takes over if the liveness of the lead's process is unknown here
 */
export async function takeOverLead(ctx: OperationContext, force: boolean): Promise<LeadOutcome> {
  const { ref } = ctx;
  const before = leadStateOf(readTeam(ref));
  if (before !== "dead" && !(before === "unknown" && force)) return before;
  let taken = false;
  await updateTeam(ref, (config) => {
    taken = leadStateOf(config) === before;
    const { leadProcess: _dead, ...rest } = config;
    const next = withMetadata(
      { ...rest, leadSessionId: randomUUID() },
      // Its record, which has its spending too, is deleted below.
      { formerLeadSession: config.leadSessionId, formerLeadSpent: spentBy(ref, LEAD_NAME) },
    );
    return taken ? (next as TeamConfig) : undefined;
  });
  // Another process took over first.
  if (!taken) return "yours";
  await finishRename(ref);
  closeRequestsOf(ref, LEAD_NAME);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  removeRun(ref, LEAD_NAME);
  return "taken";
}

/** The session of a process that became the lead. */
interface LeadSession {
  /** The conversation of the previous lead, or a new one. */
  readonly sessionId: string;
  readonly isNew: boolean;
}

/**
 * Makes this process the lead of a team whose lead's process has died, or that a person leads (S50).
 * @throws TeamError ALREADY_LEADING if the lead's process lives, or if its liveness is unknown here
 */
export async function becomeLead(ctx: OperationContext): Promise<LeadSession> {
  const { ref, home, clock } = ctx;
  let session: LeadSession = { sessionId: randomUUID(), isNew: true };
  await updateTeam(ref, (config) => {
    const lead = leadStateOf(config);
    if (lead === "process" || lead === "unknown") throw alreadyLed(config, lead);
    const before = [config.leadSessionId, readMetadata(config, "formerLeadSession")].find((id) =>
      isConversation(home.root, id),
    );
    if (typeof before === "string") session = { sessionId: before, isNew: false };
    const leadProcess = { ...ownIdentity(), claimedAt: clock.now() };
    const next = isManuallyLed(config) ? withMetadata(config, { ledByPerson: true }) : config;
    return { ...withFormerLeadSpent(next, session), leadProcess, leadSessionId: session.sessionId };
  });
  await finishRename(ref);
  closeRequestsOf(ref, LEAD_NAME);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  return session;
}

/** Moves the spending of a lead that a person replaced to that of former members, unless a continued conversation contains it. */
function withFormerLeadSpent(config: TeamConfig, { isNew }: LeadSession): TeamConfig {
  const spent = readMetadata(config, "formerLeadSpent");
  if (spent === undefined) return config;
  return withMetadata(isNew ? withSpentOf(config, spent) : config, { formerLeadSpent: undefined });
}

/** Returns the lead to the person whose team this process led until now. @throws TeamError TEAM_NOT_FOUND */
export async function restoreManualLead(ref: TeamRef): Promise<void> {
  await updateOwnTeam(
    ref,
    ({ leadProcess: _own, ...rest }) => withMetadata(rest, { ledByPerson: undefined }) as TeamConfig,
  );
}

/** The start time of a lead that has ended before its process: no process has it. */
const RELEASED = "released";

/**
 * Ends the lead while its process continues: its record counts as that of a dead process, so that the team can be resumed.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function releaseLead(ref: TeamRef): Promise<void> {
  await updateOwnTeam(ref, (config) => ({
    ...config,
    leadProcess: { ...config.leadProcess, ...ownIdentity(), procStart: RELEASED },
  }));
}

/** Changes the config of a team if this process leads it. */
async function updateOwnTeam(ref: TeamRef, change: (config: TeamConfig) => TeamConfig): Promise<void> {
  const own = ownIdentity();
  await updateTeam(ref, (config) => {
    const { pid, procStart } = config.leadProcess ?? {};
    return pid === own.pid && procStart === own.procStart ? change(config) : undefined;
  });
}

/** Whether a person created or led the team before a run resumed it. Such a team is never deleted by a run. */
export function isManuallyLed(config: TeamConfig): boolean {
  return config.leadProcess === undefined || readMetadata(config, "ledByPerson") === true;
}

/** Whether a conversation with this id exists. */
export function isConversation(root: string, id: unknown): boolean {
  return isSessionId(id) && entryOf(transcriptPath(root, id)) !== undefined;
}

function alreadyLed({ name, leadProcess }: TeamConfig, lead: "process" | "unknown"): TeamError {
  const where =
    lead === "process" ? `process ${leadProcess?.pid}` : "a process that cannot be seen from here";
  const hint =
    lead === "process"
      ? `Go to its pane: teams attach ${optionWords("--team", name)}`
      : `If it is gone for good, run teams resume ${operand(name)} --force, then try again.`;
  return new TeamError("ALREADY_LEADING", `${name} is led by ${where}; nothing was done.`, { hint });
}

function leadStateOf({ leadProcess }: TeamConfig): "yours" | "process" | "unknown" | "dead" {
  if (leadProcess === undefined) return "yours";
  const liveness = livenessOf(leadProcess);
  return liveness === "alive" ? "process" : liveness;
}
