import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { outputDirectory } from "../../../src/agent/background/output-file.ts";
import { realPathOf } from "../../../src/os/files/symlinks.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { unpacked } from "../../support/files/archive-files.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

/** Variables that count as secrets by their names; no part of their values occurs elsewhere. */
const SECRETS = {
  /** A private key has several lines, and each line alone must be redacted. */
  SIGNING_KEY: "-----BEGIN KEY-----\npem1pem1pem1\npem2 pem2  pem2\n-----END KEY-----\n",
  DEPLOY_TOKEN: "sesame-7f3a9c1e-open",
  DB_PASSWORD: "hunter2hunter2\"and'more",
  HTTPS_PROXY: "http://ada:proxy-5c1d-sesame@proxy.test:3128",
};
/** The value of a variable that the user's settings set for all agents. */
const SETTING = "settings-9b2d-sesame";
const TOKEN = SECRETS.DEPLOY_TOKEN;

const mcpServer = scriptFile("mcp/server");
const bash = (command: string, more = {}) => ({ name: "Bash", input: { command, ...more } });
const both = 'echo "$DEPLOY_TOKEN $DB_PASSWORD $SIGNING_KEY $HTTPS_PROXY"';
/** Prints a secret in two writes, so that a reader sees the first part alone. */
const SPLIT = `head=$(echo "$DEPLOY_TOKEN" | cut -c1-13); printf %s "$head"; sleep 0.3; echo "$DEPLOY_TOKEN" | cut -c14-`;

const LEAKY: readonly PlaybookTurn[] = [
  {
    say: "The token is {{env.DEPLOY_TOKEN}}, the password {{env.DB_PASSWORD}}, and {{env.OWN_SECRET}}.",
    tools: [
      bash(both),
      bash(`${both} >&2; exit 3`),
      bash(SPLIT),
      // More than a result can contain: the rest goes to a file.
      bash(`${both}; seq 1 60000; ${both}`),
      bash(`${SPLIT}; ${both}`, { run_in_background: true }),
    ],
  },
  {
    tools: [
      { name: "Read", input: { file_path: "/nowhere/{{env.DEPLOY_TOKEN}}" } },
      { name: "Write", input: { file_path: "note.txt", content: "no secret" } },
    ],
  },
  {
    tools: [
      {
        name: "SendMessage",
        input: {
          recipient: "team-lead",
          content: "It is {{env.DEPLOY_TOKEN}}, {{env.OWN_SECRET}}.",
          summary: "{{env.DEPLOY_TOKEN}}",
        },
      },
      {
        name: "SendMessage",
        input: { type: "broadcast", content: "{{env.DB_PASSWORD}}", summary: "{{env.SIGNING_KEY}}" },
      },
      {
        name: "TaskCreate",
        input: {
          subject: "use {{env.DEPLOY_TOKEN}}",
          description: "and {{env.DB_PASSWORD}} {{env.SIGNING_KEY}}",
          activeForm: "using {{env.DEPLOY_TOKEN}}",
          metadata: { note: "{{env.DB_PASSWORD}}" },
        },
      },
      { name: "TaskUpdate", input: { taskId: "1", description: "now {{env.DEPLOY_TOKEN}}" } },
      { name: "mcp__echo__greet", input: { name: "{{env.DEPLOY_TOKEN}} {{env.DB_PASSWORD}}" } },
      { name: "AskUserQuestion", input: { question: "Is it {{env.DEPLOY_TOKEN}}?" } },
    ],
  },
  // The secret is cut at the 200th character of the activity.
  { say: "x", tools: [bash(`: ${"x".repeat(185)} {{env.DEPLOY_TOKEN}}; sleep 0.2`)] },
  { say: "{{env.NO_SUCH_VARIABLE_OF_THE_MODEL}}" },
];

const PLANNER: readonly PlaybookTurn[] = [
  {
    tools: [
      {
        name: "Write",
        input: { file_path: "{{plan_file}}", content: "# Plan\nLog in with {{env.DEPLOY_TOKEN}}." },
      },
      { name: "ExitPlanMode", input: {} },
    ],
  },
  { say: "Done." },
];

const LEAD: readonly PlaybookTurn[] = [
  {
    say: "I begin.",
    tools: [
      { name: "TaskCreate", input: { subject: "keep it to yourself", description: "of what it says" } },
      {
        name: "Agent",
        input: { name: "leaky", prompt: "Say {{env.DEPLOY_TOKEN}}.", description: "says it" },
      },
      { name: "Agent", input: { name: "planner", prompt: "Plan it.", plan_mode_required: true } },
    ],
  },
  { say: "I wait." },
  {
    on: { contains: "Plan approval" },
    tools: [
      {
        name: "SendMessage",
        input: {
          type: "plan_approval_response",
          recipient: "planner",
          request_id: "{{request_id.planner}}",
          approve: true,
          content: "with {{env.DEPLOY_TOKEN}}",
        },
      },
    ],
  },
  { on: { contains: "leaky" }, say: "It was said: {{env.DEPLOY_TOKEN}}.", repeat: true },
];

it.each(["tmux", "process", "in-process"])(
  "secrets printed by tools, errors, hooks and models › reach no file of the team (%s, S75)",
  async (mode) => {
    const own = privateTmux({ env: SECRETS });
    const teams = teamsIn(own.env, own.home);
    const root = own.env.TEAMS_HOME ?? "";
    mkdirSync(root, { recursive: true });
    const echo = { command: process.execPath, args: [mcpServer()] };
    const settings = join(root, "settings.json");
    const hook = [{ hooks: [{ type: "command", command: `${both}; ${both} >&2; exit 1` }] }];
    const hooks = { PreToolUse: hook, PostToolUse: hook, TeammateIdle: hook, TaskCreated: hook };
    writeFileSync(settings, JSON.stringify({ env: { OWN_SECRET: SETTING }, hooks, mcpServers: { echo } }));
    const book = join(own.home, "book.json");
    writeFileSync(
      book,
      JSON.stringify({ version: 1, agents: { "team-lead": LEAD, leaky: LEAKY, planner: PLANNER } }),
    );
    const record = join(own.home, "recorded.json");
    const { code, err } = await teams([
      ...["run", "Go.", "--playbook", book, "--record", record, "--team", "leak", "--keep", "--debug"],
      ...["--teammate-mode", mode, "--permission-mode", "bypassPermissions", "--json"],
    ]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const archive = join(own.home, "leak.tar.gz");
    expect((await teams(["export", "leak", "-o", archive])).code).toBe(0);
    const scratch = dirname(outputDirectory(realPathOf(own.home)));
    const files = [own.home, scratch]
      .flatMap(filesBelow)
      .filter((file) => ![archive, settings].includes(file));
    const kinds = ["events.jsonl", "journal.jsonl", "debug", "teams-sessions", ".output", "recorded.json"];
    for (const kind of kinds)
      expect(
        files.some((file) => file.includes(kind)),
        kind,
      ).toBe(true);
    // One log for the lead, and one for each of the two teammates.
    expect(readdirSync(join(root, "debug")).filter((name) => name.endsWith(".txt"))).toHaveLength(3);
    const texts = [...files.map(textOf), ...(await unpacked(readFileSync(archive)))];
    expect(texts.flatMap(leaksIn)).toEqual([]);
    // The secrets were printed, and redacted.
    const conversations = files.filter((file) => file.includes("teams-sessions"));
    expect(conversations.map((file) => readFileSync(file, "utf8")).join("")).toContain("[secret]");
  },
);

it("secrets in requests and answers › reach no file of the team (S75)", async () => {
  const own = privateTmux({ env: SECRETS });
  const teams = teamsIn(own.env, own.home);
  const done = async (...words: string[]) => {
    const ended = await teams(words);
    expect(ended.code, ended.err).toBe(0);
    return ended;
  };
  const content = "{{env.DEPLOY_TOKEN}}\n{{env.DB_PASSWORD}}\n";
  const asks: readonly PlaybookTurn[] = [
    { tools: [{ name: "AskUserQuestion", input: { question: "Is it {{env.DEPLOY_TOKEN}}?" } }] },
    { tools: [{ name: "Write", input: { file_path: "own.txt", content } }] },
    { tools: [bash(`${both} {{env.DEPLOY_TOKEN}}`)] },
  ];
  writeFileSync(join(own.home, "book.json"), JSON.stringify({ version: 1, agents: { dev: asks } }));
  await done("create", "crew", "-d", `for ${TOKEN}`);
  const how = ["--permission-mode", "default", "--teammate-mode", "process", "--model", "scripted:book.json"];
  await done("spawn", "dev", ...how, "--prompt", `Begin with ${TOKEN}.`);
  const waiting = (kind: string) =>
    eventually(kind, async () => {
      const { approvals } = (await done("approvals", "--json")).json<{ approvals: Approval[] }>();
      return approvals.find((approval) => approval.kind === kind);
    });
  // own.txt belongs to the user: the file and its temporary file contain what the agent was asked to write.
  const teamFiles = () => filesBelow(own.home).filter((file) => !/^\.?own\.txt/.test(basename(file)));
  const leaks = () => teamFiles().map(textOf).flatMap(leaksIn);
  for (const kind of ["question", "permission", "permission"]) {
    const { id } = await waiting(kind);
    expect(leaks(), kind).toEqual([]);
    await done("approve", id, "--note", `It is ${TOKEN}.`);
    expect(leaks(), `${kind}, answered`).toEqual([]);
    await eventually("the request's end", async () => !(await done("approvals", "--json")).out.includes(id));
  }
  await done("wait", "--idle", "--timeout", "180");
  expect(leaks()).toEqual([]);
  expect(readFileSync(join(own.home, "own.txt"), "utf8")).toContain(TOKEN);
  await done("kill", "crew", "--force", "--purge");
});

interface Approval {
  readonly id: string;
  readonly kind: string;
}

const PARTS = [
  TOKEN.slice(0, 13),
  TOKEN.slice(7),
  "hunter2hunter2",
  SETTING,
  "pem1pem1",
  "pem2 pem2",
  "proxy-5c1d",
];

function textOf(name: string): { readonly name: string; readonly text: string } {
  return { name, text: unlessGone(() => readFileSync(name, "utf8")) ?? "" };
}

function leaksIn({ name, text }: ReturnType<typeof textOf>): string[] {
  return PARTS.flatMap((part) => (text.includes(part) ? [`${name}: ${around(text, part)}`] : []));
}

/** Lists the files under a directory in which other processes write. */
function filesBelow(directory: string): string[] {
  return (unlessGone(() => readdirSync(directory)) ?? []).flatMap((name) => {
    const path = join(directory, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    return entry?.isDirectory() ? filesBelow(path) : entry?.isFile() ? [path] : [];
  });
}

/** Returns undefined if a lock or a temporary file is gone before it is read. */
function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 120), at + 60);
}
