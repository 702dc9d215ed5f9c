import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import { ensureOwnDirectory, scratchDirectory } from "../files/app-directories.ts";
import { entryOf, listDir, removeTree } from "../files/fs.ts";
import { bootId, identityOf, pidSpace } from "./identity.ts";
import { ownPid } from "./process-table.ts";

/** A directory in `/tmp/teams-<uid>` that only this user can enter, and that is removed when this process exits. */
interface ProcessDirectory {
  readonly path: string;
  remove(): void;
}

/** `<purpose>-<pid>-<id of the boot and the pid space>-<random>` */
const NAME = /^(?:sandbox|socket)-(\d+)-([0-9a-f]{8})-[0-9a-f]{12}$/;
/** Milliseconds after which a directory of another boot or container, whose pids are unknown here, is removed. */
const RETENTION_MS = 3 * 24 * 60 * 60 * 1000;

/** The directories of this process, which may have many agents. */
const open = new Set<string>();

/** Creates a directory, and removes the directories of killed processes. @throws TeamError PERMISSION_DENIED */
export function createProcessDirectory(purpose: "sandbox" | "socket"): ProcessDirectory {
  const scratch = scratchDirectory();
  ensureOwnDirectory(scratch);
  removeOld(scratch);
  const path = join(scratch, `${purpose}-${ownPid}-${bootAndSpace()}-${randomBytes(6).toString("hex")}`);
  ensureOwnDirectory(path);
  if (open.size === 0) process.once("exit", removeAll);
  open.add(path);
  return {
    path,
    remove: () => {
      removeTree(path);
      open.delete(path);
      if (open.size === 0) process.off("exit", removeAll);
    },
  };
}

/** Identifies this boot and this container, as other containers may share /tmp. Pids are known only inside them. */
function bootAndSpace(): string {
  return createHash("sha256").update(`${bootId()} ${pidSpace()}`).digest("hex").slice(0, 8);
}

function removeAll(): void {
  for (const path of open) removeTree(path);
}

function removeOld(scratch: string): void {
  const here = bootAndSpace();
  for (const name of listDir(scratch)) {
    const [, pid, origin] = NAME.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(scratch, name);
    const age = systemClock.now() - Number(entryOf(path)?.mtimeMs ?? 0);
    if (origin === here ? identityOf(Number(pid)) === undefined : age > RETENTION_MS) removeTree(path);
  }
}
