/** Runs the check of the real programs, and its isolated part. */
import { ROOT, runBundled } from "../lib/run-bundled.mjs";

await runBundled(
  { main: "scripts/interop/main.ts", inside: "scripts/interop/inside.ts" },
  // The isolated user reads the bundle.
  { words: [ROOT, ...process.argv.slice(2)], mode: 0o755 },
);
