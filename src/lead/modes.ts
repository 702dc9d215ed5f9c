import type { TeamConfig } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { modeToInherit } from "../team/restarts.ts";

/** How much a mode allows without asking. */
const RIGHTS: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  delegate: 1,
  default: 1,
  acceptEdits: 2,
  bypassPermissions: 3,
};

/** Whether a mode allows more than another: a lead's model cannot give more than it has (protocol.md section 6). */
export function exceeds(mode: PermissionMode, own: PermissionMode): boolean {
  return RIGHTS[mode] > RIGHTS[own];
}

/** The mode that a lead's teammates have unless told otherwise: its own, and of one that only coordinates the one from before. */
export function leadsMode({ members }: Pick<TeamConfig, "members">): PermissionMode {
  const lead = members.find(({ name }) => name === LEAD_NAME);
  const mode = lead && modeToInherit(lead);
  return mode === undefined || mode === "delegate" ? "default" : mode;
}
