import { join } from "node:path";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, listDir, removeFile } from "../../os/files/fs.ts";
import { livenessOf, ownIdentity } from "../../os/process/identity.ts";
import type { TeamRef } from "../ref.ts";
import { adoptedDirectory, readAdopted } from "./adopted-processes.ts";

/**
 * Records that a running program is a member, so that the commands that it runs act as that member: a person started the program, so
 * no environment variable names the member. The record counts while the member has a status, or this process runs.
 * @returns a function that removes the record
 */
export function recordAdopted(
  ref: TeamRef,
  name: string,
  { pid, procStart = "" }: { readonly pid: number; readonly procStart?: string | undefined },
): () => void {
  const directory = adoptedDirectory(ref.home.root);
  const path = join(directory, String(pid));
  ensureDir(directory);
  removeEnded(directory);
  const { status } = ref.paths.agent(name);
  const { pid: bridge, procStart: bridgeStart, pidSpace, bootId } = ownIdentity();
  const lines = [procStart, `${name}@${ref.team}`, status, bridge, bridgeStart, pidSpace, bootId];
  replaceFile(path, `${lines.join("\n")}\n`, { sync: false });
  return () => removeFile(path);
}

/** Removes the records of programs that have ended. A pid of another machine or container means nothing here: its record stays. */
function removeEnded(directory: string): void {
  // Leaves out the temporary files of other processes.
  for (const pid of listDir(directory).filter((name) => /^[1-9][0-9]*$/.test(name))) {
    const path = join(directory, pid);
    const { pidSpace, bootId } = readAdopted(path);
    if (livenessOf({ pid: Number(pid), pidSpace, bootId }) === "dead") removeFile(path);
  }
}
