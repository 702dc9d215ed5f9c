import { permissionMode, type TeamMember } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { findMember } from "./members.ts";

/** The mode that a member was given while it worked, by an approved plan or a request of the lead. */
export function grantedMode(member: TeamMember): PermissionMode | undefined {
  return readMetadata(member, "grantedMode");
}

/** The mode that a member has as far as its team knows: given while it worked, else what it was spawned with. */
export function currentMode(member: TeamMember): string | undefined {
  return grantedMode(member) ?? (member.planModeRequired === true ? "plan" : member.mode);
}

/** The mode that a lead's teammates have: its own, or from before it went over to coordinating alone. */
export function modeToInherit(member: TeamMember): PermissionMode | undefined {
  if (member.mode === "delegate") return readMetadata(member, "modeBefore");
  return permissionMode.safeParse(member.mode).data;
}

/** The mode that a member had when it was told to plan: the approval of its plan gives that back. */
export function modeBeforePlan(member: TeamMember): PermissionMode | undefined {
  return readMetadata(member, "modeBefore");
}

/** Gives a member a mode: the one that it goes on in when it is started again. @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND */
export async function setMode(ref: TeamRef, name: string, mode: PermissionMode): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    const isLead = member.name === LEAD_NAME;
    const before = isLead ? beforeDelegate(member, mode) : beforePlan(member, mode);
    const next = withMetadata(
      { ...member, mode },
      { modeBefore: before, ...(!isLead && { grantedMode: mode }) },
    );
    return { ...config, members: config.members.map((one) => (one === member ? next : one)) };
  });
}

function beforeDelegate(lead: TeamMember, mode: PermissionMode): PermissionMode | undefined {
  return mode === "delegate" ? modeToInherit(lead) : undefined;
}

function beforePlan(member: TeamMember, mode: PermissionMode): PermissionMode | undefined {
  if (mode !== "plan") return undefined;
  const now = currentMode(member);
  return now === "plan" ? modeBeforePlan(member) : permissionMode.safeParse(now).data;
}

/**
 * Says that a member is in a turn, and in which mode.
 * @param mode one that it was given while it worked, in which it is to go on when it is started again
 * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
 */
export async function recordTurnStart(
  ref: TeamRef,
  name: string,
  mode: PermissionMode | undefined,
): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    // A lead's own field says it at once.
    const kept = member.name === LEAD_NAME ? undefined : (mode ?? grantedMode(member));
    if (member.isActive === true && grantedMode(member) === kept) return undefined;
    const next = withMetadata({ ...member, isActive: true }, { grantedMode: kept });
    return { ...config, members: config.members.map((one) => (one === member ? next : one)) };
  });
}
