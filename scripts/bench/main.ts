/** `main <dist> [options]`: runs the benches in turn, because concurrent ones would disturb each other. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";
import { backlog } from "./benches/backlog.ts";
import { claims } from "./benches/claims.ts";
import { conversations } from "./benches/conversations.ts";
import { counts } from "./benches/counts.ts";
import { crowd } from "./benches/crowd.ts";
import { endings } from "./benches/endings.ts";
import { files } from "./benches/files.ts";
import { history, historyCosts } from "./benches/history.ts";
import { idle } from "./benches/idle.ts";
import { keypress } from "./benches/keypress.ts";
import { latency } from "./benches/latency.ts";
import { layouts } from "./benches/layouts.ts";
import { limits } from "./benches/limits.ts";
import { lists } from "./benches/lists.ts";
import { panes } from "./benches/panes.ts";
import { program } from "./benches/program.ts";
import { sandbox } from "./benches/sandbox.ts";
import { sidebar } from "./benches/sidebar.ts";
import type { Bench, BenchError, BenchResults, Figure, Setup } from "./figure.ts";
import { plot } from "./plot.ts";
import { recordLower } from "./recorded-bytes.ts";
import { endAll } from "./support/children.ts";
import { places } from "./support/places.ts";
import { endTeams, removeScratch, removeScratchWhenEnded } from "./support/scratch.ts";
import { section } from "./table.ts";

const BENCHES: readonly Bench[] = [
  limits,
  counts,
  program,
  files,
  conversations,
  latency,
  history,
  backlog,
  crowd,
  claims,
  lists,
  layouts,
  panes,
  endings,
  idle,
  sandbox,
  sidebar,
  keypress,
];

/** Maximum runs of a bench: a failed one runs once more. */
const MAX_ATTEMPTS = 2;

const USAGE = `Usage: scripts/bench/run [--short] [--only NAME[,NAME]] [--json FILE] [--plot FILE.svg] [--record]

Measures the promises of teams: each figure with its goal, and next to it the machine's limit or the usual approach,
measured in the same run. Only counts (bytes, forks, timers) and a bench that fails twice fail the run; a time never does.

  --short      run in half a minute: fewer samples, only the benches of CI
  --only NAME  run some of: ${BENCHES.map(({ name }) => name).join(" ")}
  --json FILE  also write the figures as JSON
  --plot FILE  write the cost of one delivery by the team's history as SVG (needs the bench "history")
  --record     lower the recorded bytes of loaded code (scripts/bench/loaded-code.json) that have decreased

Files are written to $TMPDIR, and to /dev/shm if it exists. --only also runs benches that --short leaves out.`;

const [dist = "", ...words] = process.argv.slice(2);
async function run(): Promise<number> {
  const values = optionsOf(words);
  if (values === undefined) return 2;
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  // Handle every signal: Ctrl-C arrives from the terminal and from the parent, and must not interrupt the
  // clean-up.
  process.on("SIGHUP", () => process.exit(129));
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
  process.once("exit", () => {
    endAll();
    endTeams(dist);
    removeScratch();
  });
  const only = values.only?.split(",");
  const chosen = BENCHES.filter(({ name, short }) => only?.includes(name) ?? (short || !values.short));
  const { figures, failed, unsteady } = await measure(chosen, {
    dist,
    places: places(),
    short: values.short,
    amount: (full, short) => (values.short ? short : full),
  });
  if (values.json !== undefined)
    write(values.json, `${JSON.stringify({ ...about(), figures, failed, unsteady }, undefined, 2)}\n`);
  if (values.plot !== undefined) write(values.plot, plot(historyCosts));
  if (values.record) for (const what of recordLower(figures)) console.log(`Recorded: ${what}`);
  const over = figures.filter(({ goal }) => goal?.isCount && !goal.met);
  for (const { what, goal } of over) console.error(`Over the limit: ${what} (${goal?.text}).`);
  for (const { bench, error } of failed) console.error(`Failed twice: ${bench}: ${error}`);
  return over.length + failed.length === 0 ? 0 : 1;
}

/** @returns undefined for invalid options, after an error message */
function optionsOf(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        short: { type: "boolean", default: false },
        only: { type: "string" },
        json: { type: "string" },
        plot: { type: "string" },
        record: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const names = BENCHES.map(({ name }) => name);
    const only = values.only?.split(",") ?? names;
    const unknown = only.find((name) => !names.includes(name));
    if (unknown !== undefined) throw new Error(`Unknown bench ${unknown}; nothing was run.`);
    if (values.plot !== undefined && !only.includes("history"))
      throw new Error("--plot needs the bench history; nothing was run.");
    return values;
  } catch (error) {
    console.error(`scripts/bench/run: ${messageOf(error)}\n\n${USAGE}`);
    return undefined;
  }
}

async function measure(benches: readonly Bench[], setup: Setup): Promise<BenchResults> {
  const { machine, node } = about();
  const places = setup.places.map(({ name, directory }) => `${name} is ${directory}`).join(", ");
  console.log(`${machine}, Node ${node}; ${places}\n`);
  const failed: BenchError[] = [];
  const unsteady: BenchError[] = [];
  const all: BenchResults["figures"][number][] = [];
  for (const bench of benches) {
    const errors: BenchError[] = [];
    const figures = (await attempt(bench, setup, errors)) ?? (await attempt(bench, setup, errors)) ?? [];
    const { length } = errors;
    if (length > 0) (length < MAX_ATTEMPTS ? unsteady : failed).push(...errors.slice(-1));
    if (length < MAX_ATTEMPTS) console.log(section(bench.title, figures));
    all.push(...figures.map((figure) => ({ bench: bench.name, ...figure })));
  }
  return { figures: all, failed, unsteady };
}

/** @returns undefined after an error, which is printed and added to `errors` */
async function attempt(
  bench: Bench,
  setup: Setup,
  errors: BenchError[],
): Promise<readonly Figure[] | undefined> {
  try {
    const figures = await bench.run(setup);
    // The processes and files of this bench would slow down the next one.
    await removeScratchWhenEnded();
    return figures;
  } catch (error) {
    console.error(error);
    errors.push({ bench: bench.name, error: messageOf(error).split("\n", 1)[0] ?? "" });
    endAll();
    endTeams(dist);
    removeScratch();
    return undefined;
  }
}

/** The facts on which the figures depend. */
function about() {
  const processors = cpus();
  return {
    machine: `${process.platform} ${release()}, ${processors.length} × ${processors[0]?.model.trim() ?? "?"}`,
    node: process.versions.node,
    at: new Date().toISOString(),
  };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(file, text);
}

process.exitCode = await run();
