import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSandbox } from "../../../src/agent/sandbox/open-sandbox.ts";
import { pause } from "../../../src/os/clock.ts";
import { runCommandGroup } from "../../../src/os/process/command-group.ts";
import type { WrappedProgram } from "../../../src/os/sandbox/sandbox.ts";
import { atMost, type Bench, type Figure, type Setup } from "../figure.ts";
import { type Samples, sampleInTurn, timeOf } from "../support/samples.ts";
import { scratch } from "../support/scratch.ts";

/** Maximum milliseconds that a command may take longer in the sandbox. */
const LIMIT = 10;

/** Milliseconds between two commands: a model takes longer to ask for the next. */
const MODEL_MS = 150;

/** The cost of the sandbox for one command, in a directory like that of a project. */
export const sandbox: Bench = {
  name: "sandbox",
  title: "The sandbox",
  short: false,
  async run(setup: Setup): Promise<readonly Figure[]> {
    const [place] = setup.places;
    if (place === undefined) return [];
    const cwd = project(scratch(place));
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const started = performance.now();
    const opened = await openSandbox({
      setting: { network: "none", write: [], read: [] },
      workingDirs: () => [cwd],
      roots: [],
      visible: [],
      home: process.env.HOME ?? "/",
      env,
      passSecrets: [],
    });
    if ("reason" in opened) return [];
    const start = performance.now() - started;
    const times = setup.amount(200, 50);
    const program = { file: "sh", args: ["-c", ":"], env };
    try {
      const inSandbox = async (): Promise<number> => {
        const took = await timeOf(async () => runIn(cwd, await opened.wrap(program, cwd)));
        opened.refresh();
        return took;
      };
      const afterPause = async (work: () => Promise<number>): Promise<number> => {
        await pause(MODEL_MS);
        return work();
      };
      const [plain, inside, atOnce] = (await sampleInTurn(times, [
        () => afterPause(() => timeOf(() => runIn(cwd, program))),
        () => afterPause(inSandbox),
        inSandbox,
      ])) as [Samples, Samples, Samples];
      const cost = inside.median - plain.median;
      return [
        {
          what: "extra time of a command in the sandbox, p50",
          value: cost,
          unit: "ms",
          goal: atMost(LIMIT, "ms", cost),
          references: [{ what: "the command outside the sandbox", value: plain.median }],
        },
        {
          what: "extra time of a command right after another, p50",
          value: atOnce.median - plain.median,
          unit: "ms",
        },
        { what: "opening the sandbox of an agent", value: start, unit: "ms" },
      ];
    } finally {
      await opened.close();
    }
  },
};

/** Creates a project with 200 directories, some protected files and a repository. */
function project(directory: string): string {
  for (let i = 0; i < 200; i += 1) mkdirSync(join(directory, `package-${i}`, "src"), { recursive: true });
  for (const path of [".git/hooks", ".git/objects", ".git/refs", ".claude", ".vscode", "package-1/.vscode"])
    mkdirSync(join(directory, path), { recursive: true });
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n");
  for (const file of [".git/config", ".mcp.json", ".envrc"]) writeFileSync(join(directory, file), "");
  return directory;
}

async function runIn(cwd: string, { file, args, env, startPrewarmed }: WrappedProgram): Promise<void> {
  const { signal } = new AbortController();
  const end = await runCommandGroup(file, args, {
    cwd,
    env,
    startPrewarmed,
    timeoutMs: 10_000,
    signal,
    onOutput: () => undefined,
  });
  if (end.code !== 0) throw new Error(`The command ended with ${end.code ?? end.failure}.`);
}
