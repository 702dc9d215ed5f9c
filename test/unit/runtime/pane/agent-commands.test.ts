import { expect, test } from "vitest";
import { agentCommands } from "../../../../src/runtime/pane/agent-commands.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("agentCommands › shows the model without the control characters that another program wrote", async () => {
  const ref = await testTeam(["dev"]);
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) => ({ ...one, model: "m-1\u001b[2J" })),
  }));
  const shown: string[] = [];
  const parts = { ref, name: "dev", call: { io: {} }, view: { answer: (text: string) => shown.push(text) } };
  agentCommands(parts as unknown as Parameters<typeof agentCommands>[0]).model(undefined);
  expect(shown).toEqual(["model: m-1\n/model <id> changes it: haiku, sonnet, opus, or an id"]);
});
