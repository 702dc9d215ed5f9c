import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decidePermission } from "../../../src/agent/permissions/decide.ts";
import { readShellLine } from "../../../src/agent/permissions/shell-line.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

/** Creates a project with symlinks, as a clone can contain them; returns a function that decides on a command there. */
function project(links: Readonly<Record<string, string>>) {
  const home = realpathSync(temporaryDirectory());
  const work = join(home, "work");
  for (const directory of ["work/.git/hooks", "work/sub", "outside/sub"])
    mkdirSync(join(home, directory), { recursive: true });
  writeFileSync(join(home, "outside", "key"), "");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(work, name));
  return (command: string, deny: readonly string[] = []) =>
    decidePermission({
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
  ["to a symlink to a file that does not exist yet", "../.bash_profile", "echo x > l"],
  ["to a symlink to a git hook", ".git/hooks/post-checkout", "echo x > l"],
  ["to a symlink to another symlink that leads outside", "m", "echo x > l"],
  ["to the parent of a symlink's target", "../outside/sub", "echo x > l/../new"],
  ["to the parent of a symlinked directory in .git", ".git/hooks", "echo x > l/../config"],
  ["from the parent of a symlink's target", "../outside/sub", "cat < l/../key"],
])("decide › asks about a redirection %s (S71, S73)", (_, target, command) => {
  expect(project({ l: target, m: "../elsewhere" })(command)).toBe("ask");
});

test("decide › allows a redirection through a symlink that stays inside the project", () => {
  const decided = project({ l: "sub", m: "sub/new" });
  for (const command of ["echo x > l/new", "echo x > m", "echo x > l/../new", "echo x > sub/../new"])
    expect(decided(command)).toBe("allow");
});

test("decide › applies a deny rule to the missing target of a symlink", () => {
  expect(project({ l: ".env" })("echo x > l", ["Edit(.env)"])).toBe("deny");
});
