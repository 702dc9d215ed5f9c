import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Bench, countAtMost, type Figure } from "../figure.ts";

/** Files of the program, with their bytes. */
type Loaded = ReadonlyMap<string, number>;

/**
 * The code that is compiled before a command begins: each kilobyte costs a start about twenty microseconds. Of the limits
 * for commands that read a team and for working teammates, 10 kB are the bundled `proper-lockfile`, and 7 kB of the last
 * are the tables of `get-east-asian-width`, and 22 kB the input line and the live rows of a pane. Each command of `teams` adds 0.1 kB to
 * all; finding the team by its pane adds 2 kB to those that read one, and proofs, questions with a deadline and diffs 15 kB to the last.
 */
export const program: Bench = {
  name: "program",
  title: "Code that a process loads",
  short: true,
  async run({ dist }): Promise<readonly Figure[]> {
    const start = loadedWith(join(dist, "teams.cjs"));
    const ready = loadedWith(named("ready", start), start);
    const files = loadedWith(named("files", ready), start);
    const send = loadedWith(named("send", start), start);
    // Its schemas of tools and records are made at its start.
    const work = loadedWith(named("schemas", files), loadedWith(named("work", ready), ready));
    return [
      figure("any command, at least", start, 94_000),
      figure("a command that reads a team, at least", files, 199_000),
      figure("teams send", send, 221_000),
      figure("a teammate, until it is ready", ready, 121_000),
      figure("a teammate, until it waits for its first turn", work, 606_000),
    ];
  },
};

function figure(what: string, files: Loaded, limit: number): Figure {
  const value = [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
  return { what, value, unit: "bytes", goal: countAtMost(limit, value, `≤ ${limit / 1000} kB`) };
}

/** A file with every file that it requires at its top, in addition to the loaded ones. */
function loadedWith(file: string, before: Loaded = new Map()): Loaded {
  const files = new Map(before);
  const load = (path: string): void => {
    if (files.has(path)) return;
    const text = readFileSync(path, "utf8");
    files.set(path, Buffer.byteLength(text));
    for (const [, other = ""] of text.matchAll(/^(?:\w+ \w+ = )?require\("(\.[^"]+)"\)/gm)) {
      load(join(dirname(path), other));
    }
  };
  load(file);
  return files;
}

/** Returns the chunk of this name that one of these files loads later. @throws Error if it is missing */
function named(name: string, by: Loaded): string {
  for (const path of by.keys()) {
    const found = new RegExp(`require\\("(\\./${name}-[^"]+)"\\)`).exec(readFileSync(path, "utf8"))?.[1];
    if (found !== undefined) return join(dirname(path), found);
  }
  throw new Error(`The built program has no chunk ${name}.`);
}
