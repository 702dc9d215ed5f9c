/** Runs a program of the gate: `stress.ts` if the first word is `--stress`, else `main.ts`. */
import { runBundled } from "../lib/run-bundled.mjs";

const [first, ...others] = process.argv.slice(2);
const words = first === "--stress" ? others : process.argv.slice(2);
const program = first === "--stress" ? "stress" : "main";
await runBundled({ main: `scripts/gate/${program}.ts` }, { words });
