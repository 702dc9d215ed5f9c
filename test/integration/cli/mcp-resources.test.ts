import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionsDirectory, transcriptPath } from "../../../src/protocol/paths.ts";
import { TeamResources } from "../../../src/runtime/mcp/resources.ts";
import { updateTeam } from "../../../src/team/config/config.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import type { ClientToolContext } from "../../../src/team-tools/mcp/client-tool.ts";
import { AS_ADA, AS_LEAD, crew, exchange, initialize, requestOf } from "../../support/mcp/exchange.ts";
import type { Cli } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

interface Listed {
  readonly uri: string;
  readonly name: string;
}

async function ask(
  cli: Cli,
  requests: readonly (readonly [method: string, params?: object])[],
  words: readonly string[] = AS_ADA,
) {
  const lines = requests.map(([method, params], at) => requestOf(at, method, params));
  const { replies, reply, err } = await exchange(cli, [initialize("2025-11-25"), ...lines], words);
  return { all: requests.map((_, at) => reply(at)), text: JSON.stringify(replies), err };
}

async function read(cli: Cli, uri: string, words?: readonly string[]): Promise<Record<string, unknown>> {
  const { all } = await ask(cli, [["resources/read", { uri }]], words);
  const [contents] = (all[0]?.result?.contents ?? []) as { uri: string; mimeType: string; text: string }[];
  expect(contents).toMatchObject({ uri, mimeType: "application/json" });
  return JSON.parse(contents?.text ?? "") as Record<string, unknown>;
}

const refOf = (cli: Cli): TeamRef => teamRef(teamsHome(cli.env), "crew");

/** Names this file as the conversation of an agent that has ended. */
function writeStatusOf(ref: TeamRef, agent: string, transcript: string): void {
  writeStatus(ref, agent, statusOf({ transcript, process: deadProcess() }));
}

describe("teams mcp › resources", () => {
  it("show the config, the tasks and the member's own inbox", async () => {
    const cli = await crew();
    await cli(["task", "add", "write docs", "--team", "crew", "--metadata", "ticket=7"]);
    await cli(["send", "ada", "hello", "--team", "crew"]);
    const { all } = await ask(cli, [["resources/list"], ["resources/templates/list"]]);
    const { resources } = (all[0]?.result ?? {}) as { resources: Listed[] };
    expect(resources.map(({ uri }) => uri)).toEqual(
      ["config", "tasks", "inbox"].map((name) => `teams://crew/${name}`),
    );
    expect(all[1]?.result).toMatchObject({
      resourceTemplates: [{ uriTemplate: "teams://crew/agents/{name}/conversation" }],
    });
    expect(await read(cli, "teams://crew/config")).toMatchObject({
      name: "crew",
      members: [{ name: "team-lead" }, { name: "ada" }],
    });
    expect(await read(cli, "teams://crew/tasks")).toMatchObject({
      tasks: [{ id: "1", subject: "write docs", metadata: { ticket: "7" } }],
    });
    const inbox = await read(cli, "teams://crew/inbox");
    expect(inbox).toMatchObject({
      agent: "ada",
      unread: 1,
      messages: [{ from: "team-lead", text: "hello" }],
    });
    // Reading the resource marks no message as read.
    expect(await read(cli, "teams://crew/inbox")).toMatchObject({ unread: 1 });
    expect(await read(cli, "teams://crew/inbox", AS_LEAD)).toMatchObject({
      agent: "team-lead",
      messages: [],
    });
  });

  it("show the newest entries of an agent's conversation, and no other file", async () => {
    const cli = await crew();
    const ref = refOf(cli);
    const file = transcriptPath(cli.root, "s-1");
    mkdirSync(dirname(file), { recursive: true });
    const entries = Array.from({ length: 300 }, (_, at) => ({
      type: at % 2 === 0 ? "user" : "assistant",
      message: {
        role: at % 2 === 0 ? "user" : "assistant",
        content: [{ type: "text", text: `entry ${at} ${"x".repeat(2_000)}` }],
      },
    }));
    const lines = [{ type: "session", sessionId: "s-1" }, ...entries].map((entry) => JSON.stringify(entry));
    writeFileSync(file, `${lines.join("\n")}\nnot json\n`);
    writeStatusOf(ref, "ada", file);
    const uri = "teams://crew/agents/ada/conversation";
    const { all } = await ask(cli, [["resources/list"]]);
    expect(((all[0]?.result ?? {}) as { resources: Listed[] }).resources.at(-1)?.uri).toBe(uri);
    const shown = (await read(cli, uri)) as { entries: { content: { text: string }[] }[]; older: boolean };
    expect(shown).toMatchObject({ agent: "ada", older: true });
    expect(shown.entries.at(-1)?.content[0]?.text).toContain("entry 299 ");
    expect(shown.entries.length).toBeGreaterThan(20);
    expect(JSON.stringify(shown).length).toBeLessThan(150_000);
    const secret = join(cli.directory, "secret.jsonl");
    writeFileSync(secret, `${JSON.stringify(entries[0])}\n`);
    for (const other of [secret, `${sessionsDirectory(cli.root)}/../../secret.jsonl`]) {
      writeStatusOf(ref, "ada", other);
      expect((await ask(cli, [["resources/read", { uri }]])).all[0]?.error).toBeDefined();
    }
  });

  it("refuse an unknown address; the server refuses a member that has left", async () => {
    const cli = await crew();
    const addresses = [
      ...[
        "",
        "file:///etc/passwd",
        "teams://crew",
        "teams://crew/",
        "teams://other/config",
        "teams://crew/config/",
      ],
      ...[
        "teams://crew/agents/ada/conversation",
        "teams://crew/agents/../conversation",
        "teams://crew/../crew/config",
      ],
      ...["teams://crew/agents/%2e%2e%2f%2e%2e/conversation", "teams://crew/agents/%/conversation"],
      ...[
        "teams://crew/agents/nobody/conversation",
        "TEAMS://CREW/CONFIG",
        `teams://crew/${"x".repeat(100_000)}`,
      ],
    ];
    const { all, text } = await ask(
      cli,
      addresses.map((uri) => ["resources/read", { uri }] as const),
    );
    expect(all.map((reply) => reply?.error?.code)).toEqual(addresses.map(() => expect.any(Number)));
    expect(text.length).toBeLessThan(20_000);
    await cli(["kill", "ada", "--force", "--team", "crew"]);
    const { paths } = refOf(cli);
    writeFileSync(
      paths.config,
      JSON.stringify({ name: "crew", createdAt: 1, leadAgentId: "x", members: [] }),
    );
    const left = await cli(AS_ADA, { stdin: "" });
    expect(left.code).not.toBe(0);
  });

  it("have a new version after each change, and only then", async () => {
    const cli = await crew();
    const ref = refOf(cli);
    const resources = new TeamResources({
      ctx: { home: ref.home, ref, actor: "ada" },
    } as unknown as ClientToolContext);
    const changedBy = async (change: () => unknown): Promise<readonly string[]> => {
      const before = resources.versions();
      await change();
      return [...resources.versions()].flatMap(([uri, now]) => (before.get(uri) === now ? [] : [uri]));
    };
    const rename = () => updateTeam(ref, (config) => ({ ...config, displayName: "The crew" }));
    expect(await changedBy(rename)).toEqual(["teams://crew/config"]);
    const add = () => addTask(ref, "team-lead", { subject: "write docs" });
    expect(await changedBy(add)).toEqual(["teams://crew/tasks"]);
    const send = (to: string) => sendMessage(ref, { from: "team-lead", to, text: "hello" });
    expect(await changedBy(() => send("ada"))).toEqual(["teams://crew/inbox"]);
    expect(await changedBy(() => send("team-lead"))).toEqual([]);
    const file = transcriptPath(cli.root, "s-1");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    const conversation = "teams://crew/agents/ada/conversation";
    expect(await changedBy(() => writeStatusOf(ref, "ada", file))).toEqual([conversation]);
    expect(await changedBy(() => appendFileSync(file, "{}\n"))).toEqual([conversation]);
  });

  it("contain no control character, even if names and messages do", async () => {
    const cli = await crew();
    const ref = refOf(cli);
    const hostile = "x\u001b]0;title\u0007\u202e/../%2f";
    await addMembers(ref, [{ name: "bob", cwd: cli.directory }]);
    await sendMessage(ref, { from: "bob", to: "ada", text: hostile, summary: hostile });
    const { paths } = ref;
    const { members, ...rest } = JSON.parse(readFileSync(paths.config, "utf8")) as { members: object[] };
    const odd = [{ name: "a\ud800" }, { name: "../x" }, { name: "a/b\u001b[31m" }];
    writeFileSync(paths.config, JSON.stringify({ ...rest, members: [...members, ...odd] }));
    for (const { name } of odd) writeStatusOf(ref, name, transcriptPath(cli.root, "s-1"));
    mkdirSync(sessionsDirectory(cli.root), { recursive: true });
    writeFileSync(transcriptPath(cli.root, "s-1"), "{}\n");
    const foreign = {
      from: hostile,
      text: `foreign ${hostile}`,
      timestamp: new Date(0).toISOString(),
      read: false,
    };
    writeFileSync(paths.inbox("ada"), JSON.stringify([foreign]));
    await cli(["task", "add", `task ${hostile}`, "--team", "crew"]);
    const uris = ["config", "tasks", "inbox"].map((name) => `teams://crew/${name}`);
    const { replies } = await exchange(
      cli,
      [initialize("2025-11-25"), ...uris.map((uri, at) => requestOf(at, "resources/read", { uri }))],
      AS_ADA,
    );
    const { all } = await ask(cli, [["resources/list"]]);
    const { resources } = (all[0]?.result ?? {}) as { resources: Listed[] };
    expect(resources.slice(3).map(({ uri }) => uri)).toEqual(
      ["a%EF%BF%BD", "..%2Fx", "a%2Fb%1B%5B31m"].map((name) => `teams://crew/agents/${name}/conversation`),
    );
    expect(resources.at(-1)?.name).toBe("conversation of a/b");
    expect(await read(cli, "teams://crew/agents/..%2Fx/conversation")).toMatchObject({ entries: [] });
    for (const reply of replies) {
      const [contents] = (reply.result?.contents ?? []) as { text: string }[];
      const text = contents?.text ?? "";
      expect(text).not.toMatch(/\\u001b|\\u0007|[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });

  it("do not follow a link out of the directory of conversations", async () => {
    const cli = await crew();
    const ref = refOf(cli);
    const directory = sessionsDirectory(cli.root);
    mkdirSync(directory, { recursive: true });
    const secret = join(cli.directory, "secret.txt");
    writeFileSync(secret, "the secret\n");
    const link = join(directory, "link.jsonl");
    symlinkSync(secret, link);
    writeStatusOf(ref, "ada", link);
    const { text } = await ask(cli, [["resources/read", { uri: "teams://crew/agents/ada/conversation" }]]);
    expect(text).not.toContain("the secret");
  });

  it("accept only a limited number of subscriptions", async () => {
    const cli = await crew();
    const subscribe = (uri: string) => ["resources/subscribe", { uri }] as const;
    const many = Array.from({ length: 210 }, (_, at) => subscribe(`teams://crew/agents/a${at}/conversation`));
    const { all } = await ask(cli, [
      subscribe("teams://crew/config"),
      subscribe("teams://crew/config"),
      subscribe("file:///etc/passwd"),
      ...many,
      ["resources/unsubscribe", { uri: "teams://crew/config" }],
      ["resources/unsubscribe", { uri: "teams://never/subscribed" }],
    ]);
    const refused = all.map((reply) => reply?.error !== undefined);
    expect(refused.slice(0, 3)).toEqual([false, false, true]);
    expect(refused.slice(3, 213).filter(Boolean)).toHaveLength(11);
    expect(refused.slice(213)).toEqual([false, false]);
  });
});

describe("teams mcp › prompts", () => {
  it("tell a lead how to lead, and a teammate how to join", async () => {
    const cli = await crew();
    const goal = "Fix\u001b[31m the bug";
    const lead = await ask(
      cli,
      [
        ["prompts/list"],
        ["prompts/get", { name: "lead_a_team", arguments: { goal } }],
        ["prompts/get", { name: "lead_a_team" }],
        ["prompts/get", { name: "join_a_team" }],
        ["prompts/get", { name: "lead_a_team", arguments: { goal: "g".repeat(1_000_000) } }],
      ],
      AS_LEAD,
    );
    expect(lead.all[0]?.result).toMatchObject({
      prompts: [{ name: "lead_a_team", arguments: [{ name: "goal", required: true }] }],
    });
    const text = JSON.stringify(lead.all[1]?.result);
    expect(text).toContain("Fix the bug");
    for (const tool of ["TeamCreate", "TaskCreate", "Agent", "Wait", "AnswerRequest", "TeamDelete"])
      expect(text).toContain(tool);
    expect(lead.all[2]?.error?.message).toContain("goal");
    expect(lead.all[3]?.error?.message).toContain("lead_a_team");
    expect(JSON.stringify(lead.all[4]).length).toBeLessThan(30_000);
    const teammate = await ask(cli, [["prompts/list"], ["prompts/get", { name: "join_a_team" }]]);
    expect(teammate.all[0]?.result).toMatchObject({ prompts: [{ name: "join_a_team" }] });
    expect(JSON.stringify(teammate.all[1]?.result)).toContain("You are ada, a teammate");
  });
});
