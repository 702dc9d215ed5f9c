import type { PermissionMode } from "../schema/permission-modes.ts";

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
