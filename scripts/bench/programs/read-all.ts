/** `read-all <directory> …`: reads and parses every file of JSON in these directories, and does nothing else. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

for (const directory of process.argv.slice(2)) {
  for (const name of readdirSync(directory)) {
    if (name.endsWith(".json")) JSON.parse(readFileSync(join(directory, name), "utf8"));
  }
}
