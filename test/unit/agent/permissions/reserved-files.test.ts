import { describe, expect, it } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";

const WORK = "/home/ada/project";

function decide(access: ToolAccess, mode: PermissionMode = "acceptEdits") {
  const tool = access.kind === "command" ? "Bash" : access.kind === "write" ? "Edit" : "Read";
  return decidePermission({
    ...{ mode, tool, access },
    line: access.kind === "command" ? readShellLine(access.command) : undefined,
    rules: { ...NO_RULES, allow: ["Bash(*)", "Edit", "Write"] },
    workingDirs: [WORK],
    home: "/home/ada",
    resolve: (path) => path.replace("/link/", "/src/"),
    reservedBy: (path) =>
      path.startsWith(`${WORK}/src/`) ? "src is reserved by task #2 of bob." : undefined,
  });
}

describe("a file that another agent's task has reserved", () => {
  const asks = { behavior: "ask", guarded: true, reason: "src is reserved by task #2 of bob." };

  it("asks before an edit, even through a link, although a rule allows edits", () => {
    expect(decide({ kind: "write", paths: [`${WORK}/src/a.ts`] })).toEqual(asks);
    expect(decide({ kind: "write", paths: [`${WORK}/link/a.ts`] })).toEqual(asks);
    expect(decide({ kind: "write", paths: [`${WORK}/test/a.ts`] }).behavior).toBe("allow");
  });

  it.each([
    "echo x > src/a.ts",
    "cd src && rm a.ts",
    "mv src/a.ts b.ts",
    "cp b.ts src/a.ts",
    "sed -i s/a/b/ src/a.ts",
    "cat x | tee -a src/a.ts",
    "if true; then touch src/new.ts; fi",
  ])("asks before the command %s", (command) => {
    expect(decide({ kind: "command", command })).toMatchObject({ behavior: "ask", guarded: true });
  });

  it.each(["cat src/a.ts", "npx vitest src/a.ts", "cp src/a.ts b.ts", "sed s/a/b/ src/a.ts", "rm b.ts"])(
    "does not ask before the command %s",
    (command) => {
      expect(decide({ kind: "command", command }).behavior).toBe("allow");
    },
  );

  it("is denied in dontAsk mode, and does not ask in bypassPermissions mode or for a read", () => {
    const write: ToolAccess = { kind: "write", paths: [`${WORK}/src/a.ts`] };
    expect(decide(write, "dontAsk").behavior).toBe("deny");
    expect(decide(write, "bypassPermissions").behavior).toBe("allow");
    expect(decide({ kind: "read", paths: [`${WORK}/src/a.ts`] }).behavior).toBe("allow");
  });
});
