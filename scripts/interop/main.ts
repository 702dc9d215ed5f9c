/** `main <checkout> [options]`: installs the programs, runs the isolated part, and prints and writes the table. */
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { removeTree } from "../../test/support/files/remove-tree.ts";
import { ROWS } from "./check-program.ts";
import { type Installed, install, runtimePackages } from "./install.ts";
import { type Isolation, isolation } from "./isolate.ts";
import { MIXED, MIXED_PROGRAMS } from "./mixed-team.ts";
import { type Options, optionsOf, USAGE } from "./options.ts";
import type { Plan, Report } from "./plan.ts";
import type { Program } from "./program.ts";
import { PROGRAMS } from "./programs.ts";
import { checkedRows, isUnexplained, keepResults, keptColumns, withFormer } from "./results.ts";
import type { Result } from "./rows/row.ts";
import { type Column, formerColumns, printed, writeSection } from "./table.ts";

/** Maximum milliseconds for one program; the limit of the whole run is this for each. */
const LIMIT_OF_PROGRAM = 30 * 60_000;

const [checkout = "", ...words] = process.argv.slice(2);
process.exitCode = await run();

async function run(): Promise<number> {
  let options: Options | undefined;
  let isolated: Isolation;
  try {
    options = optionsOf(words, process.env.INTEROP_FROM ?? process.cwd());
    if (options === undefined) {
      console.log(USAGE);
      return 0;
    }
    isolated = isolation();
  } catch (error) {
    console.error(`scripts/interop/run: ${error instanceof Error ? error.message : error}`);
    return 2;
  }
  const { cache, programs } = options;
  const { installed, failed } = installAll(options);
  const unreadable = isolated.unreadable([process.execPath, ...installed.flatMap(({ bins }) => bins)]);
  if (unreadable.length > 0) {
    console.error(
      `scripts/interop/run: the unprivileged user cannot read ${unreadable[0]}; nothing was run.`,
      "Choose a --cache directory and a Node.js that all users can read.",
    );
    return 2;
  }
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "interop-")));
  // Handle every signal, so that the directory is removed.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
  process.once("exit", () => {
    if (options.keep) console.error(`The homes are kept: ${scratch}`);
    else removeTree(scratch);
  });
  const isComplete = Object.values(MIXED_PROGRAMS).every((id) => !failed.includes(id));
  const chosen = programs.filter((id) => (id === MIXED ? isComplete : !failed.includes(id)));
  const { columns, isWhole } = await checkAll(installed, { ...options, programs: chosen }, isolated, scratch);
  console.log(printed(ROWS, columns));
  if (options.write !== undefined) {
    const former = formerColumns(options.write, ROWS);
    writeSection(options.write, ROWS, withFormer(keptColumns(cache), former));
  }
  if (failed.length > 0) console.error(`Not installed, so not checked: ${failed.join(", ")}`);
  const isClean = !columns.some(({ results }) => results.some(isUnexplained));
  return isWhole && isClean && failed.length === 0 ? 0 : 1;
}

/** Installs the programs. @returns also the ids of those that npm could not install */
function installAll({ programs, cache }: Options): {
  readonly installed: readonly Installed[];
  readonly failed: readonly string[];
} {
  const installed: Installed[] = [];
  const failed: string[] = [];
  for (const program of PROGRAMS.filter((one) => isNeeded(one, programs))) {
    try {
      installed.push(install(program, cache));
    } catch (error) {
      failed.push(program.id);
      console.error(`${program.id} was not installed: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { installed, failed };
}

/** Whether a program was requested, or is a member of the requested mixed team. */
function isNeeded({ id }: Program, programs: readonly string[]): boolean {
  return programs.includes(id) || (programs.includes(MIXED) && Object.values(MIXED_PROGRAMS).includes(id));
}

interface Checked {
  readonly columns: readonly Column[];
  /** True if no program was left out and the run did not exceed its time limit. */
  readonly isWhole: boolean;
}

async function checkAll(
  installed: readonly Installed[],
  { programs: asked, rows, cache, picture, patience, missing }: Options,
  isolated: Isolation,
  scratch: string,
): Promise<Checked> {
  const own = join(scratch, "t");
  const teams = copyProgram(scratch, isolated);
  const versions = new Map(installed.map(({ id, version }) => [id, version]));
  const rowsOf = (id: string): readonly string[] =>
    missing ? checkedRows(cache, id, versions.get(id) ?? "") : [];
  const checked = Object.fromEntries(asked.map((id) => [id, rowsOf(id)]));
  const programs = asked.filter((id) => id !== MIXED || !rowsOf(id).includes(MIXED));
  const plan: Plan = {
    ...{ installed, chosen: programs, rows, checked, scratch: own, teams, patience },
    picture: join(own, "picture.svg"),
  };
  writeFileSync(join(scratch, "plan.json"), JSON.stringify(plan));
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: plan.scratch, LANG: "C.UTF-8" };
  const inside = join(import.meta.dirname, "inside.mjs");
  const child = isolated.start([process.execPath, inside, join(scratch, "plan.json")], env);
  process.once("exit", () => child.kill("SIGKILL"));
  let isWhole = true;
  const limit = LIMIT_OF_PROGRAM * Math.max(1, programs.length) * patience;
  const late = setTimeout(() => {
    isWhole = false;
    console.error(
      `The run took more than ${limit / 60_000} minutes and was ended. Continue it with --missing.`,
    );
    child.kill("SIGKILL");
  }, limit);
  const results = new Map<string, Result[]>(programs.map((id) => [id, []]));
  if (child.stdout === null) throw new Error("The isolated part has no output.");
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result, broken } = JSON.parse(line) as Report;
    if (broken !== undefined) {
      isWhole = false;
      console.error(`${id} could not be checked: ${broken}`);
    }
    if (result === undefined) continue;
    results.get(id)?.push(result);
    // A run that is ended early keeps the results so far.
    keepResults(cache, { id, version: versions.get(id) ?? "", results: [result] });
    console.error(
      `${id}: ${result.mark} ${result.row} ${(result.ms / 1000).toFixed(1)} s ${result.error ?? result.note ?? ""}`,
    );
  }
  clearTimeout(late);
  const columns = [...results].map(([id, own]) => ({ id, version: versions.get(id) ?? "", results: own }));
  if (picture !== undefined && existsSync(plan.picture)) copyFileSync(plan.picture, picture);
  return { columns, isWhole };
}

/** Copies the built program to a directory that the isolated user can read. @returns its path */
function copyProgram(scratch: string, { uid }: Isolation): string {
  const app = join(scratch, "app");
  cpSync(join(checkout, "dist"), join(app, "dist"), { recursive: true });
  for (const directory of runtimePackages(checkout))
    cpSync(directory, join(app, directory.slice(directory.indexOf("/node_modules/"))), { recursive: true });
  for (const file of ["screenshot.mjs", "lib/ansi-screen.mjs", "lib/ansi-svg.mjs", "lib/attached-client.mjs"])
    cpSync(join(checkout, "scripts", file), join(app, "scripts", file));
  cpSync(join(checkout, "package.json"), join(app, "package.json"));
  mkdirSync(join(scratch, "t"), { mode: 0o700 });
  if (process.getuid?.() === 0) {
    chownSync(scratch, uid, uid);
    chownSync(join(scratch, "t"), uid, uid);
  }
  return join(app, "dist/teams.cjs");
}
