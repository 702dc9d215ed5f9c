import { describe, expect, it } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";

const WORK = "/home/ada/project";
const PLAN = "/home/ada/.claude/plans/team-ada.md";

/** Decides for a member that may write only below src, and Markdown files. */
function decide(
  tool: string,
  access: ToolAccess,
  mode: PermissionMode = "bypassPermissions",
  more: Partial<PermissionQuestion> = {},
) {
  return decidePermission({
    mode,
    tool,
    access,
    line: access.kind === "command" ? readShellLine(access.command) : undefined,
    rules: { ...NO_RULES, allow: ["Bash", "Edit", "Write"] },
    workingDirs: [WORK],
    writes: ["src/**", "*.md"],
    planFile: PLAN,
    home: "/home/ada",
    resolve: (path) => path.replace(`${WORK}/src/link`, "/etc"),
    ...more,
  });
}

const write = (path: string): ToolAccess => ({ kind: "write", paths: [path] });
const bash = (command: string): ToolAccess => ({ kind: "command", command });

describe("allowed writes of a member", () => {
  it.each(PERMISSION_MODES)(
    "deny a write outside the patterns in mode %s; the reason names the patterns and the file",
    (mode) => {
      const { behavior, reason } = decide("Write", write(`${WORK}/package.json`), mode);
      expect(behavior).toBe("deny");
      if (mode === "plan") return;
      expect(reason).toBe(
        `This agent may write only src/**, *.md; the call would change ${WORK}/package.json.`,
      );
    },
  );

  it.each([
    ["a file below a directory", `${WORK}/src/a/b.ts`],
    ["a file that matches a pattern without a slash", `${WORK}/docs/deep/x.md`],
  ])("allow %s", (_what, path) => {
    expect(decide("Edit", write(path)).behavior).toBe("allow");
  });

  it("deny a write through a link to a path outside the patterns", () => {
    expect(decide("Edit", write(`${WORK}/src/link/passwd`)).behavior).toBe("deny");
    expect(decide("Bash", bash("echo x > src/link/passwd")).behavior).toBe("deny");
  });

  it("allow the plan file in plan mode", () => {
    expect(decide("Write", write(PLAN), "plan").behavior).toBe("allow");
  });

  it("deny every write if the list is empty", () => {
    const { behavior, reason } = decide("Write", write(`${WORK}/src/a`), "acceptEdits", { writes: [] });
    expect([behavior, reason]).toEqual([
      "deny",
      `This agent may not write any file; the call would change ${WORK}/src/a.`,
    ]);
  });

  it("do not limit reads", () => {
    expect(decide("Read", { kind: "read", paths: [`${WORK}/package.json`] }).behavior).toBe("allow");
  });

  it.each([
    "echo x > package.json",
    "echo x >> ../other",
    "make 2> errors.log",
    "sh -c 'echo x > package.json'",
    "echo x >| package.json",
    "echo x &> package.json",
    "echo x >& package.json",
    "exec 3> package.json",
    "echo x > src/a.ts > package.json",
    "echo x | tee >(cat > package.json)",
    "cat <<E > package.json\nx\nE",
    "f() { echo x > package.json; }; f",
    "for f in package.json; do echo x > $f; done",
    "echo $(echo x > package.json)",
    "echo x 1<> package.json",
    "eval 'echo x > package.json'",
    "find . -name a -exec rm {} +",
    "ls | xargs rm",
    "ls | xargs -0 sed -i s/a/b/",
    "if true; then echo x > package.json; fi",
    'echo x > "$FILE"',
    "echo x > src/*",
    "echo x > ~bob/src/a",
    "cd src && echo x > a.ts",
    "(cd .. && echo x > src/a.ts)",
    "cat a | tee package.json",
    "sudo tee -a /etc/hosts",
    "touch -d yesterday package.json",
    "rm -rf node_modules",
    "mv src/a.ts a.ts",
    "mv package.json src/p.json",
    "cp src/a.ts package.json",
    "cp -t lib src/a.ts",
    "cp --unknown-option src/a.ts lib",
    "cp --target=lib src/a.ts",
    "cp -ftlib src/a.ts",
    "/bin/ln -s src/a b",
    "dd if=/dev/zero of=disk",
    "sed -i s/a/b/ package.json",
    "sed -i.bak -e s/a/b/ package.json",
    "perl -pi -e s/a/b/ package.json",
    "ln -s .. src/q; touch src/q/x",
    "ln -s ../.. src/a/q && cp src/b src/a/q/x",
    "ln -s ~/x src/q; echo x > src/q",
    'cd "$X"; touch src/a',
    "cd sr*; touch a",
    "touch src/link/../a",
  ])("deny the command %s", (command) => {
    const { behavior, reason } = decide("Bash", bash(command));
    expect(behavior).toBe("deny");
    expect(reason).toMatch(/^This agent may write only src\/\*\*, \*\.md; /);
  });

  it.each([
    "npm test",
    "npm test > /dev/null 2>&1",
    "echo x > src/a.ts",
    "echo x > notes.md",
    "echo x >&2",
    "echo x > /dev/stderr",
    "cp package.json src/p.json",
    "mkdir -p -m 755 src/new",
    "touch -d yesterday src/a.ts",
    "touch -t 202401010000 src/a.ts",
    "sed -i s/a/b/ src/a.ts",
    "sed -n s/a/b/p package.json",
    "git commit -m 'rm package.json'",
    "ls | xargs grep x",
    "ls | xargs sed -n p",
  ])("allow the command %s", (command) => {
    expect(decide("Bash", bash(command)).behavior).toBe("allow");
  });

  it("deny a command that is too complex to check", () => {
    const { behavior, reason } = decide("Bash", bash(`echo ${"x".repeat(70_000)}`));
    expect(behavior).toBe("deny");
    expect(reason).toContain("cannot be checked: it is longer than");
  });
});
