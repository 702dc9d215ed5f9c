import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { bashTool } from "../../../../src/agent/tools/bash.ts";
import type { PermissionAnswer, PermissionAsk } from "../../../../src/agent/turn/permission.ts";
import { permitAndExecute } from "../../../../src/agent/turn/permitted-call.ts";
import {
  describeInSandbox,
  type SandboxedAgent,
  sandboxedAgent,
} from "../../../support/sandbox/sandboxed-agent.ts";

/** Makes a call of Bash, and answers its permission request. @returns the request and the result */
async function call(
  { context, project }: Pick<SandboxedAgent, "context" | "project">,
  input: { readonly command: string; readonly dangerouslyDisableSandbox?: boolean },
  answer: PermissionAnswer = { allowed: false },
) {
  const asked: PermissionAsk[] = [];
  const result = await permitAndExecute(
    { tool: bashTool, input, use: { type: "tool_use", id: "toolu_1", name: "Bash", input }, context },
    {
      permissions: {
        mode: () => "default",
        rules: NO_RULES,
        workingDirs: [project],
        ask: async (request) => {
          asked.push(request);
          return answer;
        },
      },
      signal: context.signal,
      emit: () => undefined,
    },
    undefined,
  );
  return { asked: asked[0], result };
}

describeInSandbox("a permission request", () => {
  const command = "npm test";

  test("says that the command runs in the sandbox, or outside, and suggests a rule for that", async () => {
    const agent = await sandboxedAgent();
    expect((await call(agent, { command })).asked).toMatchObject({
      reason: "No rule allows npm test. The command runs in the sandbox.",
      guarded: false,
      rules: ["Bash(npm test)"],
    });
    expect((await call(agent, { command, dangerouslyDisableSandbox: true })).asked).toMatchObject({
      reason: "It runs outside the sandbox. No rule allows npm test.",
      guarded: true,
      rules: ["UnsandboxedBash(npm test)"],
    });
  });

  test("says nothing about a sandbox if the agent has none", async () => {
    const agent = await sandboxedAgent();
    const bare = { ...agent, context: { ...agent.context, sandbox: undefined } };
    expect((await call(bare, { command, dangerouslyDisableSandbox: true })).asked).toMatchObject({
      reason: "No rule allows npm test.",
      rules: ["Bash(npm test)"],
    });
  });

  test("cannot be answered with an input that leaves the sandbox", async () => {
    const agent = await sandboxedAgent();
    const input = { command: "echo x > made", dangerouslyDisableSandbox: true };
    const { result } = await call(agent, { command }, { allowed: true, input });
    expect(result).toMatchObject({ isError: true, content: expect.stringContaining("outside the sandbox") });
    expect(existsSync(join(agent.project, "made"))).toBe(false);
  });
});
