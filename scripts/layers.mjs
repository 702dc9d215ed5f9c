/**
 * Checks src/ against the layers of docs/architecture.md (table: scripts/lib/layer-table.mjs). Prints one sentence for
 * each violation, and exits with 1 if there is one.
 *
 *   node scripts/layers.mjs
 */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { documentViolations, layerViolations } from "./lib/layer-gate.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const src = path.join(root, "src");
const files = fs
  .readdirSync(src, { recursive: true })
  .map((name) => name.split(path.sep).join("/"))
  .filter((name) => /\.[cm]?tsx?$/.test(name))
  .sort();
const sources = new Map(files.map((file) => [file, fs.readFileSync(path.join(src, file), "utf8")]));

const document = fs.readFileSync(path.join(root, "docs/architecture.md"), "utf8");

const violations = [...layerViolations(sources), ...documentViolations(document, files)];
for (const line of violations) console.error(line);
const verdict = violations.length === 0 ? "no violation" : `${violations.length} violations`;
console.log(`layers: ${files.length} files, ${verdict}`);
if (violations.length > 0) process.exitCode = 1;
