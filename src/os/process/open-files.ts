import { spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { platform } from "../env.ts";

/** Milliseconds that lsof may take. */
const LSOF_MS = 5_000;

/** Returns the paths of the files that a process of this user has open; on macOS, none if lsof is missing. */
export function openFilesOf(pid: number): readonly string[] {
  return platform === "linux" ? filesInProc(pid) : filesByLsof(pid);
}

function filesInProc(pid: number): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
  return names.flatMap((name) => {
    try {
      return [readlinkSync(`${directory}/${name}`)];
    } catch {
      // The descriptor was closed meanwhile.
      return [];
    }
  });
}

function filesByLsof(pid: number): readonly string[] {
  const args = ["-n", "-P", "-F", "n", "-p", String(pid)];
  const { stdout } = spawnSync("lsof", args, { encoding: "utf8", timeout: LSOF_MS });
  return (stdout ?? "").split("\n").flatMap((line) => (line.startsWith("n/") ? [line.slice(1)] : []));
}
