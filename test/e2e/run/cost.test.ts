import { expect, it, onTestFinished } from "vitest";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import {
  type FakeReply,
  type FakeUsage,
  startFakeMessagesApi,
} from "../../support/model/fake-messages-api.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

/** The usage of each call, by model id. The haiku prompt counts as long because of its cached tokens. */
const USAGE: Readonly<Record<string, FakeUsage>> = {
  "claude-haiku-5-5": {
    input_tokens: 1_000,
    output_tokens: 100,
    cache_read_input_tokens: 90_000,
    cache_creation_input_tokens: 10_000,
  },
  "claude-opus-5": {
    input_tokens: 200,
    output_tokens: 20,
    cache_read_input_tokens: 3_000,
    cache_creation_input_tokens: 400,
  },
};

interface Member {
  readonly name: string;
  readonly state: string;
  readonly tokens: object;
  readonly costUsd: number;
}

it("cost › each teammate shows the tokens and cost of its calls, each kind at its rate (S36)", async () => {
  const t = privateTmux();
  let calls = 0;
  const api = await startFakeMessagesApi(({ body }): FakeReply => {
    calls += 1;
    // Opus calls a tool first, so it is asked twice.
    const isFirst = body.model === "claude-opus-5" && body.messages.length === 1;
    const use = { type: "tool_use", id: `toolu_${calls}`, name: "TaskList", input: {} } as const;
    const blocks = isFirst ? [use] : [{ type: "text", text: "Done." } as const];
    return { kind: "message", blocks, usage: USAGE[body.model] ?? {} };
  });
  onTestFinished(() => api.close());
  const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "sk-ant-test-1234" };
  const teams = teamsIn(env, t.home);
  const done = doneIn(env, t.home);
  await done("create", "crew");
  const how = ["--teammate-mode", "process", "--prompt", "Begin."];
  await done("spawn", "ada", "--model", "claude-haiku-5-5", ...how);
  await done("spawn", "bob", "--model", "claude-opus-5", ...how);
  await done("wait", "--idle", "--timeout", "180");
  const spent = async () => {
    const { members } = (await done("status", "--json")).json<{ members: Member[] }>();
    return members.filter(({ name }) => name !== "team-lead");
  };
  await eventually("three calls", () => calls === 3);
  expect(await spent()).toMatchObject([
    {
      name: "ada",
      tokens: { input: 1_000, output: 100, cacheRead: 90_000, cacheWrite: 10_000 },
      costUsd: expect.closeTo((1_000 * 0.5 + 100 * 2.5 + 90_000 * 0.05 + 10_000 * 0.625) / 1_000_000, 10),
    },
    {
      name: "bob",
      tokens: { input: 400, output: 40, cacheRead: 6_000, cacheWrite: 800 },
      costUsd: expect.closeTo((400 * 5 + 40 * 25 + 6_000 * 0.5 + 800 * 6.25) / 1_000_000, 10),
    },
  ]);
  const refused = await teams(["spawn", "eve", "--model", "my/model", "--max-cost", "1", ...how, "--json"]);
  expect([refused.code, refused.error().code]).toEqual([2, "INVALID_MODEL"]);
  await done("kill", "crew", "--force", "--purge");
  await leaves(t, nothing());
});
