/** `read-all <directory> …`: only reads and parses every JSON file in these directories. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

for (const directory of process.argv.slice(2)) {
  for (const name of readdirSync(directory)) {
    if (name.endsWith(".json")) JSON.parse(readFileSync(join(directory, name), "utf8"));
  }
}
