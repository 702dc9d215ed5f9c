import { join } from "node:path";
import * as z from "zod/mini";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { withLock } from "../../store/lock.ts";
import type { Home } from "../ref.ts";

/** Maximum number of sessions in the list; the oldest are removed first. */
const MAX_SESSIONS = 200;

const emptySessions = z.object({ sessions: z.array(z.string()) });

function pathOf({ root }: Home): string {
  return join(root, "acp-empty-sessions.json");
}

/** Whether a client may still load this session, although its team was deleted: it never had a prompt. */
export function isKnownEmpty(home: Home, session: string): boolean {
  return listed(home).includes(session);
}

/**
 * Adds a session to the list of empty ones, or removes it. Idempotent.
 * @throws TeamError LOCK_TIMEOUT; a system error if the list cannot be written
 */
export async function setKnownEmpty(home: Home, session: string, isEmpty: boolean): Promise<void> {
  if (listed(home).includes(session) === isEmpty) return;
  const path = pathOf(home);
  ensureDir(home.root);
  await withLock(path, ({ assertOwned }) => {
    const others = listed(home).filter((one) => one !== session);
    const sessions = [...others, ...(isEmpty ? [session] : [])].slice(-MAX_SESSIONS);
    replaceFile(path, formatJson({ sessions }), { beforeRename: () => assertOwned() });
  });
}

function listed(home: Home): readonly string[] {
  return readRecordFile(pathOf(home), emptySessions)?.sessions ?? [];
}
