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
import { keepResults, keptColumns } from "./results.ts";
import type { Result } from "./rows/row.ts";
import { type Column, printed, writeSection } from "./table.ts";

/** Milliseconds for the whole run. */
const LIMIT = 90 * 60_000;

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
  const installed = PROGRAMS.filter((program) => isNeeded(program, programs)).map((program) =>
    install(program, cache),
  );
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "interop-")));
  // Handle every signal, so that the directory is removed.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
  process.once("exit", () => {
    if (options.keep) console.error(`The homes are kept: ${scratch}`);
    else removeTree(scratch);
  });
  const columns = await checkAll(installed, options, isolated, scratch);
  console.log(printed(ROWS, columns));
  if (options.write !== undefined) writeSection(options.write, ROWS, keptColumns(cache));
  const fails = ({ mark, error }: Result): boolean => mark === "✗" && error === undefined;
  return columns.some(({ results }) => results.some(fails)) ? 1 : 0;
}

/** Whether a program is asked for, or is a member of the mixed team. */
function isNeeded({ id }: Program, programs: readonly string[]): boolean {
  return programs.includes(id) || (programs.includes(MIXED) && Object.values(MIXED_PROGRAMS).includes(id));
}

async function checkAll(
  installed: readonly Installed[],
  { programs, rows, cache, picture, patience }: Options,
  isolated: Isolation,
  scratch: string,
): Promise<readonly Column[]> {
  const own = join(scratch, "t");
  const teams = copyProgram(scratch, isolated);
  const plan: Plan = {
    ...{ installed, chosen: programs, rows, scratch: own, teams, patience },
    picture: join(own, "picture.svg"),
  };
  writeFileSync(join(scratch, "plan.json"), JSON.stringify(plan));
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: plan.scratch, LANG: "C.UTF-8" };
  const inside = join(import.meta.dirname, "inside.mjs");
  const child = isolated.start([process.execPath, inside, join(scratch, "plan.json")], env);
  process.once("exit", () => child.kill("SIGKILL"));
  const late = setTimeout(() => {
    console.error(
      `The run has taken more than ${(LIMIT * patience) / 60_000} minutes; the rest is not checked.`,
    );
    child.kill("SIGKILL");
  }, LIMIT * patience);
  const versions = new Map(installed.map(({ id, version }) => [id, version]));
  const results = new Map<string, Result[]>(programs.map((id) => [id, []]));
  if (child.stdout === null) throw new Error("The isolated part has no output.");
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result, broken } = JSON.parse(line) as Report;
    if (broken !== undefined) console.error(`${id} could not be checked: ${broken}`);
    if (result === undefined) continue;
    results.get(id)?.push(result);
    // A run that is ended early keeps what it has checked.
    keepResults(cache, { id, version: versions.get(id) ?? "", results: [result] });
    console.error(
      `${id}: ${result.mark} ${result.row} ${(result.ms / 1000).toFixed(1)} s ${result.error ?? result.note ?? ""}`,
    );
  }
  clearTimeout(late);
  const columns = [...results].map(([id, own]) => ({ id, version: versions.get(id) ?? "", results: own }));
  if (picture !== undefined && existsSync(plan.picture)) copyFileSync(plan.picture, picture);
  return columns;
}

/** Copies the built program to where the isolated user can read it. @returns its path */
function copyProgram(scratch: string, { uid }: Isolation): string {
  const app = join(scratch, "app");
  cpSync(join(checkout, "dist"), join(app, "dist"), { recursive: true });
  for (const directory of runtimePackages(checkout))
    cpSync(directory, join(app, directory.slice(directory.indexOf("/node_modules/"))), { recursive: true });
  for (const file of ["screenshot.mjs", "lib/ansi-svg.mjs", "lib/camera.mjs"])
    cpSync(join(checkout, "scripts", file), join(app, "scripts", file));
  cpSync(join(checkout, "package.json"), join(app, "package.json"));
  mkdirSync(join(scratch, "t"), { mode: 0o700 });
  if (process.getuid?.() === 0) {
    chownSync(scratch, uid, uid);
    chownSync(join(scratch, "t"), uid, uid);
  }
  return join(app, "dist/teams.cjs");
}
