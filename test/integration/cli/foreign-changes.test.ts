import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { cliIn, type Ended } from "../../support/processes/in-process-cli.ts";
import { foreignPeer, joinByHand, peerSays, teamInTmuxHome } from "../../support/team/foreign-peer.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

interface Setup {
  readonly ref: TeamRef;
  teams(...words: string[]): Promise<Ended>;
  sent(name: string): Promise<(string | undefined)[]>;
}

/** Starts a stand-in for claude of this version; undefined means a program without a version. */
async function setUp(version: string | undefined): Promise<Setup> {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  await foreignPeer(t, ref, "ada", version === undefined ? {} : { version });
  const cli = cliIn(t.home);
  const env = Object.fromEntries(Object.entries(t.env).filter(([, value]) => value !== undefined));
  return {
    ref,
    teams: (...words) => cli(words, { env: env as Record<string, string> }),
    sent: async (name) => (await unreadMessages(ref, name)).map(({ protocol }) => protocol?.type),
  };
}

test.each([
  ["2.1.150", "ada was asked to change to mode plan. claude 2.1.150 accepts mode changes.\n"],
  [
    undefined,
    expect.stringContaining("ada was asked to change to mode plan. claude may ignore the mode change"),
  ],
])("mode › asks a foreign claude %s, and says what it does", async (version, text) => {
  const { teams, sent } = await setUp(version);
  expect((await teams("mode", "ada", "plan")).out).toEqual(text);
  expect(await sent("ada")).toEqual(["mode_set_request"]);
});

test.each([
  ["2.1.150", "ada was asked to change to mode acceptEdits. claude 2.1.150 accepts mode changes.\n"],
  [undefined, "ada was asked to change to mode acceptEdits. claude may ignore the mode change"],
])("up › asks a foreign claude %s to change its mode, and says what it does", async (version, text) => {
  const { ref, teams, sent } = await setUp(version);
  const file = join(ref.home.root, "crew.json");
  const member = { name: "ada", prompt: "Go.", permissionMode: "acceptEdits" };
  writeFileSync(file, JSON.stringify({ name: "crew", members: [member] }));
  const done = await teams("up", file, "--yes", "--teammate-mode", "process");
  expect([done.code, done.out]).toEqual([0, expect.stringContaining(text)]);
  expect(await sent("ada")).toEqual(["mode_set_request"]);
});

test("mode › is refused for a claude that does not accept it, and changes nothing", async () => {
  const { teams, sent } = await setUp("2.1.330");
  const refused = await teams("mode", "ada", "plan", "--json");
  expect(refused.error()).toMatchObject({
    code: "PERMISSION_DENIED",
    message: "claude 2.1.330 does not accept mode changes; the mode of ada was not changed.",
  });
  expect(await sent("ada")).toEqual([]);
  const { members } = (await teams("status", "--json")).json<{ members: { mode: string | null }[] }>();
  expect(members[1]?.mode).toBeNull();
});

const ID = "perm-1795228017024-b3vurhr";

function asks(ref: TeamRef): void {
  const rules = [{ toolName: "Bash", ruleContent: "make:*" }];
  peerSays(ref, "ada", {
    type: "permission_request",
    request_id: ID,
    agent_id: "ada",
    tool_name: "Bash",
    input: { command: "make" },
    permission_suggestions: [{ type: "addRules", rules, behavior: "allow", destination: "localSettings" }],
  });
}

test.each([
  ["2.1.34", false, "claude 2.1.34 ignores rules in an answer: ada will ask again."],
  ["2.1.150", true, "Allowed without asking until ada ends: Bash(make)"],
  [undefined, null, "Whether ada keeps the rules is unknown"],
])("approve --always › says what a foreign claude %s does with the rule", async (version, kept, text) => {
  const { teams, ref } = await setUp(version);
  asks(ref);
  const done = await teams("approve", ID, "--always");
  expect(done.out).toContain(`Approved: permission of ada.\n${text}`);
  const other = await setUp(version);
  asks(other.ref);
  const json = (await other.teams("approve", ID, "--always", "--json")).json<{ always: object }>();
  expect(json.always).toMatchObject({ rules: ["Bash(make)"], kept });
});

test("approve --save › sends no rules to a foreign claude that drops them, and says so", async () => {
  const { teams, ref, sent } = await setUp("2.1.330");
  await joinByHand(ref, "bob");
  peerSays(ref, "bob", { type: "permission_request", request_id: ID, tool_name: "Bash", input: {} });
  const done = await teams("approve", ID, "--rule", "Bash(make:*)", "--save", "user");
  expect(done.err).toContain(
    "claude 2.1.330 does not accept rules while it runs: ada continues without them.",
  );
  expect(done.out).toMatch(
    /Allowed without asking for other agents, saved in .*\n.*Whether bob keeps the rules is unknown/,
  );
  expect(await sent("ada")).toEqual([]);
  expect(await sent(LEAD_NAME)).toEqual(["permission_request"]);
});
