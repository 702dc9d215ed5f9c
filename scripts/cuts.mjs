/**
 * Checks that src/ cuts text only with the functions of src/text/characters/cut-text.ts (scripts/lib/cut-gate.mjs). Prints one
 * sentence for each other cut, and exits with 1 if there is one.
 *
 *   node scripts/cuts.mjs
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { textCuts } from "./lib/cut-gate.mjs";

const root = path.dirname(fileURLToPath(new URL(".", import.meta.url)));

const cuts = textCuts({ config: path.join(root, "tsconfig.json"), root });
for (const line of cuts) console.error(line);
const verdict = cuts.length === 0 ? "no text is cut" : `${cuts.length} texts are cut`;
console.log(`cuts: ${verdict} outside src/text/characters`);
if (cuts.length > 0) process.exitCode = 1;
