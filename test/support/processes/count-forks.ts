import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "../../../src/os/env.ts";
import { findProgram } from "../../../src/os/files/access.ts";
import type { PrivateTmux } from "../tmux/private-tmux.ts";

const PRELOAD = fileURLToPath(new URL("../../fixtures/preload/log-wakeups.cjs", import.meta.url));

/**
 * Counts the forks of a test's processes: tmux calls with a wrapper first on PATH, all forks with a preload.
 */
export interface Forks {
  /** Variables for the environment of a counted process; its children are counted too. */
  readonly env: Env & { readonly PATH: string };
  /** Lists the tmux calls of processes whose command line matches, in order. */
  tmux(argv: RegExp): string[];
  /** Counts all processes that the matching processes have started. */
  all(argv: RegExp): number;
  /** Lists the timers of the matching processes, in milliseconds. */
  timers(argv: RegExp): number[];
}

/** A line of the preload's log. */
interface Entry {
  readonly argv?: string;
  readonly fork?: string;
  readonly ms?: number;
}

export function countForks(t: PrivateTmux): Forks {
  const [bin, armed, log] = ["bin", "armed", "forks.log"].map((name) => join(t.home, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [bin, armed]) mkdirSync(dir);
  const real = findProgram("tmux", t.env);
  // One short write for each call, so that concurrent lines never mix.
  writeFileSync(
    join(bin, "tmux"),
    `#!/bin/sh\nprintf '%s %s\\n' "$PPID" "$*" >>'${log}'\nexec '${real}' "$@"\n`,
  );
  chmodSync(join(bin, "tmux"), 0o755);
  const entriesOf = (pid: string): Entry[] =>
    readFileSync(join(armed, pid), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Entry);
  const matching = (argv: RegExp): Map<string, Entry[]> =>
    new Map(
      readdirSync(armed)
        .map((pid) => [pid, entriesOf(pid)] as const)
        .filter(([, [first]]) => argv.test(first?.argv ?? "")),
    );
  const entries = (argv: RegExp): Entry[] => [...matching(argv).values()].flat();
  return {
    env: { PATH: `${bin}:${t.env.PATH}`, ARMED: armed, NODE_OPTIONS: `--require ${PRELOAD}` },
    tmux(argv) {
      const pids = matching(argv);
      const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
      return lines.flatMap((line) => {
        const [pid = "", ...words] = line.split(" ");
        return pids.has(pid) ? [words.join(" ")] : [];
      });
    },
    all: (argv) => entries(argv).filter(({ fork }) => fork !== undefined).length,
    timers: (argv) => entries(argv).flatMap(({ ms }) => ms ?? []),
  };
}
