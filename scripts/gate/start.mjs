/** Runs a program of the gate, by default `main.ts`: the checks, the tests and their repetitions. */
import { runBundled } from "../lib/run-bundled.mjs";

const [first, ...others] = process.argv.slice(2);
const words = first === "stress" ? others : process.argv.slice(2);
const program = first === "stress" ? "stress" : "main";
await runBundled({ main: `scripts/gate/${program}.ts` }, { words });
