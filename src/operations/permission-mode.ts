import { TeamError } from "../errors.ts";
import { formatProtocol } from "../protocol/messages.ts";
import { permissionMode, type TeamConfig, type TeamMember } from "../schema/config.ts";
import { readMetadata } from "../schema/member-metadata.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { memberWord } from "../team/address-words.ts";
import { readTeam } from "../team/config/config.ts";
import { sendMessage } from "../team/mailbox/send.ts";
import { findMember } from "../team/members/members.ts";
import { currentMode, modeToInherit, setMode } from "../team/members/permission-mode.ts";
import { readStatus } from "../team/records/read-records.ts";
import { type OperationContext, requireLead } from "./context.ts";
import type { PeerAnswer } from "./peer-mode.ts";

/** Ranks the modes by how much they allow without asking. */
const MODE_RANK: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  delegate: 1,
  default: 1,
  acceptEdits: 2,
  bypassPermissions: 3,
};

/** Whether a mode allows more than another: a lead's model cannot grant more than its own mode (protocol.md section 6). */
export function exceedsMode(mode: PermissionMode, own: PermissionMode): boolean {
  return MODE_RANK[mode] > MODE_RANK[own];
}

/** Returns the mode that teammates inherit: the lead's own, or in delegate mode the lead's mode from before. */
export function inheritedMode({ members }: Pick<TeamConfig, "members">): PermissionMode {
  const lead = members.find(({ name }) => name === LEAD_NAME);
  const mode = lead && modeToInherit(lead);
  return mode === undefined || mode === "delegate" ? "default" : mode;
}

interface ModeChange {
  readonly name: string;
  readonly mode: PermissionMode;
  /** null if no mode was set. */
  readonly before: PermissionMode | null;
}

/**
 * Changes a member's permission mode. A running teammate gets a message; a restarted one starts with the new mode. A lead reads
 * the mode from the team's config.
 * @param decider a model cannot grant more than the lead's own mode
 * @param forbidden why bypassPermissions is unavailable; undefined if it is available
 * @param onPeer receives how a foreign member handles the change; it sends no confirmation
 * @throws TeamError NOT_LEAD, AGENT_NOT_FOUND, PERMISSION_DENIED, also for a program that does not accept modes; then nothing was changed
 */
export async function setPermissionMode(
  ctx: OperationContext,
  agent: string,
  mode: PermissionMode,
  {
    decider,
    forbidden,
    onPeer,
  }: {
    readonly decider: "person" | "model";
    readonly forbidden: string | undefined;
    readonly onPeer?: (answer: PeerAnswer) => void;
  },
): Promise<ModeChange> {
  requireLead(ctx, "set a permission mode");
  const config = readTeam(ctx.ref);
  const member = findMember(config, agent);
  const lead = modeOf(findMember(config, LEAD_NAME)) ?? "default";
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw denied(`bypassPermissions is forbidden here by ${forbidden}`, "Choose another mode: acceptEdits.");
  }
  if (decider === "model" && (sameName(member.name, LEAD_NAME) || exceedsMode(mode, lead))) {
    throw denied(
      `A model in mode ${lead} cannot set mode ${mode} for ${member.name}`,
      "Ask the user to set it.",
    );
  }
  const peer = await peerAnswer(ctx, config, member);
  if (peer !== undefined) onPeer?.(peer);
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

/** Loads the code for peers only for a member without a status, which may be one, and for a CLI that reads its inbox itself. */
async function peerAnswer(
  ctx: OperationContext,
  config: TeamConfig,
  member: TeamMember,
): Promise<PeerAnswer | undefined> {
  if (member.name === LEAD_NAME) return undefined;
  if (readMetadata(member, "typed") === true) {
    throw denied(
      `teams only types to the program of ${member.name}, which has its own modes`,
      `Change the mode in its pane: teams attach ${memberWord(ctx.ref, member.name, ctx.env)}`,
    );
  }
  const status = readStatus(ctx.ref, member.name);
  if (status !== undefined && status.ownInbox !== true) return undefined;
  const { answerOfPeer } = await import("./peer-mode.ts");
  return answerOfPeer(ctx, config, member);
}

function modeOf(member: TeamMember): PermissionMode | undefined {
  const parsed = permissionMode.safeParse(currentMode(member));
  return parsed.success ? parsed.data : undefined;
}

function denied(what: string, hint: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${what}; nothing was changed.`, { hint });
}
