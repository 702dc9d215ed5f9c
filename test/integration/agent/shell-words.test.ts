// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell syntax
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fillCommand } from "../../../src/agent/playbook/placeholders.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-words-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function run(shell: string, command: string): string {
  return execFileSync(shell, ["-c", command], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const HOSTILE = [
  "plain",
  "",
  "two words",
  "$(touch pwned)",
  "`touch pwned`",
  "'; touch pwned; '",
  '"; touch pwned; "',
  "a\\",
  "\\'; touch pwned #",
  "$HOME ${HOME} *",
  "line one\nline two",
  "-n",
  "#(touch pwned) 検査 😀",
  "}); touch pwned; ({",
];

/** Commands that must print the value unchanged, whichever quotes are around it. */
const PLACES = [
  "printf %s {{v}}",
  'printf %s "{{v}}"',
  "printf %s '{{v}}'",
  'printf %s "$(printf %s {{v}})"',
  'printf %s "$(printf %s "{{v}}")"',
  "printf %s \"$(printf %s '{{v}}')\"",
  "( printf %s {{v}} )",
  'x=a; printf %s "${x:+}"{{v}}',
  'printf %s "${x:-"\'"}" >/dev/null; printf %s {{v}}',
  "# it's a comment\nprintf %s {{v}}",
  'echo "it\'s" >/dev/null; printf %s {{v}}',
  "cat <<< x >/dev/null; printf %s {{v}}",
  "printf %s $'\\''{{v}} | tail -c +2",
  "true && { printf %s {{v}}; }",
];

describe.each(PLACES)("fillCommand in %j", (place) => {
  test.each(HOSTILE)("inserts %j as one word", (value) => {
    // A command substitution drops trailing line ends; no value here ends in one.
    expect(
      run(
        "bash",
        fillCommand(place, () => value),
      ),
    ).toBe(value);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test("fillCommand › inserts any value unchanged", () => {
  const value = fc.string({
    unit: fc.constantFrom(..."ab '\"\\$`(){}*?#;&|<>\n!~-=".split("")),
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      value,
      fc.constantFrom("printf %s {{v}}", 'printf %s "x{{v}}" | tail -c +2', "printf %s '{{v}}'"),
      (v, place) => {
        for (const shell of ["bash", "sh"])
          expect(
            run(
              shell,
              fillCommand(place, () => v),
            ),
          ).toBe(v);
      },
    ),
    { numRuns: 60 },
  );
});

test.each([
  ["in a here-document", "cat <<EOF\n{{v}}\nEOF"],
  ["after a here-document", "cat <<'EOF'\nx\nEOF\necho {{v}}"],
  ["in backticks", "echo `echo {{v}}`"],
  ["in a parameter expansion", 'echo "${x:-{{v}}}"'],
  ["in arithmetic", "echo $(( {{v}} + 1 ))"],
  ["in an arithmetic command", "(( {{v}} ))"],
  ["after a backslash", "echo \\{{v}}"],
  ["after a dollar sign", "echo ${{v}}"],
  ["after a case", 'echo "$(case x in x) echo;; esac)" {{v}}'],
])("fillCommand › refuses a value %s", (_, command) => {
  expect(() => fillCommand(command, () => "a[$(touch pwned)]")).toThrow("{{v}} stands");
});

test("fillCommand › inserts a number in arithmetic", () => {
  expect(
    run(
      "bash",
      fillCommand("echo $(( {{v}} + 1 ))", () => "41"),
    ),
  ).toBe("42\n");
});

test("fillCommand › refuses a value with a NUL character", () => {
  expect(() => fillCommand("echo {{v}}", () => "a\0b")).toThrow("NUL");
});
