import type { PeerAnswer } from "../../operations/peer-mode.ts";
import { setPermissionMode } from "../../operations/permission-mode.ts";
import type { TeamMember } from "../../schema/config.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { bypassForbiddenBy, loadSettings } from "../../settings/settings.ts";
import type { Caller } from "../caller.ts";
import { filesContext } from "../operation-context.ts";
import { deciderOf, type OpenTeam } from "../select-team.ts";

/**
 * Changes a member's permission mode, as the settings of its directory and the rights of the caller allow.
 * @param onPeer receives what a member of another program does with the change
 * @throws TeamError as `setPermissionMode`
 */
export function changeMode(
  call: Caller,
  open: OpenTeam,
  member: TeamMember,
  mode: PermissionMode,
  onPeer: (answer: PeerAnswer) => void,
): ReturnType<typeof setPermissionMode> {
  const { env, cwd } = call.io;
  const settings = loadSettings(open.home.root, member.cwd || cwd);
  return setPermissionMode(filesContext(call, open), member.name, mode, {
    onPeer,
    decider: deciderOf(env),
    forbidden: bypassForbiddenBy(settings, { ...env, ...settings.env }),
  });
}
