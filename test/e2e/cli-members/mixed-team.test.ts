import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import { standIn } from "../../support/cli/stand-in.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const FILES = {
  codex: scriptFile("cli/app-server"),
  gemini: scriptFile("cli/acp"),
  opencode: scriptFile("cli/http"),
  claude: scriptFile("cli/inbox"),
};
const ADAPTERS: Readonly<Record<keyof typeof FILES, Omit<AdapterInput, "command">>> = {
  codex: { channel: "app-server", resume: "resume" },
  gemini: { channel: "acp", resume: "load", modes: { default: "ask" } },
  opencode: { channel: "http", resume: "resume", modes: { default: "build" } },
  claude: { channel: "inbox", resume: "resume", modes: { default: "default" } },
};
const CLIS = Object.keys(FILES) as (keyof typeof FILES)[];

interface Status {
  readonly members: readonly { readonly name: string; readonly state: string; readonly pid: number | null }[];
  readonly tasks: {
    readonly list: readonly { readonly id: string; readonly status: string; readonly owner?: string }[];
  };
}

/** Returns the work of the first member: a command that asks, its task, and a message with the rest for the next member. */
function workFrom([name, ...next]: readonly string[], id: number): string {
  if (name === undefined) return "";
  const recipient = next.length === 0 ? "team-lead" : (next[0] ?? "");
  const content = next.length === 0 ? "all tasks are done" : workFrom(next, id + 1);
  const tool = (tool: string, input: object): string => `tool: ${tool} ${JSON.stringify(input)}`;
  return [
    `run: touch by-${name}`,
    tool("TaskUpdate", { taskId: `${id}`, owner: name, status: "in_progress" }),
    tool("TaskUpdate", { taskId: `${id}`, owner: name, status: "completed" }),
    tool("SendMessage", { type: "message", recipient, content, summary: "go on" }),
    `say: ${name} is done`,
  ].join("\n");
}

it("a team of agents of five programs › finishes dependent tasks with one request by each member, after a SIGKILL and a resume", async () => {
  const t = privateTmux();
  const repo = join(t.home, "repo");
  mkdirSync(repo, { recursive: true });
  const adapters = Object.fromEntries(
    CLIS.map((name) => {
      const { home: _, ...adapter } = standIn(t, name, FILES[name](), ADAPTERS[name]);
      return [name, adapter];
    }),
  );
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teams: { adapters } }));
  const own = [
    { name: "Bash", input: { command: "touch by-ours" } },
    { name: "TaskUpdate", input: { taskId: "1", owner: "ours", status: "completed" } },
    {
      name: "SendMessage",
      input: { type: "message", recipient: "codex", content: workFrom(CLIS, 2), summary: "go on" },
    },
  ];
  const turns = [{ say: "ready" }, ...own.map((use) => ({ tools: [use] })), { say: "ours is done" }];
  writeFileSync(join(repo, "ours.json"), JSON.stringify({ version: 1, agents: { ours: turns } }));
  const run = teamsIn({ ...t.env, TEAMS_TEAM: "crew" }, repo);
  const teams = async (...words: string[]) => {
    const ended = await run(words);
    expect([ended.code, ended.err.replace(/^teams: .*\n/gm, "")], words.join(" ")).toEqual([0, ""]);
    return ended;
  };
  const status = async (): Promise<Status> => (await teams("status", "--json")).json<Status>();
  const members = ["ours", ...CLIS];
  await teams("create", "crew");
  for (const [i, name] of members.entries())
    await teams("task", "add", `work of ${name}`, ...(i === 0 ? [] : ["--blocked-by", `${i}`]));
  await teams("spawn", "ours", "--model", "scripted:ours.json", "--prompt", "wait");
  for (const name of CLIS) await teams("spawn", name, "--cli", name, "--prompt", "say: ready");
  const states = async (...wanted: string[]): Promise<boolean> =>
    (await status()).members.slice(1).every(({ state }) => wanted.includes(state));
  await eventually("all members to be idle", () => states("idle"));

  const gemini = (await status()).members.find(({ name }) => name === "gemini");
  process.kill(gemini?.pid ?? 0, "SIGKILL");
  await eventually("the crash", async () =>
    (await status()).members.some(({ name, state }) => name === "gemini" && state === "crashed"),
  );
  await teams("resume");
  await eventually("gemini to be idle again", () => states("idle"));

  await teams("send", "ours", "begin");
  const asked = new Map<string, string>();
  await eventually("the end of all tasks", async () => {
    const { approvals } = (await teams("approvals", "--json")).json<{
      approvals: { id: string; from: string; kind: string; summary: string }[];
    }>();
    for (const { id, from, summary } of approvals) {
      if (asked.has(id)) continue;
      asked.set(id, `${from}: ${summary}`);
      await teams("approve", id);
    }
    return (await status()).tasks.list.every((task) => task.status === "completed");
  });
  expect([...asked.values()]).toEqual(members.map((name) => `${name}: Bash(touch by-${name})`));
  expect(members.filter((name) => !existsSync(join(repo, `by-${name}`)))).toEqual([]);
  expect((await status()).tasks.list.map(({ owner }) => owner)).toEqual(members);
  await eventually("the last message", async () =>
    (await teams("inbox", "team-lead", "--all", "--json")).out.includes("all tasks are done"),
  );
  await eventually("all members to be idle", () => states("idle"));
  await teams("kill", "crew", "--force");
});
