import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readAssignments } from "../../../../src/agent/hooks/assignments.ts";
import { exportLines } from "../../../../src/agent/hooks/session-variables.ts";
import { cases } from "../../../support/random/arbitraries.ts";

const ENV = { PATH: process.env.PATH, HOME: "/home/ada", OLD: "a  b*" };
const PRINT = `printf '%s\\0' "$A" "$B"`;

/** Returns the values of A and B after these lines. */
function valuesAfter(lines: string): string {
  const { stdout, stderr } = spawnSync("bash", ["-c", `${lines}\n${PRINT}`], { env: ENV, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout;
}

const piece = fc.constantFrom(
  ...[
    "a",
    "/",
    ":",
    "~",
    "~/",
    " ",
    "\\ ",
    "\\\\",
    "\\$",
    "'",
    '"',
    "' x'",
    '"$OLD"',
    "$OLD",
    `\${OLD}`,
    "$",
  ],
  ...[
    "*",
    "[a]",
    "$'\\n'",
    "$'\\''",
    "\n",
    ";",
    "#",
    "&",
    "(",
    ")",
    "$(touch x)",
    "`",
    "{a,b}",
    "=",
    "<",
    "é",
    "!",
  ],
);
const value = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));
const line = fc
  .tuple(fc.constantFrom("export ", "declare -x ", ""), fc.constantFrom("A", "B"), value)
  .map(([start, name, text]) => `${start}${name}=${text}`);

test("readAssignments › sets what bash would set, for lines that it reads completely", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 2 }), (lines) => {
      const text = lines.join("\n");
      const { assignments, others } = readAssignments(text);
      // Whatever the text, exportLines writes the assignments as plain assignments, and nothing else.
      const set = exportLines(assignments);
      expect(readAssignments(set)).toEqual({ assignments, others: [] });
      if (others.length > 0) return;
      taken += 1;
      expect(valuesAfter(set)).toBe(valuesAfter(text));
    }),
    cases(6_000),
  );
  expect(taken).toBeGreaterThan(100);
});
