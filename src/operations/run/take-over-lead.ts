import { randomUUID } from "node:crypto";
import { TeamError } from "../../errors.ts";
import { entryOf } from "../../os/files/fs.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam, updateTeam } from "../../team/config/config.ts";
import { removeRun } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { operand, optionWords } from "../../text/shell-quote.ts";
import type { OperationContext } from "../context.ts";
import { closeRequestsOf } from "../ending/process-ending.ts";
import { endDeadLeadCommands, endDeadLeadWatches } from "../processes/dead-lead.ts";

/** Who leads: `taken` from a process that has died, `yours` as before, a `process` that lives, or `unknown` from here. */
export type LeadOutcome = "taken" | "yours" | "process" | "unknown";

/**
 * Follows a lead whose process has died: the team has no lead's process any more, and a session of its own, so that
 * whoever calls commands leads it (S50).
 * @param force also where nobody can see from here whether it lives
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
      { formerLeadSession: config.leadSessionId },
    );
    return taken ? (next as TeamConfig) : undefined;
  });
  // Somebody else was quicker.
  if (!taken) return "yours";
  closeRequestsOf(ref, LEAD_NAME);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  removeRun(ref, LEAD_NAME);
  return "taken";
}

/** Who leads a team from now on in a process of its own, and what it knows of it. */
interface LeadSession {
  /** The conversation of the lead before it, or a new one. */
  readonly sessionId: string;
  readonly isNew: boolean;
}

/**
 * Makes this process the lead of a team whose lead's process has died, or that a person leads (S50).
 * @throws TeamError ALREADY_LEADING while its lead's process lives, or may live where nobody here can see it
 */
export async function becomeLead(ctx: OperationContext): Promise<LeadSession> {
  const { ref, home, clock } = ctx;
  let taken: LeadSession = { sessionId: randomUUID(), isNew: true };
  await updateTeam(ref, (config) => {
    const lead = leadStateOf(config);
    if (lead === "process" || lead === "unknown") throw alreadyLed(config, lead);
    const before = [config.leadSessionId, readMetadata(config, "formerLeadSession")].find((id) =>
      isSession(home.root, id),
    );
    if (typeof before === "string") taken = { sessionId: before, isNew: false };
    const leadProcess = { ...ownIdentity(), claimedAt: clock.now() };
    const next = isManuallyLed(config) ? withMetadata(config, { ledByPerson: true }) : config;
    return { ...next, leadProcess, leadSessionId: taken.sessionId };
  });
  closeRequestsOf(ref, LEAD_NAME);
  await endDeadLeadCommands(ctx);
  await endDeadLeadWatches(ctx);
  return taken;
}

/** Makes the person its lead again whose team this process has led until its end. @throws TeamError TEAM_NOT_FOUND */
export async function restoreManualLead(ref: TeamRef): Promise<void> {
  const own = ownIdentity();
  await updateTeam(ref, (config) => {
    const { leadProcess, ...rest } = config;
    if (leadProcess?.pid !== own.pid || leadProcess.procStart !== own.procStart) return undefined;
    return withMetadata(rest, { ledByPerson: undefined }) as TeamConfig;
  });
}

/** Whether a person made or led a team before a run took it up: it is theirs, and no run deletes it. */
export function isManuallyLed(config: TeamConfig): boolean {
  return config.leadProcess === undefined || readMetadata(config, "ledByPerson") === true;
}

/** Whether there is a conversation of it; an id that is read from a file becomes the name of one. */
function isSession(root: string, id: unknown): boolean {
  return (
    typeof id === "string" && /^[\w-]{1,128}$/.test(id) && entryOf(transcriptPath(root, id)) !== undefined
  );
}

function alreadyLed({ name, leadProcess }: TeamConfig, lead: "process" | "unknown"): TeamError {
  const where =
    lead === "process" ? `process ${leadProcess?.pid}` : "a process that cannot be seen from here";
  const hint =
    lead === "process"
      ? `Go there: teams attach ${optionWords("--team", name)}`
      : `If it is gone for good: teams resume ${operand(name)} --force, then again`;
  return new TeamError("ALREADY_LEADING", `${name} is led by ${where}; nothing was done.`, { hint });
}

function leadStateOf({ leadProcess }: TeamConfig): "yours" | "process" | "unknown" | "dead" {
  if (leadProcess === undefined) return "yours";
  const liveness = livenessOf(leadProcess);
  return liveness === "alive" ? "process" : liveness;
}
