// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expansions of the shell
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { fillCommand } from "../../../../src/agent/playbook/placeholders.ts";
import { cases } from "../../../support/random/arbitraries.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-words-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function run(shell: string, command: string): string {
  return execFileSync(shell, ["-c", command], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const fill = (command: string, value: string): string => fillCommand(command, () => value);

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
  "a,b",
];

/** Commands that must print the value as it is, in any quotes. */
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
  "printf %s $'\\'{{v}}' | tail -c +2",
  "true && { printf %s {{v}}; }",
  'echo `echo "\'"` >/dev/null; printf %s {{v}}',
  'echo "$((1 << 2))" >/dev/null; printf %s {{v}}',
  'f() { printf %s "$1"; }; f {{v}}',
  'x={{v}}; printf %s "$x"',
  'x=(a {{v}}); printf %s "${x[1]}"',
  'for x in {{v}}; do printf %s "$x"; done',
  'if [[ "{{v}}" == "{{v}}" ]]; then printf %s {{v}}; fi',
  'printf %s "$(cat <(printf %s {{v}}))"',
  "# {{v}} and 'the like\nprintf %s {{v}} # {{v}}",
  'printf %s "${x:-$(printf %s {{v}})}"',
  'x={{v}}; printf %s "${x%"b{{v}}"}"',
  "printf %s ${x:-'{{v}}'}",
  "x=1; xplain=no; xa=no; printf %s $x{{v}} | tail -c +2",
];

describe.each(PLACES)("in %j", (place) => {
  test.each(HOSTILE)("%j stays one word", (value) => {
    // A command substitution drops trailing newlines; no value here ends in one.
    expect(run("bash", fill(place, value))).toBe(value);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

test.each([
  ["a name in front of it", "x=1; xab=no; printf %s $x{{v}}", "ab", "1ab"],
  ["braces around it", "printf '<%s>' {{{v}}}", "a,b", "<{a,b}>"],
  ["braces with an alternative", "printf '<%s>' {{{v}},c}", "a,b", "<a,b><c>"],
  ["a range in braces", "printf '<%s>' {{{v}}..3}", "1", "<{1..3}>"],
  ["an equals sign after it", "{{v}}=1; printf %s $ab", "ab", "1"],
  ["a redirection after it", "printf %s {{v}}>&1", "2", "2"],
])("a plain value is quoted if it would join %s", (_, command, value, printed) => {
  expect(run("bash", fill(command, value))).toBe(printed);
});

describe("fillCommand", () => {
  const chars = fc.constantFrom(..."ab '\"\\$`(){}*?#;&|<>\n!~-=,.".split(""));
  const values = fc.string({ unit: chars, maxLength: 12 });

  test("inserts each value unchanged in bash and sh", () => {
    const places = ["printf %s {{v}}", 'printf %s "x{{v}}" | tail -c +2', "printf %s '{{v}}'"];
    fc.assert(
      fc.property(values, fc.constantFrom(...places), (value, place) => {
        for (const shell of ["bash", "sh"]) expect(run(shell, fill(place, value))).toBe(value);
      }),
      cases(60),
    );
  });

  test("does not run any part of a value, whatever the command around it", () => {
    const pieces =
      "echo |{{v}}|'|\"|$(|)|(|${x:-|${x#|}|$((|))|`|\\|\n| |;| #|$'|$|a|x=|<<<|[[ | ]]|==|=(|a[|]|<(|{a,|*|(("
        .split("|")
        .concat(" | cat ", "cat <<E\n", "\nE\n", "case x in x) ", "; esac", "if true; then ", "; fi");
    const hostile = [
      "$(touch pwned)",
      "`touch pwned`",
      "'; touch pwned; '",
      '"; touch pwned; "',
      "x\ntouch pwned\n",
    ];
    const command = fc.array(fc.constantFrom(...pieces, "{{v}}"), { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(command, fc.constantFrom(...hostile), (parts, value) => {
        let filled: string;
        try {
          filled = fill(`echo ${parts.join("")}{{v}}`, value);
        } catch {
          return;
        }
        try {
          run("bash", filled);
        } catch {
          // The command itself may fail.
        }
        expect(readdirSync(cwd)).not.toContain("pwned");
      }),
      cases(150),
    );
  });
});

test.each([
  ["after a here-document", "cat <<EOF\n{{v}}\nEOF"],
  ["after a here-document", "cat <<'EOF'\nx\nEOF\necho {{v}}"],
  ["in backticks", "echo `echo {{v}}`"],
  ["in a parameter expansion", 'echo "${x:-{{v}}}"'],
  // Quotes have no effect here.
  ["in a parameter expansion", 'echo "${x:-"{{v}}"}"'],
  ["in a parameter expansion", 'echo ${x["{{v}}"]}'],
  ["in arithmetic", 'echo $(( "{{v}}" ))'],
  ["in arithmetic", "echo $(( '{{v}}' ))"],
  ["in arithmetic", "echo $(( {{v}} + 1 ))"],
  ["in arithmetic", "echo $[ {{v}} ]"],
  ["in arithmetic", "(( {{v}} ))"],
  ["in arithmetic", "for ((i = {{v}}; i < 1; i++)); do echo; done"],
  ["in arithmetic", "a[{{v}}]=1"],
  ["in arithmetic", "[[ {{v}} -eq 1 ]]"],
  ["after a backslash", "echo \\{{v}}"],
  ["after a dollar sign", "echo ${{v}}"],
  ["after `case`", 'echo "$(case x in x) echo;; esac)" {{v}}'],
  ["in a command with a syntax error", "echo 'it' 's {{v}}"],
  ["where the quoting is unclear", "echo 1<(for i in $'{{v}}'; do echo; done)"],
])("refuses a value %s: %s", (place, command) => {
  expect(() => fill(command, "a[$(touch pwned)]")).toThrow(`{{v}} cannot be inserted ${place}`);
});

test("inserts a number in arithmetic", () => {
  expect(run("bash", fill("echo $(( {{v}} + 1 ))", "41"))).toBe("42\n");
});

test("refuses a NUL, which no command can contain", () => {
  expect(() => fill("echo {{v}}", "a\0b")).toThrow("{{v}} contains a NUL");
});

test("leaves a command without placeholders unchanged, even a broken one", () => {
  expect(fill("echo 'it", "x")).toBe("echo 'it");
});

describe("a permission rule", () => {
  const behavior = (command: string, value: string, rules: { allow?: string[]; deny?: string[] }) => {
    const text = fill(command, value);
    return decidePermission({
      mode: "default",
      tool: "Bash",
      access: { kind: "command", command: text },
      line: readShellLine(text),
      rules: { allow: [], ask: [], deny: [], ...rules },
      workingDirs: ["/work"],
    }).behavior;
  };

  /** For fish, a backslash before the closing quote escapes it. */
  const differsInFish = (value: string): boolean => /\\(?:'|$)/.test(value);

  test.each(HOSTILE.filter((value) => !differsInFish(value)))(
    "allows the command that it names, with the value %j",
    (value) => {
      expect(behavior("report -l {{v}}", value, { allow: ["Bash(report:*)"] })).toBe("allow");
    },
  );

  test.each(HOSTILE.filter(differsInFish))("asks if fish parses the value differently: %j", (value) => {
    expect(behavior("report -l {{v}}", value, { allow: ["Bash(report:*)"] })).toBe("ask");
  });

  test("denies a command that a value names", () => {
    expect(behavior("{{v}} -rf x", "rm", { allow: ["Bash"], deny: ["Bash(rm:*)"] })).toBe("deny");
  });

  test("denies an argument that a value contains", () => {
    expect(behavior("git {{v}} origin", "push", { allow: ["Bash"], deny: ["Bash(git push:*)"] })).toBe(
      "deny",
    );
  });
});
