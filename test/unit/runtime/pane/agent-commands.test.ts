import { expect, test } from "vitest";
import { agentCommands } from "../../../../src/runtime/pane/agent-commands.ts";
import type { TeamMember } from "../../../../src/schema/config.ts";
import { updateTeam } from "../../../../src/team/config/config.ts";
import { testTeam } from "../../../support/team/test-team.ts";

/** Returns what `/model` shows for a member. */
async function shownModel(changes: Partial<TeamMember>): Promise<readonly string[]> {
  const ref = await testTeam(["dev"]);
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) => ({ ...one, ...changes })),
  }));
  const shown: string[] = [];
  const parts = { ref, name: "dev", call: { io: {} }, view: { answer: (text: string) => shown.push(text) } };
  agentCommands(parts as unknown as Parameters<typeof agentCommands>[0]).model(undefined);
  return shown;
}

test("agentCommands › shows the model without the control characters that another program wrote", async () => {
  expect(await shownModel({ model: "m-1\u001b[2J" })).toEqual([
    "model: m-1\n/model <id> changes it: haiku, sonnet, opus, or an id",
  ]);
});

test("agentCommands › does not offer to change the model of another program", async () => {
  expect(await shownModel({ model: "gpt-5", metadata: { _cli: "codex" } })).toEqual([
    "model: gpt-5\ncodex chooses its model itself",
  ]);
});

test("agentCommands › ends the shown activity if the compacted conversation cannot be saved", async () => {
  const shown: string[] = [];
  let done: Promise<void> | undefined;
  const agent = {
    messages: [{}],
    async compact() {
      throw new Error("the disk is full");
    },
  };
  const worker = {
    planApproval: { isWaiting: false },
    betweenTurns({ act }: { act(agent: unknown, signal: AbortSignal): Promise<void> }) {
      done = act(agent, new AbortController().signal);
      return false;
    },
  };
  const view = { idle: () => shown.push("idle"), error: (text: string) => shown.push(text) };
  const parts = { ref: {}, name: "dev", call: { io: {} }, view, worker };
  agentCommands(parts as unknown as Parameters<typeof agentCommands>[0]).compact("");
  await done;
  expect(shown).toEqual(["idle", "the disk is full"]);
});
