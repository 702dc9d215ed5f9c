import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { drawSeed } from "./support/random/draw-seed.ts";

drawSeed(process.env);

const root = fileURLToPath(new URL("..", import.meta.url));

/** Ends a test that hangs. A shared machine can stand still for a minute; a wait of `eventually` ends, and names its event, earlier. */
const DEADLINE = 300_000;

const SETUP = ["test/support/setup/isolate-environment.ts", "test/support/setup/seed-properties.ts"];

export default defineConfig({
  root,
  test: {
    pool: "forks",
    // Half of a run was the loading of the same modules for each file. Tests share no state but the environment.
    isolate: false,
    // A test of real programs uses nearly half of two processors; with four at once, deadlines pass.
    maxWorkers: 3,
    testTimeout: DEADLINE,
    hookTimeout: DEADLINE,
    reporters: process.env.CI ? ["default"] : ["dot"],
    projects: [
      {
        extends: true,
        test: {
          name: "parts",
          include: ["test/{unit,contract,integration,fuzz,attack}/**/*.test.ts"],
          setupFiles: SETUP,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/{e2e,storm}/**/*.test.ts"],
          setupFiles: SETUP,
          globalSetup: ["test/support/setup/global-build.ts"],
        },
      },
    ],
  },
});
