import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "../../errors.ts";
import type { ProcessIdentity } from "../../schema/process-identity.ts";
import type { Env } from "../env.ts";

/** Whether the process of a record still runs; `unknown` when this machine cannot judge it (another pid space). */
export type Liveness = "alive" | "dead" | "unknown";

/** When a process started, as its pid's owner of today says; undefined when there is none. */
export function startTimeOf(pid: number): string | undefined {
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

let space: string | undefined;
let boot: string | undefined;

/** The host's name and, on Linux, its pid namespace: a pid means something only inside of it. */
export function pidSpace(): string {
  space ??= process.platform === "linux" ? `${hostname()}#${readlinkSync("/proc/self/ns/pid")}` : hostname();
  return space;
}

/**
 * This boot of the machine, so that pids of an earlier one are known to be dead. On macOS not the boot's time, which moves
 * whenever the clock is set and is printed in the caller's time zone.
 */
export function bootId(): string {
  boot ??=
    process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
      : execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
  return boot;
}

/** The identity of a living process; undefined when it is gone. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const procStart = startTimeOf(pid);
  return procStart === undefined ? undefined : { pid, procStart, pidSpace: pidSpace(), bootId: bootId() };
}

/** This process. @throws Error when the system does not show it, which is a broken system. */
export function ownIdentity(): ProcessIdentity {
  const own = identityOf(process.pid);
  if (own === undefined)
    throw new Error(`The system's process table does not show this process (${process.pid}).`);
  return own;
}

/** What a record says of a process; one that lacks the space or the boot is taken for one of here. */
export interface RecordedProcess {
  readonly pid: number;
  readonly procStart?: string | undefined;
  readonly pidSpace?: string | undefined;
  readonly bootId?: string | undefined;
}

/** Whether the pid of a record means a process of this pid space and boot: no other may be signalled by it. */
export function isLocalProcess({ pidSpace: space, bootId: boot }: RecordedProcess): boolean {
  return (space === undefined || space === pidSpace()) && (boot === undefined || boot === bootId());
}

/** Judges a record: by pid and start time in our own pid space and boot, else as protocol.md says. */
export function livenessOf(record: RecordedProcess): Liveness {
  if (record.pidSpace !== undefined && record.pidSpace !== pidSpace()) {
    const sameHost = record.pidSpace.split("#")[0] === hostname();
    return sameHost && record.bootId !== undefined && record.bootId !== bootId() ? "dead" : "unknown";
  }
  if (record.bootId !== undefined && record.bootId !== bootId()) return "dead";
  const start = startTimeOf(record.pid);
  if (start === undefined) return "dead";
  return record.procStart === undefined || record.procStart === start ? "alive" : "dead";
}

/** Field 22 of `/proc/<pid>/stat`; the second field may hold spaces and brackets, so count behind its last bracket. */
function startFromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ESRCH") return undefined;
    throw error;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie holds its pid but runs nothing.
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
}

/** The text of `ps -o lstart=`. @throws Error when ps could not be asked, which says nothing about the process */
export function startFromPs(pid: number, env: Env = process.env): string | undefined {
  try {
    const out = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { PATH: env.PATH, LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return out === "" ? undefined : out;
  } catch (error) {
    // That is how ps says that there is no such process.
    if ((error as { status?: unknown }).status === 1) return undefined;
    throw error;
  }
}
