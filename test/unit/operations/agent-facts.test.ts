import { expect, test } from "vitest";
import { BUILTIN_AGENT_TYPES, findAgentType } from "../../../src/agent/prompts/agent-types.ts";
import { newAgentFacts } from "../../../src/operations/agent-facts.ts";

const explore = findAgentType("Explore", BUILTIN_AGENT_TYPES);
const engineer = findAgentType("engineer", BUILTIN_AGENT_TYPES);
if (explore === undefined || engineer === undefined) throw new Error("a built-in type is missing");
const facts = (...given: Parameters<typeof newAgentFacts> extends [string, ...infer R] ? R : never) =>
  newAgentFacts("/home/ada/.claude", ...given);

test("newAgentFacts › counts the tools of the type, or the tools that the spawner chose", () => {
  expect(facts(engineer, {})).toEqual({
    type: "agent",
    what: "created",
    source: "built-in",
    toolCount: "all",
    hasCustomModel: false,
    hasCustomColor: false,
    hasMemory: false,
    memoryScope: undefined,
  });
  expect(facts(explore, {}).toolCount).toBe(4);
  expect(facts(explore, { tools: ["Read"] }).toolCount).toBe(1);
  expect(facts(explore, { tools: ["read", "Bash"] }).toolCount).toBe(1);
  expect(facts(engineer, { tools: ["Read", "Read", "Bash"] }).toolCount).toBe(2);
  expect(facts(engineer, { within: ["Read", "Grep"] }).toolCount).toBe(2);
  expect(facts(engineer, { within: ["Read", "Grep"], tools: ["Read"] }).toolCount).toBe(1);
  expect(facts(engineer, { tools: ["*"] }).toolCount).toBe("all");
});

test("newAgentFacts › names the source of the type and its custom fields", () => {
  const own = { ...engineer, model: "haiku", color: "red", memory: "project" as const };
  expect(facts({ ...own, file: "/home/ada/.claude/agents/engineer.md" }, {})).toMatchObject({
    source: "user",
    hasCustomModel: true,
    hasCustomColor: true,
    hasMemory: true,
    memoryScope: "project",
  });
  expect(facts({ ...own, file: "/home/ada/shop/.claude/agents/engineer.md" }, {}).source).toBe("project");
  expect(facts({ ...own, file: "/home/ada/.claude/agents-of-others/engineer.md" }, {}).source).toBe(
    "project",
  );
  expect(facts(own, { hasOwnPrompt: true }).source).toBe("flag");
  expect(facts({ ...engineer, model: "inherit" }, {}).hasCustomModel).toBe(false);
  expect(facts({ ...engineer, model: "inherit" }, { model: "opus" }).hasCustomModel).toBe(true);
});
