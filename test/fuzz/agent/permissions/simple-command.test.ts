import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { simpleCommand } from "../../../../src/agent/permissions/commands/simple-command.ts";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-simple-"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** Returns the words that bash passes to a command, without globbing. */
function wordsOfBash(command: string): string[] {
  const script = `set -f; words() { printf '%s\\0' words "$@"; }\n${command}`;
  const out = execFileSync("bash", ["-c", script], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return out.split("\0").slice(0, -1);
}

const piece = fc.constantFrom(
  ..."ab =-!*?[]%@^,./:\t'\"\\$`;&|<>(){}#\n".split(""),
  '\\"',
  "\\'",
  "' '",
  '" "',
  "$(",
  "\\\n",
);
const tail = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(""));

test("simpleCommand returns exactly the words that bash sees, and the command has no other effect (S71)", () => {
  let simple = 0;
  fc.assert(
    fc.property(tail, (text) => {
      const command = `words ${text}`;
      const words = simpleCommand(command);
      fc.pre(words !== undefined);
      simple += 1;
      expect(words).toEqual(wordsOfBash(command));
    }),
    { numRuns: 300 },
  );
  expect(simple).toBe(300);
  expect(readdirSync(cwd)).toEqual([]);
});
