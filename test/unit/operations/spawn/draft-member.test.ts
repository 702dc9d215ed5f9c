import { describe, expect, it } from "vitest";
import { BUILTIN_AGENT_TYPES } from "../../../../src/agent/prompts/agent-types.ts";
import { spawnModel, spawnType } from "../../../../src/operations/spawn/draft-member.ts";
import { spawnMode } from "../../../../src/operations/spawn/spawn-mode.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";

describe("spawnModel (S16)", () => {
  it.each([
    ["uses the given model, whatever the lead's", "opus", "haiku", {}, "claude-opus-5-5"],
    [
      "uses the lead's model if none is given",
      undefined,
      "haiku",
      { ANTHROPIC_API_KEY: "k" },
      "claude-haiku-5-5",
    ],
    ["uses the lead's model for inherit", "inherit", "haiku", {}, "claude-haiku-5-5"],
    [
      "uses a real model for a user with an API key",
      undefined,
      undefined,
      { ANTHROPIC_API_KEY: "k" },
      "claude-sonnet-5-5",
    ],
    [
      "uses a real model for a user with a server",
      undefined,
      undefined,
      { ANTHROPIC_BASE_URL: "http://x" },
      "claude-sonnet-5-5",
    ],
    ["uses the scripted model if nothing is set", undefined, undefined, {}, "scripted"],
    ["accepts any path of a playbook", "scripted:a b;c.json", undefined, {}, "scripted:a b;c.json"],
  ])("%s", (_title, given, leads, env, model) => {
    expect(spawnModel(given, leads, env)).toBe(model);
  });

  it.each([
    ["uses the type's model if none is given", undefined, "opus", "claude-opus-5-5"],
    ["uses the given model, whatever the type's", "haiku", "opus", "claude-haiku-5-5"],
    ["uses the lead's model if the type inherits", undefined, "inherit", "lead's"],
    ["uses the lead's model for inherit, whatever the type's", "inherit", "opus", "lead's"],
  ])("%s", (_title, given, types, model) => {
    expect(spawnModel(given, "lead's".replace("'", ""), {}, { type: types })).toBe(model.replace("'", ""));
  });

  it("resolves a short name of the user's settings, so that the member keeps the full name", () => {
    const names = { fast: "my/model-2", opus: "my/opus" };
    expect(["fast", "opus", "other/id"].map((name) => spawnModel(name, undefined, {}, { names }))).toEqual([
      "my/model-2",
      "my/opus",
      "other/id",
    ]);
  });

  it("rejects an invalid model name", () => {
    expect(() => spawnModel("a b", undefined, {})).toThrow(
      expect.objectContaining({ code: "INVALID_MODEL" }),
    );
  });
});

describe("spawnType", () => {
  it("rejects an unknown type and lists types, invalid type files and files that need trust", () => {
    const known = {
      types: [...BUILTIN_AGENT_TYPES, { name: "scribe", description: "", prompt: "" }],
      problems: ["/home/ada/agents/x.md: its front matter has no name"],
      ignored: ["/repo/.claude/agents/poet.md"],
    };
    expect(spawnType("SCRIBE", known).name).toBe("scribe");
    const hintOf = (name: string): string => {
      try {
        spawnType(name, known);
      } catch (error) {
        return (error as { hint: string }).hint;
      }
      return "";
    };
    expect(hintOf("wizard")).toMatch(
      /^Not an agent type: \/home\/ada\/agents\/x\.md: .* no name\.\nTypes: general-purpose, .*, scribe\.$/,
    );
    expect(hintOf("Poet")).toContain("/repo/.claude/agents/poet.md applies only after: teams trust /repo\n");
  });

  it("defaults to general-purpose, ignores case, and rejects an unknown type", () => {
    expect(spawnType(undefined).name).toBe("general-purpose");
    expect(spawnType("explore").name).toBe("Explore");
    expect(() => spawnType("wizard")).toThrow(expect.objectContaining({ code: "INVALID_TYPE" }));
  });
});

describe("spawnMode (S16)", () => {
  it.each<
    [string, PermissionMode | undefined, PermissionMode | undefined, PermissionMode | undefined, string]
  >([
    ["uses the lead's mode if none is given", undefined, undefined, undefined, "acceptEdits"],
    ["uses the type's mode", undefined, "plan", undefined, "plan"],
    ["uses the given mode, whatever the type's", "default", "bypassPermissions", undefined, "default"],
    [
      "uses the type's mode even beyond the lead's if a user spawns",
      undefined,
      "bypassPermissions",
      undefined,
      "bypassPermissions",
    ],
    [
      "limits the type's mode to the mode of a lead's model",
      undefined,
      "bypassPermissions",
      "acceptEdits",
      "acceptEdits",
    ],
    ["keeps a stricter type's mode for a lead's model", undefined, "default", "acceptEdits", "default"],
  ])("%s", (_title, permissionMode, types, maxMode, mode) => {
    expect(spawnMode({ name: "dev", permissionMode, maxMode }, "acceptEdits", types)).toBe(mode);
  });

  it("denies a lead's model a mode or allowed tools beyond its own rights", () => {
    const refused = expect.objectContaining({ code: "PERMISSION_DENIED" });
    const rights = { name: "dev", maxMode: "default" } as const;
    expect(() => spawnMode({ ...rights, permissionMode: "acceptEdits" }, "default")).toThrow(refused);
    expect(() => spawnMode({ ...rights, allowedTools: ["Bash"] }, "default")).toThrow(refused);
    expect(spawnMode({ name: "dev", allowedTools: ["Bash"] }, "default")).toBe("default");
    expect(spawnMode({ ...rights, maxMode: "bypassPermissions", allowedTools: ["Bash"] }, "default")).toBe(
      "default",
    );
  });
});
