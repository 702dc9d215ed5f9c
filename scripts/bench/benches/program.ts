import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Bench, Figure, Place } from "../figure.ts";
import { recordedGoal } from "../recorded-bytes.ts";
import { benchTeam } from "../support/scratch.ts";

/** Files of the program, with their bytes. */
type Loaded = ReadonlyMap<string, number>;

/**
 * The code that is compiled before a command begins: each kilobyte costs a start about twenty microseconds. `loaded-code.json` has the
 * recorded bytes; the limits are a tenth above them. `--record` lowers the figures that have decreased; to raise one, edit that file.
 */
export const program: Bench = {
  name: "program",
  title: "Code that a process loads",
  short: true,
  async run({ dist, places }): Promise<readonly Figure[]> {
    const start = loadedWith(join(dist, "teams.cjs"));
    const ready = loadedWith(named("ready", start), start);
    const files = loadedWith(named("files", ready), start);
    // A teammate creates the schemas of its tools and records at its start.
    const work = loadedWith(named("schemas", files), loadedWith(named("work", ready), ready));
    const atLeast = {
      "any command, at least": start,
      "a command that reads a team, at least": files,
      "a teammate, until it is ready": ready,
      "a teammate, until it waits for its first turn": work,
    };
    const { directory, env } = await benchTeam(places[0] as Place, ["ada"]);
    const tracer = join(directory, "tracer.cjs");
    writeFileSync(tracer, TRACER);
    const traced = (...words: readonly string[]): Loaded =>
      loadedBy([join(dist, "teams.cjs"), ...words], tracer, env);
    traced("task", "add", "a task");
    const alone = await benchTeam(places[0] as Place, []);
    const whole = {
      "teams status --line": loadedBy([join(dist, "teams.cjs"), "status", "--line"], tracer, alone.env),
      "teams send": traced("send", "ada", "hello"),
      "teams inbox": traced("inbox", "ada"),
      "teams task claim": traced("task", "claim", "1", "--as", "ada"),
      "teams status --line, with a foreign member": traced("status", "--line"),
    };
    return Object.entries({ ...atLeast, ...whole }).map(([what, loaded]) => figure(what, loaded));
  },
};

/** Prints at exit every loaded file, as one line of JSON on stderr. */
const TRACER = `process.on("exit", () => {
  require("fs").writeSync(2, "\\n" + JSON.stringify(Object.keys(require.cache)) + "\\n");
});
`;

/** Returns all files that a command loads. @throws Error if the command fails */
function loadedBy(words: readonly string[], tracer: string, env: NodeJS.ProcessEnv): Loaded {
  const { status, stderr } = spawnSync(process.execPath, ["-r", tracer, ...words], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${words.join(" ")} failed: ${stderr}`);
  const files = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "[]") as readonly string[];
  return new Map(files.filter((file) => file !== tracer).map((file) => [file, statSync(file).size]));
}

function figure(what: string, files: Loaded): Figure {
  const value = [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
  return { what, value, unit: "bytes", goal: recordedGoal(what, value) };
}

/** Returns the loaded files, a file, and every file that it requires at its top. */
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
