import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "../../errors.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Env } from "../env.ts";

/** Whether a recorded process is still running; `unknown` if this machine cannot judge it (another pid space). */
export type Liveness = "alive" | "dead" | "unknown";

/** Returns the start time of the process that has this pid now; undefined if no process has it. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

/** True if a process has this pid now; without /proc, it may be a zombie. Never forks. */
export function isPidInUse(pid: number): boolean {
  if (process.platform === "linux") return startFromProc(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}

let space: string | undefined;
let boot: string | undefined;

/** Returns the host name and, on Linux, the pid namespace: a pid is only valid inside it. */
export function pidSpace(): string {
  space ??= process.platform === "linux" ? `${hostname()}#${readlinkSync("/proc/self/ns/pid")}` : hostname();
  return space;
}

/**
 * Identifies this boot of the machine, so that processes of an earlier boot are known to be dead. On macOS not the boot
 * time, which changes when the clock is set and is printed in the caller's time zone.
 */
export function bootId(): string {
  boot ??=
    process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
      : execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  return boot;
}

/** Returns the identity of a living process; undefined if it is gone. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const procStart = startTimeOf(pid);
  return procStart === undefined ? undefined : { pid, procStart, pidSpace: pidSpace(), bootId: bootId() };
}

/** Returns the identity of this process. @throws Error if the system does not show it, which means that the system is broken */
export function ownIdentity(): ProcessIdentity {
  const own = identityOf(process.pid);
  if (own === undefined)
    throw new Error(`The system's process table does not show this process (${process.pid}).`);
  return own;
}

/** A process in a record. A record without pid space or boot id is treated as local. */
export interface RecordedProcess {
  readonly pid: number;
  readonly procStart?: string | undefined;
  readonly pidSpace?: string | undefined;
  readonly bootId?: string | undefined;
}

/** Splits a pid space into the host name and the pid namespace, which is empty on macOS. */
export function partsOfPidSpace(space: string): { readonly host: string; readonly namespace: string } {
  const [host = "", ...namespace] = space.split("#");
  return { host, namespace: namespace.join("#") };
}

/**
 * True if a recorded pid belongs to this pid space and boot; no other may be signalled. The same boot is the same machine, even if its
 * host name differs: a laptop gets other names in other networks.
 */
export function isLocalProcess({ pidSpace: space, bootId: boot }: RecordedProcess): boolean {
  if (boot !== undefined && boot !== bootId()) return false;
  if (space === undefined || space === pidSpace()) return true;
  return boot !== undefined && partsOfPidSpace(space).namespace === partsOfPidSpace(pidSpace()).namespace;
}

/** Judges a recorded process: by pid and start time in our pid space and boot, otherwise by the rules of protocol.md. */
export function livenessOf(record: RecordedProcess): Liveness {
  if (!isLocalProcess(record)) {
    const isOtherBoot = record.bootId !== undefined && record.bootId !== bootId();
    const isThisHost =
      record.pidSpace === undefined ||
      partsOfPidSpace(record.pidSpace).host === partsOfPidSpace(pidSpace()).host;
    return isOtherBoot && isThisHost ? "dead" : "unknown";
  }
  const start = startTimeOf(record.pid);
  if (start === undefined) return "dead";
  return record.procStart === undefined || record.procStart === start ? "alive" : "dead";
}

/** Reads field 22 of `/proc/<pid>/stat`. The second field may contain spaces and parentheses, so count after the last one. */
function startFromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ESRCH") return undefined;
    throw error;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie keeps its pid but runs nothing.
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

/** Returns the output of `ps -o lstart=`. @throws Error if ps failed to run, which says nothing about the process */
export function startFromPs(pid: number, env: Env = process.env): string | undefined {
  try {
    const out = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { PATH: env.PATH, LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return out === "" ? undefined : out;
  } catch (error) {
    // ps exits with 1 if there is no such process.
    if ((error as { status?: unknown }).status === 1) return undefined;
    throw error;
  }
}

/**
 * Returns a random UUID for code that every command runs at its start. Linux provides one as a file; loading `node:crypto`
 * takes 3 ms. Code that runs later uses `node:crypto`.
 */
export function newUuid(): string {
  return uuidOfSystem() ?? randomUUID();
}

function uuidOfSystem(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync("/proc/sys/kernel/random/uuid", "utf8").trim();
  } catch {
    // The file is hidden from this process, as in some sandboxes.
    return undefined;
  }
}
