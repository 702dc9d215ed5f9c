import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Real tmux servers and processes answer late on a busy machine; this deadline measures nothing. */
const DEADLINE = 120_000;

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
          setupFiles: ["test/support/setup/isolate-environment.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/{e2e,storm}/**/*.test.ts"],
          setupFiles: ["test/support/setup/isolate-environment.ts"],
          globalSetup: ["test/support/setup/global-build.ts"],
        },
      },
    ],
  },
});
