import { describe, expect, it } from "vitest";
import { requireValidTools, withLimitsOf } from "../../../../src/operations/spawn/tool-limits.ts";

describe("the limits of a run", () => {
  it.each([
    [{}, { tools: ["Read"] }, { tools: ["Read"] }],
    [{ tools: ["Read", "Edit"] }, {}, { tools: ["Read", "Edit"] }],
    [{ disallowedTools: ["Bash"] }, { disallowedTools: ["Edit"] }, { disallowedTools: ["Bash", "Edit"] }],
    [{ allowedTools: ["Read"] }, {}, { allowedTools: ["Read"] }],
    [{}, {}, {}],
  ])("are joined › %j and the limits of an agent %j give %j", (run, own, joined) => {
    expect(withLimitsOf({ name: "ada", ...own }, run)).toEqual({ name: "ada", ...joined });
  });

  it.each([
    [["Read", "Bash"], ["Read"]],
    [["mcp__docs"], ["mcp__docs__find"]],
    [["Web*"], ["WebFetch", "WebF*"]],
    [["*"], ["Edit", "*"]],
  ])("leave an agent its own tools › within %j it keeps %j", (tools, own) => {
    expect(withLimitsOf({ name: "ada", tools: own }, { tools })).toEqual({ name: "ada", tools: own });
  });

  it.each([
    [["Read"], ["Read", "Bash"], "Bash"],
    [["WebFetch"], ["Web*"], "Web*"],
    [["Read"], ["*"], "*"],
  ])("refuse other tools › within %j it cannot have %j", (tools, own, beyond) => {
    expect(() => withLimitsOf({ name: "ada", tools: own }, { tools })).toThrow(
      `The lead's only tools are ${tools.join(", ")}, so ada cannot have ${beyond}; it was not started.`,
    );
  });

  it("are refused if a name is not a tool's, or a rule cannot be read", () => {
    expect(() => requireValidTools("ada", { tools: ["Bash(ls)"] })).toThrow(
      /is not a tool's name; ada was not/,
    );
    expect(() => requireValidTools("ada", { tools: [] })).toThrow(
      /The list of tools is empty; ada was not started/,
    );
    expect(() => requireValidTools("ada", { allowedTools: ["Read"], disallowedTools: ["Bash("] })).toThrow(
      expect.objectContaining({
        message: '"Bash(" is not a rule; ada was not started.',
        details: { problem: '"Bash(" is not a rule', field: "disallowedTools" },
      }),
    );
  });
});
