/** Runs the gate: the checks, the tests and their repetitions. `main.ts` has the options. */
import { runBundled } from "../lib/run-bundled.mjs";

await runBundled({ main: "scripts/gate/main.ts" }, { words: process.argv.slice(2) });
