import { readdirSync, readFileSync } from "node:fs";

/** The resources that processes have used so far, with all their threads. */
export interface ProcessCost {
  /** Milliseconds on a processor. */
  readonly cpuMs: number;
  /** The number of wake-ups, by timers or by events. */
  readonly wakeUps: number;
}

/** Only Linux reports this exactly. */
export const canMeasureCost = process.platform === "linux";

export function costOf(pids: readonly number[]): ProcessCost {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`),
  );
  return {
    cpuMs: sum(
      threads.map((thread) => Number(readFileSync(`${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6),
    ),
    wakeUps: sum(threads.map((thread) => field(`${thread}/status`, "voluntary_ctxt_switches"))),
  };
}

/** Returns the resident memory of a process in megabytes. */
export function residentMb(pid: number): number {
  return field(`/proc/${pid}/status`, "VmRSS") / 1024;
}

function field(file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(file, "utf8"))?.[1]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
