import { permissionMode, type TeamMember } from "../../schema/config.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { updateTeam } from "../config/config.ts";
import type { TeamRef } from "../ref.ts";
import { findMember, withReplaced } from "./members.ts";

/** Returns the mode that a member received while it worked, from an approved plan or a request of the lead. */
export function grantedMode(member: TeamMember): PermissionMode | undefined {
  return readMetadata(member, "grantedMode");
}

/** Returns a member's mode according to its config entry: the mode that it received while it worked, or else its mode at the spawn. */
export function currentMode(member: TeamMember): string | undefined {
  return grantedMode(member) ?? (member.planModeRequired === true ? "plan" : member.mode);
}

/** Returns the mode that a lead's teammates inherit: its own or, in delegate mode, its mode before that. */
export function modeToInherit(member: TeamMember): PermissionMode | undefined {
  if (member.mode === "delegate") return readMetadata(member, "modeBefore");
  return permissionMode.safeParse(member.mode).data;
}

/** Returns the mode that a member had before plan mode; approving its plan restores it. */
export function modeBeforePlan(member: TeamMember): PermissionMode | undefined {
  return readMetadata(member, "modeBefore");
}

/** Sets a member's mode, which it keeps after a restart. @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND */
export async function setMode(ref: TeamRef, name: string, mode: PermissionMode): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    const isLead = member.name === LEAD_NAME;
    const before = isLead ? beforeDelegate(member, mode) : beforePlan(member, mode);
    const next = withMetadata(
      { ...member, mode },
      { modeBefore: before, ...(!isLead && { grantedMode: mode }) },
    );
    return withReplaced(config, member, next);
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
 * Records that a member is in a turn, and its mode.
 * @param mode mode that it received while it worked, to be kept after a restart
 * @throws TeamError AGENT_NOT_FOUND, TEAM_NOT_FOUND
 */
export async function recordTurnStart(
  ref: TeamRef,
  name: string,
  mode: PermissionMode | undefined,
): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    // A lead's mode is in its `mode` field already.
    const kept = member.name === LEAD_NAME ? undefined : (mode ?? grantedMode(member));
    if (member.isActive === true && grantedMode(member) === kept) return undefined;
    const next = withMetadata({ ...member, isActive: true }, { grantedMode: kept });
    return withReplaced(config, member, next);
  });
}
