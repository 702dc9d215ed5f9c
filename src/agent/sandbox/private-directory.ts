import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../os/clock.ts";
import { ensureOwnDirectory, scratchDirectory } from "../../os/files/app-directories.ts";
import { createWhole } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, listDir, removeTree } from "../../os/files/fs.ts";
import { bootId, identityOf, pidSpace } from "../../os/process/identity.ts";
import { ownPid } from "../../os/process/process-table.ts";

/** The private files of one sandbox, in a directory that only this user can enter. */
export interface PrivateDirectory {
  readonly tmp: string;
  readonly varTmp: string;
  /** An empty file that appears in the place of hidden files. */
  readonly emptyFile: string;
  readonly proxySocket: string;
  remove(): void;
}

/** `sandbox-<pid>-<where the pid is known>-<random>` */
const NAME = /^sandbox-(\d+)-([0-9a-f]{8})-[0-9a-f]{12}$/;
/** Milliseconds after which a directory of another boot or container, whose pids are unknown here, is removed. */
const RETENTION_MS = 3 * 24 * 60 * 60 * 1000;

/** Identifies the pids of this boot and this container: another one may share /tmp. */
function pidsHere(): string {
  return createHash("sha256").update(`${bootId()} ${pidSpace()}`).digest("hex").slice(0, 8);
}

/** The directories of this process, which may have many agents. */
const open = new Set<string>();

function removeAll(): void {
  for (const path of open) removeTree(path);
}

/** Creates the directory, and removes old ones of killed agents. @throws TeamError PERMISSION_DENIED */
export function createPrivateDirectory(): PrivateDirectory {
  const scratch = scratchDirectory();
  ensureOwnDirectory(scratch);
  removeOld(scratch);
  const path = join(scratch, `sandbox-${ownPid}-${pidsHere()}-${randomBytes(6).toString("hex")}`);
  const [tmp, varTmp, emptyFile] = [join(path, "tmp"), join(path, "var-tmp"), join(path, "empty")];
  ensureOwnDirectory(path);
  for (const directory of [tmp, varTmp]) ensureDir(directory);
  createWhole(emptyFile, "");
  if (open.size === 0) process.once("exit", removeAll);
  open.add(path);
  return {
    ...{ tmp, varTmp, emptyFile, proxySocket: join(path, "proxy") },
    remove: () => {
      removeTree(path);
      open.delete(path);
      if (open.size === 0) process.off("exit", removeAll);
    },
  };
}

function removeOld(scratch: string): void {
  const here = pidsHere();
  for (const name of listDir(scratch)) {
    const [, pid, where] = NAME.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = join(scratch, name);
    const age = systemClock.now() - Number(entryOf(path)?.mtimeMs ?? 0);
    if (where === here ? identityOf(Number(pid)) === undefined : age > RETENTION_MS) removeTree(path);
  }
}
