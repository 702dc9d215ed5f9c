import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decide } from "../../../src/agent/permissions/decide.ts";
import { readShellLine } from "../../../src/agent/permissions/shell-line.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** A project with links as a clone can bring them, and what is decided on a command there. */
function project(links: Readonly<Record<string, string>>) {
  const home = realpathSync(temporaryDirectory());
  const work = join(home, "work");
  for (const directory of ["work/.git/hooks", "work/sub", "outside/sub"])
    mkdirSync(join(home, directory), { recursive: true });
  writeFileSync(join(home, "outside", "key"), "");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name));
  return (command: string, deny: readonly string[] = []) =>
    decide({
      mode: "acceptEdits",
      tool: "Bash",
      access: { kind: "command", command },
      line: readShellLine(command),
      rules: { allow: ["Bash(echo:*)", "Bash(cat:*)"], ask: [], deny },
      workingDirs: [work],
      home,
    }).behavior;
}

test.each([
  ["a link to a file that is not there yet", "../.bash_profile", "echo x > l"],
  ["one to a hook of git's", ".git/hooks/post-checkout", "echo x > l"],
  ["one by way of another", "m", "echo x > l"],
  ["the parent of where a link leads", "../outside/sub", "echo x > l/../new"],
  ["the parent of a directory of git's", ".git/hooks", "echo x > l/../config"],
  ["what is read there", "../outside/sub", "cat < l/../key"],
])("a redirection to %s asks (S71, S73)", (_, target, command) => {
  expect(project({ l: target, m: "../elsewhere" })(command)).toBe("ask");
});

test("one that stays inside by way of a link runs, there or not", () => {
  const decided = project({ l: "sub", m: "sub/new" });
  for (const command of ["echo x > l/new", "echo x > m", "echo x > l/../new", "echo x > sub/../new"])
    expect(decided(command)).toBe("allow");
});

test("a denial holds also for where a link leads that is not there yet", () => {
  expect(project({ l: ".env" })("echo x > l", ["Edit(.env)"])).toBe("deny");
});
