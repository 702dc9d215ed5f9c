import { describe, expect, it } from "vitest";
import { spawnModel, spawnType } from "../../../src/lead/spawn-settings.ts";

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

  it("is refused where it cannot be a name", () => {
    expect(() => spawnModel("a b", undefined, {})).toThrow(
      expect.objectContaining({ code: "INVALID_MODEL" }),
    );
  });
});

describe("the type of a spawn", () => {
  it("is the general one without a word, known in any case, and refused with the list of types", () => {
    expect(spawnType(undefined)).toBe("general-purpose");
    expect(spawnType("explore")).toBe("Explore");
    expect(() => spawnType("wizard")).toThrow(expect.objectContaining({ code: "INVALID_TYPE" }));
  });
});
