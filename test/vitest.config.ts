import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { drawSeed } from "./support/random/draw-seed.ts";
import { lanesOf } from "./support/setup/lanes.ts";

drawSeed(process.env);

const root = fileURLToPath(new URL("..", import.meta.url));

/** Ends a test that hangs. A shared machine can stall for a minute; a wait of `eventually` ends, and names its event, earlier. */
const DEADLINE = 300_000;

const SETUP = ["isolate-environment", "seed-properties", "no-leaks", "failed-test"].map(
  (name) => `test/support/setup/${name}.ts`,
);

/** A test of real programs keeps a processor busy; with more of them at once, they wait for each other. */
const FEW_WORKERS = 2;

const files = readdirSync(new URL(".", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => `test/${file}`);
const { parallel, sequential } = lanesOf(root, files);

/** The lanes run one after the other. */
const lanes: TestProjectInlineConfiguration["test"][] = [
  { name: "parallel", include: [...parallel], maxWorkers: availableParallelism() },
  { name: "sequential", include: [...sequential], maxWorkers: FEW_WORKERS },
];

export default defineConfig({
  root,
  test: {
    pool: "forks",
    // With isolation, half of a run is spent on loading the same modules for each file. Tests share only the environment.
    isolate: false,
    testTimeout: DEADLINE,
    hookTimeout: DEADLINE,
    setupFiles: SETUP,
    globalSetup: ["test/support/setup/global-build.ts"],
    reporters: process.env.CI ? ["default"] : ["dot"],
    projects: lanes.map((lane, groupOrder) => ({
      extends: true,
      test: { ...lane, sequence: { groupOrder } },
    })),
  },
});
