import { describe, expect, test } from "vitest";
import { resolveModelName } from "../../../src/agent/model/resolve-name.ts";
import { agentTypeOf, BUILTIN_AGENT_TYPES, toolsOfType } from "../../../src/agent/prompts/agent-types.ts";
import { composeSystem } from "../../../src/agent/prompts/compose.ts";
import { builtinTools } from "../../../src/agent/tools/registry.ts";
import { toolSpecs } from "../../../src/agent/tools/specs.ts";

const namesOf = (type: string): string[] =>
  toolsOfType(agentTypeOf(type), builtinTools()).map(({ name }) => name);

const COMMANDS = ["Bash", "TaskOutput", "TaskStop"];

describe("agent types", () => {
  test("the built-in ones are those of the protocol", () => {
    expect(BUILTIN_AGENT_TYPES.map(({ name }) => name)).toEqual(
      "general-purpose Explore Plan Bash engineer reviewer tester architect deployer researcher teammate".split(
        " ",
      ),
    );
  });

  test("each has the tools that fit it", () => {
    expect(namesOf("general-purpose")).toEqual(["Read", "Write", "Edit", "Glob", "Grep", ...COMMANDS]);
    expect(namesOf("Explore")).toEqual(["Read", "Glob", "Grep"]);
    expect(namesOf("Plan")).toEqual(["Read", "Glob", "Grep"]);
    expect(namesOf("bash")).toEqual(COMMANDS);
    expect(namesOf("reviewer")).not.toContain("Write");
    expect(namesOf("architect")).not.toContain("Bash");
  });

  test("a name that is none of ours is a label of a general one", () => {
    expect(agentTypeOf("security")).toMatchObject({
      name: "security",
      prompt: agentTypeOf("general-purpose").prompt,
    });
    expect(namesOf("security")).toEqual(namesOf("general-purpose"));
  });
});

describe("the system prompt", () => {
  const parts = { agentType: agentTypeOf("reviewer"), cwd: "/work", append: ["# Your team\n\nada", ""] };

  test("is the default with the type's part, then what is appended", () => {
    const prompt = composeSystem(parts);
    const order = [
      "You are a coding agent",
      "The working directory is /work",
      "You are a reviewer",
      "# Your team",
    ];
    expect(order.map((text) => prompt.indexOf(text))).toEqual(
      order.map((text) => prompt.indexOf(text)).sort((a, b) => a - b),
    );
    expect(prompt).not.toMatch(/undefined|\n{3}|\s$/);
    for (const text of order) expect(prompt).toContain(text);
  });

  test("override goes before custom, custom before default, and the sections stay", () => {
    expect(composeSystem({ ...parts, custom: "Custom." })).toBe("Custom.\n\n# Your team\n\nada");
    expect(composeSystem({ ...parts, custom: "Custom.", override: "Mine." })).toBe(
      "Mine.\n\n# Your team\n\nada",
    );
  });
});

describe("the names of models", () => {
  test("short names stand for ids, the user's own before ours, and any id goes as it is", () => {
    expect(resolveModelName("sonnet")).toMatch(/^claude-sonnet-/);
    expect(resolveModelName("sonnet", { sonnet: "my/model:1" })).toBe("my/model:1");
    expect(resolveModelName("local/llama-3.1:8b[q4]@x")).toBe("local/llama-3.1:8b[q4]@x");
    expect(resolveModelName("constructor")).toBe("constructor");
  });

  test.each(["", "a b", "x;y", "$(id)"])("%j is none", (name) => {
    expect(() => resolveModelName(name)).toThrow(expect.objectContaining({ code: "INVALID_MODEL" }));
  });
});

test("every tool is described to a server as an object with described fields", () => {
  for (const { name, description, inputSchema } of toolSpecs(builtinTools())) {
    expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(description.length).toBeGreaterThan(40);
    expect(inputSchema).toMatchObject({ type: "object", properties: expect.any(Object) });
    expect(inputSchema).not.toHaveProperty("$schema");
    for (const field of Object.values(inputSchema.properties as Record<string, { description?: string }>)) {
      expect(field.description).toMatch(/\S/);
    }
  }
});
