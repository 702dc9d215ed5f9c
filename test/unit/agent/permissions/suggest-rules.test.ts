import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { suggestRules } from "../../../../src/agent/permissions/suggest-rules.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { cases } from "../../../support/random/arbitraries.ts";

const WORK = "/home/ada/project";

function lineOf(access: ToolAccess) {
  return access.kind === "command" ? readShellLine(access.command) : undefined;
}

function suggested(tool: string, access: ToolAccess): readonly string[] {
  return suggestRules({ tool, access, line: lineOf(access), workingDirs: [WORK], home: "/home/ada" });
}

function decided(tool: string, access: ToolAccess, allow: readonly string[]): string {
  const question = { mode: "default" as const, tool, access, line: lineOf(access), workingDirs: [WORK] };
  const rules = { ...NO_RULES, allow };
  return decidePermission({ ...question, rules, home: "/home/ada", resolve: (path) => path }).behavior;
}

const command = (text: string): ToolAccess => ({ kind: "command", command: text });

describe("suggestRules", () => {
  test.each<[string, ToolAccess, readonly string[]]>([
    ["Bash", command("git log --oneline"), ["Bash(git log --oneline)"]],
    ["Bash", command("git pull && npm test"), ["Bash(git pull)", "Bash(npm test)"]],
    ["Bash", command("rm *.tmp"), ["Bash(rm \\*.tmp)"]],
    ["Bash", command("echo 'a b' \"\""), ["Bash(echo 'a b' '')"]],
    [
      "Bash",
      command("git commit -m 'Add a $(clock)' -m \"it's *\""),
      ["Bash(git commit -m Add' 'a' '\\$\\(clock\\) -m it\\'s' '\\*)"],
    ],
    ["Bash", command("git commit -m 'Add $x & more'"), ["Bash(git commit -m 'Add $x & more')"]],
    ["Bash", command("git log > out > /tmp/x"), ["Bash(git log)", "Edit(//tmp/x)"]],
    ["Bash", command("git log $(id)"), []],
    ["Bash", command("echo 'a\nb'"), []],
    ["Write", { kind: "write", paths: [`${WORK}/a[1].ts`] }, [`Edit(/${WORK}/a\\[1\\].ts)`]],
    ["Read", { kind: "read", paths: ["/etc/hosts"] }, ["Read(//etc/hosts)"]],
    ["mcp__docs__find", { kind: "external" }, ["mcp__docs__find"]],
    ["mcp__docs", { kind: "external" }, []],
    ["mcp__a__b__c", { kind: "external" }, []],
    ["mcp__docs__*", { kind: "external" }, []],
    ["npm", { kind: "external" }, []],
    ["Edit", { kind: "external" }, []],
    ["SendMessage", { kind: "team" }, []],
    ["Agent", { kind: "team", what: "tester", cli: "codex" }, ["Agent(cli:codex)"]],
  ])("%s %j suggests %j", (tool, access, expected) => {
    expect(suggested(tool, access)).toEqual(expected);
    if (expected.length > 0) expect(decided(tool, access, expected)).toBe("allow");
  });

  test.each([
    ["rm *.tmp", "rm -rf / x.tmp"],
    ["rm *.tmp", "rm a.tmp"],
    ["git log", "git log --output=x"],
    ["mkdir a:\\*", "mkdir a:x"],
    ["git pull && npm test", "npm publish"],
  ])("suggested rules for %j do not allow %j", (once, other) => {
    expect(decided("Bash", command(other), suggested("Bash", command(once)))).toBe("ask");
  });

  const word = fc.oneof(
    fc.string({ minLength: 1, maxLength: 5 }),
    fc.constantFrom("*", ":*", "a b", "(", ")", "\\"),
  );
  const quoted = (words: readonly string[]): string =>
    words.map((one) => `'${one.replaceAll("'", "'\\''")}'`).join(" ");

  it("allows exactly that command, for any words", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), word, (words, other) => {
        const access = command(`tool ${quoted(words)}`);
        const rules = suggested("Bash", access);
        fc.pre(rules.length > 0);
        expect(decided("Bash", access, rules)).toBe("allow");
        expect(decided("Bash", command(`tool ${quoted([...words, other])}`), rules)).toBe("ask");
      }),
      cases(300),
    );
  });

  it("allows exactly that file, for any name", () => {
    const name = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/[/\0]|^\.+$/.test(text));
    fc.assert(
      fc.property(name, name, (own, other) => {
        fc.pre(own !== other);
        const file = (of: string): ToolAccess => ({ kind: "write", paths: [`/srv/${of}`] });
        const rules = suggested("Write", file(own));
        fc.pre(rules.length > 0);
        const second = decided("Write", file(other), rules);
        expect(decided("Write", file(own), rules)).toBe("allow");
        expect(second).toBe("ask");
      }),
      cases(1000),
    );
  });
});
