import { TeamError } from "../errors.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../schema/config.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config/config.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { findMember } from "../team/members/members.ts";
import { currentMode, modeToInherit, setMode } from "../team/members/permission-mode.ts";
import { type OperationContext, requireLead } from "./context.ts";

/** How much a mode allows without asking. */
const MODE_RANK: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  delegate: 1,
  default: 1,
  acceptEdits: 2,
  bypassPermissions: 3,
};

/** Whether a mode allows more than another: a lead's model cannot give more than it has (protocol.md section 6). */
export function exceedsMode(mode: PermissionMode, own: PermissionMode): boolean {
  return MODE_RANK[mode] > MODE_RANK[own];
}

/** The mode that a lead's teammates have unless told otherwise: its own, and of one that only coordinates the one from before. */
export function inheritedMode({ members }: Pick<TeamConfig, "members">): PermissionMode {
  const lead = members.find(({ name }) => name === LEAD_NAME);
  const mode = lead && modeToInherit(lead);
  return mode === undefined || mode === "delegate" ? "default" : mode;
}

interface ModeChange {
  readonly name: string;
  readonly mode: PermissionMode;
  /** null where nobody had said one. */
  readonly before: PermissionMode | null;
}

/**
 * Changes the permission mode of a member: the running agent is told, and one that is started again begins with it. A lead
 * sees it in the team's file.
 * @param decider a model cannot give more than the lead has
 * @param forbidden why bypassPermissions is not to be had; undefined where it is
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED; nothing was changed then
 */
export async function setPermissionMode(
  ctx: OperationContext,
  agent: string,
  mode: PermissionMode,
  { decider, forbidden }: { readonly decider: "person" | "model"; readonly forbidden: string | undefined },
): Promise<ModeChange> {
  requireLead(ctx, "set a permission mode");
  const config = readTeam(ctx.ref);
  const member = findMember(config, agent);
  const lead = modeOf(findMember(config, LEAD_NAME)) ?? "default";
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw denied(`bypassPermissions is forbidden here by ${forbidden}`, "Name another mode: acceptEdits.");
  }
  if (decider === "model" && (sameName(member.name, LEAD_NAME) || exceedsMode(mode, lead))) {
    throw denied(`A model in mode ${lead} cannot give ${member.name} the mode ${mode}`, "A person can.");
  }
  const before = modeOf(member) ?? null;
  await setMode(ctx.ref, member.name, mode);
  if (!sameName(member.name, LEAD_NAME)) {
    const text = formatProtocol(
      { type: "mode_set_request", mode, from: LEAD_NAME },
      new Date(ctx.clock.now()),
    );
    await sendMessage(ctx.ref, { from: LEAD_NAME, to: member.name, text });
  }
  return { name: member.name, mode, before };
}

function modeOf(member: TeamMember): PermissionMode | undefined {
  const parsed = permissionMode.safeParse(currentMode(member));
  return parsed.success ? parsed.data : undefined;
}

function denied(what: string, hint: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${what}; nothing was changed.`, { hint });
}
