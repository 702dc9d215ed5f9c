import { describe, expect, test } from "vitest";
import { applyHook, decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";

function decideOutside(command: string, rules: Partial<PermissionRules>, mode: PermissionMode = "default") {
  return decidePermission({
    mode,
    tool: "Bash",
    access: { kind: "command", command, outside: true },
    line: readShellLine(command),
    rules: { ...NO_RULES, ...rules },
    workingDirs: ["/work"],
    home: "/home/ada",
    resolve: (path) => path,
  });
}

describe("a command that asks to run outside the sandbox", () => {
  test.each(["Bash", "Bash(*)", "Bash(git push:*)", "B*", "*", "mcp__x"])(
    "asks the user even if a rule allows %s",
    (rule) => {
      expect(decideOutside("git push origin", { allow: [rule] })).toMatchObject({
        behavior: "ask",
        guarded: true,
        isOutside: true,
        reason: expect.stringContaining("It runs outside the sandbox."),
      });
    },
  );

  test("runs if a rule names it, and redirects to a file only if a rule allows the file too", () => {
    const allow = ["UnsandboxedBash(git push:*)"];
    expect(decideOutside("git push origin", { allow })).toMatchObject({ behavior: "allow" });
    expect(decideOutside("git pull", { allow })).toMatchObject({ behavior: "ask" });
    expect(decideOutside("git push origin > /etc/x", { allow })).toMatchObject({ behavior: "ask" });
    expect(decideOutside("git push > /tmp/x", { allow: [...allow, "Edit(//tmp/**)"] }).behavior).toBe(
      "allow",
    );
    expect(decideOutside("anything $x", { allow: ["UnsandboxedBash"] })).toMatchObject({ behavior: "allow" });
  });

  test.each<[PermissionMode, string]>(
    PERMISSION_MODES.map((mode) => [mode, mode === "plan" || mode === "dontAsk" ? "deny" : "ask"]),
  )("in mode %s: %s", (mode, behavior) => {
    expect(decideOutside("git push", { allow: ["Bash"] }, mode).behavior).toBe(behavior);
  });

  test.each(["Bash(git push:*)", "bash", "UnsandboxedBash", "unsandboxedbash(git:*)", "UnsandboxedBash(gi"])(
    "is denied by the deny rule %s",
    (rule) => {
      expect(decideOutside("git push", { allow: ["UnsandboxedBash"], deny: [rule] }).behavior).toBe("deny");
    },
  );

  test("cannot be allowed by a hook; an ask rule takes precedence", () => {
    const asked = decideOutside("git push", {});
    expect(applyHook(asked, { behavior: "allow", reason: "fine" }, "default").behavior).toBe("ask");
    const ruled = decideOutside("git push", { allow: ["UnsandboxedBash"], ask: ["Bash(git push)"] });
    expect(ruled).toMatchObject({ behavior: "ask", guarded: true });
    expect(ruled.isOutside).toBeUndefined();
  });
});
