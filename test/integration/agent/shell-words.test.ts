// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the shell's, not ours
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

/** Commands in which the value must come out as it is, in whatever quotes it stands. */
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

describe.each(PLACES)("in %j", (place) => {
  test.each(HOSTILE)("%j stays one word", (value) => {
    // A command substitution drops line ends; that is the shell's business, and no value here ends in one.
    expect(
      run(
        "bash",
        fillCommand(place, () => value),
      ),
    ).toBe(value);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test("whatever the value, it comes out as it went in", () => {
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
  ["a here-document", "cat <<EOF\n{{v}}\nEOF"],
  ["behind one", "cat <<'EOF'\nx\nEOF\necho {{v}}"],
  ["backticks", "echo `echo {{v}}`"],
  ["a parameter expansion", 'echo "${x:-{{v}}}"'],
  ["arithmetic", "echo $(( {{v}} + 1 ))"],
  ["an arithmetic command", "(( {{v}} ))"],
  ["after a backslash", "echo \\{{v}}"],
  ["after a dollar sign", "echo ${{v}}"],
  ["after a case", 'echo "$(case x in x) echo;; esac)" {{v}}'],
])("%s is refused, since no quoting is safe there", (_, command) => {
  expect(() => fillCommand(command, () => "a[$(touch pwned)]")).toThrow("{{v}} stands");
});

test("a number may stand in arithmetic", () => {
  expect(
    run(
      "bash",
      fillCommand("echo $(( {{v}} + 1 ))", () => "41"),
    ),
  ).toBe("42\n");
});

test("a NUL cannot be in a command", () => {
  expect(() => fillCommand("echo {{v}}", () => "a\0b")).toThrow("NUL");
});
