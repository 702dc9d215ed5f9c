import { describe, expect, it } from "vitest";
import { requireValidTools, withLimitsOf } from "../../../../src/operations/spawn/tool-limits.ts";

describe("the limits of a run", () => {
  it.each([
    [{}, { tools: ["Read"] }, { tools: ["Read"] }],
    [{ tools: ["Read", "Edit"] }, {}, { tools: ["Read", "Edit"] }],
    [{ disallowedTools: ["Bash"] }, { disallowedTools: ["Edit"] }, { disallowedTools: ["Bash", "Edit"] }],
    [{ allowedTools: ["Read"] }, {}, { allowedTools: ["Read"] }],
    [{}, {}, {}],
  ])("are joined › %j and those of an agent %j are %j", (run, own, joined) => {
    expect(withLimitsOf(own, run)).toEqual(joined);
  });

  it("are refused with a name that is no tool's, or a rule that cannot be read", () => {
    expect(() => requireValidTools("ada", { tools: ["Bash(ls)"] })).toThrow(
      /is not a tool's name; ada was not/,
    );
    expect(() => requireValidTools("ada", { disallowedTools: ["Bash("] })).toThrow(
      /is not a rule; ada was not/,
    );
  });
});
