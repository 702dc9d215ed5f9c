import { describe, expect, it } from "vitest";
import { BUILTIN_AGENT_TYPES } from "../../../../src/agent/prompts/agent-types.ts";
import { spawnMode, spawnModel, spawnType } from "../../../../src/operations/spawn/resolve-options.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";

describe("the model of a spawn (S16)", () => {
  it.each([
    ["as given, whatever the lead has", "opus", "haiku", {}, "opus"],
    ["the lead's without a word", undefined, "haiku", { ANTHROPIC_API_KEY: "k" }, "haiku"],
    ["the lead's with inherit", "inherit", "haiku", {}, "haiku"],
    ["a real one for a person who has a key", undefined, undefined, { ANTHROPIC_API_KEY: "k" }, "sonnet"],
    [
      "a real one for a person who has a server",
      undefined,
      undefined,
      { ANTHROPIC_BASE_URL: "http://x" },
      "sonnet",
    ],
    ["the scripted one where nothing is set", undefined, undefined, {}, "scripted"],
    ["a playbook, whatever its path holds", "scripted:a b;c.json", undefined, {}, "scripted:a b;c.json"],
  ])("is %s", (_title, given, leads, env, model) => {
    expect(spawnModel(given, leads, env)).toBe(model);
  });

  it.each([
    ["the type's without a word", undefined, "opus", "opus"],
    ["as given, whatever the type has", "haiku", "opus", "haiku"],
    ["the lead's where the type inherits", undefined, "inherit", "lead's"],
    ["the lead's where one says inherit over the type's", "inherit", "opus", "lead's"],
  ])("is %s", (_title, given, types, model) => {
    expect(spawnModel(given, "lead's".replace("'", ""), {}, types)).toBe(model.replace("'", ""));
  });

  it("is refused where it cannot be a name", () => {
    expect(() => spawnModel("a b", undefined, {})).toThrow(
      expect.objectContaining({ code: "INVALID_MODEL" }),
    );
  });
});

describe("the type of a spawn", () => {
  it("that no file gives is refused with the types, the files that are none, and the one that waits for trust", () => {
    const known = {
      types: [...BUILTIN_AGENT_TYPES, { name: "scribe", description: "", prompt: "" }],
      flaws: ["/home/ada/agents/x.md: its front matter gives it no name"],
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
      /^No type: \/home\/ada\/agents\/x\.md: .* no name\.\nTypes: general-purpose, .*, scribe\.$/,
    );
    expect(hintOf("Poet")).toContain("/repo/.claude/agents/poet.md counts only after: teams trust /repo\n");
  });

  it("is the general one without a word, known in any case, and refused with the list of types", () => {
    expect(spawnType(undefined).name).toBe("general-purpose");
    expect(spawnType("explore").name).toBe("Explore");
    expect(() => spawnType("wizard")).toThrow(expect.objectContaining({ code: "INVALID_TYPE" }));
  });
});

describe("the mode of a spawn (S16)", () => {
  it.each<
    [string, PermissionMode | undefined, PermissionMode | undefined, PermissionMode | undefined, string]
  >([
    ["the lead's without a word", undefined, undefined, undefined, "acceptEdits"],
    ["the type's", undefined, "plan", undefined, "plan"],
    ["as given, whatever the type has", "default", "bypassPermissions", undefined, "default"],
    [
      "the type's, also beyond the lead's, where a person names it",
      undefined,
      "bypassPermissions",
      undefined,
      "bypassPermissions",
    ],
    [
      "no more than a lead's model has, whatever the type has",
      undefined,
      "bypassPermissions",
      "acceptEdits",
      "acceptEdits",
    ],
    ["less than a lead's model has, where the type has less", undefined, "default", "acceptEdits", "default"],
  ])("is %s", (_title, permissionMode, types, most, mode) => {
    expect(spawnMode({ name: "dev", permissionMode, most }, "acceptEdits", types)).toBe(mode);
  });

  it("is refused to a lead's model that asks for more than it has, and so is what would run unasked", () => {
    const refused = expect.objectContaining({ code: "PERMISSION_DENIED" });
    const rights = { name: "dev", most: "default" } as const;
    expect(() => spawnMode({ ...rights, permissionMode: "acceptEdits" }, "default")).toThrow(refused);
    expect(() => spawnMode({ ...rights, allowedTools: ["Bash"] }, "default")).toThrow(refused);
    expect(spawnMode({ name: "dev", allowedTools: ["Bash"] }, "default")).toBe("default");
    expect(spawnMode({ ...rights, most: "bypassPermissions", allowedTools: ["Bash"] }, "default")).toBe(
      "default",
    );
  });
});
