import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "./children.ts";

/** The shortest timer that an idle process may have. */
const SLOW_MS = 5_000;

/** Counts the forks and fast timers of Node processes. */
export interface Probe {
  /** The environment of the counted processes. */
  readonly env: NodeJS.ProcessEnv;
  /** Returns the counts since the last call. */
  read(): { readonly forks: number; readonly fastTimers: number };
}

export function probeIn(directory: string): Probe {
  const log = join(directory, "probe.log");
  let seen = 0;
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(programFile("probe")).href}`,
      TEAMS_BENCH_PROBE: log,
    },
    read: () => {
      const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
      const fresh = lines.slice(seen);
      seen = lines.length;
      return {
        forks: fresh.filter((line) => line === "fork").length,
        fastTimers: fresh.filter((line) => line.startsWith("timer ") && Number(line.slice(6)) < SLOW_MS)
          .length,
      };
    },
  };
}
