import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentFlags, agentArgv, parseAgentArgv } from "../../../src/launch/agent-flags.ts";
import { PERMISSION_MODES } from "../../../src/schema/permission-modes.ts";
import { toolList } from "../../../src/schema/tool-names.ts";

const MINIMAL = ["--agent-id", "rev@audit", "--agent-name", "rev", "--team-name", "audit"];

describe("the teammate's command line", () => {
  test("has the flags of the protocol in order", () => {
    const argv = agentArgv({
      agentId: "rev@audit",
      agentName: "rev",
      teamName: "audit",
      agentColor: "blue",
      parentSessionId: "s-1",
      agentType: "reviewer",
      planModeRequired: true,
      permissionMode: "acceptEdits",
      allowedTools: ["Read", "Bash(git log:*)"],
      addDirs: ["/a b", "/c"],
      model: "opus",
      resume: "s-2",
    });
    expect(argv).toEqual([
      ...["--agent-id", "rev@audit", "--agent-name", "rev", "--team-name", "audit", "--agent-color", "blue"],
      ...["--parent-session-id", "s-1", "--agent-type", "reviewer", "--plan-mode-required"],
      ...["--permission-mode", "acceptEdits", "--allowedTools", "Read,Bash(git log:*)"],
      ...["--add-dir", "/a b", "--add-dir", "/c", "--model", "opus", "--resume", "s-2"],
    ]);
  });

  test("writes bypassPermissions as its own flag", () => {
    const argv = agentArgv({ ...parseAgentArgv(MINIMAL), permissionMode: "bypassPermissions" });
    expect(argv).toContain("--dangerously-skip-permissions");
    expect(argv).not.toContain("--permission-mode");
    expect(parseAgentArgv(argv).permissionMode).toBe("bypassPermissions");
  });

  test("is read back as it was written, for any values", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" });
    const tool = fc.constantFrom(
      "Read",
      "Bash(git log:*)",
      "Bash(echo $(date), now)",
      "Edit(/a (b)/**)",
      "mcp__x__y",
    );
    const flags = fc.record(
      {
        agentId: text,
        agentName: text,
        teamName: text,
        parentSessionId: text,
        agentType: text,
        planModeRequired: fc.boolean(),
        agentColor: text,
        permissionMode: fc.constantFrom(...PERMISSION_MODES),
        allowedTools: fc.array(tool, { minLength: 1 }),
        disallowedTools: fc.array(tool, { minLength: 1 }),
        tools: fc.array(tool, { minLength: 1 }),
        addDirs: fc.array(text, { minLength: 1 }),
        model: text,
        resume: text,
      },
      {
        requiredKeys: [
          "agentId",
          "agentName",
          "teamName",
          "parentSessionId",
          "agentType",
          "planModeRequired",
        ],
      },
    );
    fc.assert(
      fc.property(flags, (given) => {
        expect(parseAgentArgv(agentArgv(given as AgentFlags))).toEqual(given);
      }),
    );
  });

  test("accepts kebab-case aliases and equals signs, and ignores unknown flags", () => {
    const flags = parseAgentArgv([
      ...MINIMAL,
      ...["--from-the-future", "x", "stray", "--allowed-tools=Read Grep", "--disallowed-tools", "Bash"],
    ]);
    expect(flags).toMatchObject({ allowedTools: ["Read", "Grep"], disallowedTools: ["Bash"] });
    expect(flags).not.toHaveProperty("from-the-future");
  });

  test.each([
    [["--agent-id", "rev@audit", "--agent-name", "rev"], /--team-name is missing/],
    [[...MINIMAL, "--model"], /--model has no value/],
    [[...MINIMAL, "--permission-mode", "everything"], /"everything"/],
  ])("is rejected if it is incomplete: %j", (argv, message) => {
    expect(() => parseAgentArgv(argv)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(() => parseAgentArgv(argv)).toThrow(message);
  });
});

test.each([
  ["Read,Grep", ["Read", "Grep"]],
  ["Read Grep", ["Read", "Grep"]],
  ["Bash(git log:*), Read", ["Bash(git log:*)", "Read"]],
  ["Bash(echo $(date), now),Read", ["Bash(echo $(date), now)", "Read"]],
  ["Bash(unbalanced (,Read", ["Bash(unbalanced (,Read"]],
  ["", []],
])("toolList: %j contains the tools %j", (text, tools) => {
  expect(toolList([text])).toEqual(tools);
});
