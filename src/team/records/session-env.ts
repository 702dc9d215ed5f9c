import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { ensureDir, listDir, removeIfEmpty, removeTree, temporaryWriter } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { SESSION_ENV_FILE, sessionEnvPath } from "../../protocol/paths.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { isSessionId, LEAD_NAME } from "../../schema/names.ts";
import type { Home, TeamRef } from "../ref.ts";
import { readStatus } from "./read-records.ts";

/** Creates the directory of the variables that a session's hooks set. Idempotent. */
export function createSessionEnv({ root }: Home, sessionId: string | undefined): void {
  if (isSessionId(sessionId)) ensureDir(sessionEnvPath(root, sessionId));
}

/**
 * Removes our files in the directory of a session's variables, even if a hook has replaced a file with a directory. Then removes the
 * directory if it is empty: Claude Code keeps the variables of its sessions there, too. Does nothing for an id that could name another path.
 */
export function removeSessionEnv({ root }: Home, sessionId: string | undefined): void {
  if (!isSessionId(sessionId)) return;
  const directory = sessionEnvPath(root, sessionId);
  for (const name of listDir(directory)) {
    const isUnfinished = name.startsWith(".hook-") && temporaryWriter(name) !== undefined;
    if (SESSION_ENV_FILE.test(name) || isUnfinished) removeTree(join(directory, name));
  }
  removeIfEmpty(directory);
}

/** Like {@link removeSessionEnv}, but reports a directory that cannot be removed instead of throwing. */
export function tryRemoveSessionEnv(
  home: Home,
  sessionId: string | undefined,
  problem: (text: string) => void,
): void {
  try {
    removeSessionEnv(home, sessionId);
  } catch (error) {
    const directory = sessionEnvPath(home.root, sessionId ?? "");
    problem(`${directory} could not be removed (${messageOf(error)}); remove the directory yourself`);
  }
}

/**
 * Removes the directories of all members of a team that is being deleted. A lead's model that deletes its team continues to run
 * commands: its own directory is removed at the end of its run.
 * @param problem receives each directory that cannot be removed
 */
export function removeSessionEnvs(ref: TeamRef, config: TeamConfig, problem: (text: string) => void): void {
  const lead = readStatus(ref, LEAD_NAME);
  const running = lead !== undefined && livenessOf(lead.process) === "alive" ? lead.sessionId : undefined;
  const { members, former = [], leadSessionId } = config;
  const sessions = [
    leadSessionId,
    readMetadata(config, "formerLeadSession"),
    ...members.flatMap((member) => [
      readMetadata(member, "session"),
      readStatus(ref, member.name)?.sessionId,
    ]),
    ...former.map(({ sessionId }) => sessionId),
  ];
  for (const id of new Set(sessions)) if (id !== running) tryRemoveSessionEnv(ref.home, id, problem);
}
