import { readdirSync, readFileSync } from "node:fs";

/** What processes have used so far, all of their threads together. */
export interface ProcessCost {
  /** Milliseconds on a processor. */
  readonly cpuMs: number;
  /** How often one of them woke up by itself or was woken. */
  readonly wakeUps: number;
}

/** Linux alone tells it this exactly. */
export const tellsCost = process.platform === "linux";

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

/** Megabytes that a process holds. */
export function residentMb(pid: number): number {
  return field(`/proc/${pid}/status`, "VmRSS") / 1024;
}

function field(file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(file, "utf8"))?.[1]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
