import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FOLDER = fileURLToPath(new URL("../../../src/playbooks/", import.meta.url));
const SOURCE = readFileSync(`${FOLDER}audit.json`, "utf8");

test("the playbook names only existing scripts", () => {
  const names = [...SOURCE.matchAll(/audit\/(\w+)\.sh/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(8);
  for (const name of names) expect(existsSync(`${FOLDER}audit/${name}.sh`)).toBe(true);
});
