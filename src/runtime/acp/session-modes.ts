import type { SessionModeState } from "@agentclientprotocol/sdk";
import { PERMISSION_MODES, type PermissionMode } from "../../schema/permission-modes.ts";

const ABOUT: Readonly<Record<PermissionMode, readonly [name: string, description: string]>> = {
  default: ["Default", "Asks about each action that no rule allows"],
  acceptEdits: ["Accept edits", "Allows changes of files in the working directory; asks about the rest"],
  plan: ["Plan", "Reads and plans, and changes nothing"],
  bypassPermissions: ["Bypass permissions", "Allows everything without asking"],
  dontAsk: ["Don't ask", "Denies what no rule allows, without asking"],
  delegate: ["Delegate", "Only coordinates: the teammates do the work"],
};

/**
 * Returns the permission modes that a client can choose.
 * @param isAlone true if the agent has no team to delegate to
 * @param isBypassForbidden true if a setting forbids the mode that allows everything
 */
export function modesOf(
  currentModeId: PermissionMode,
  { isAlone, isBypassForbidden }: { readonly isAlone: boolean; readonly isBypassForbidden: boolean },
): SessionModeState {
  const offered = PERMISSION_MODES.filter(
    (mode) => !(isAlone && mode === "delegate") && !(isBypassForbidden && mode === "bypassPermissions"),
  );
  return {
    currentModeId,
    availableModes: offered.map((id) => ({ id, name: ABOUT[id][0], description: ABOUT[id][1] })),
  };
}

/** Returns the mode with this id; undefined if there is none. */
export function modeNamed(id: string): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => mode === id);
}
