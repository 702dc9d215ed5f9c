import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { scratchDirectory } from "../../../src/os/directories.ts";
import { realPathOf } from "../../../src/os/fs.ts";
import type { Turn } from "../../../src/schema/playbook.ts";
import { teamsIn } from "../../support/built.ts";
import { privateTmux } from "../../support/tmux-server.ts";

/** Of variables that are secrets by their names; neither has a part that stands anywhere else. */
const SECRETS = { DEPLOY_TOKEN: "sesame-7f3a9c1e-open", DB_PASSWORD: "hunter2hunter2\"and'more" };
const TOKEN = SECRETS.DEPLOY_TOKEN;

const bash = (command: string, more = {}) => ({ name: "Bash", input: { command, ...more } });
const both = 'echo "$DEPLOY_TOKEN $DB_PASSWORD"';
/** In two writes, between which a reader has the first. */
const SPLIT = `head=$(echo "$DEPLOY_TOKEN" | cut -c1-13); printf %s "$head"; sleep 0.3; echo "$DEPLOY_TOKEN" | cut -c14-`;

const LEAKY: readonly Turn[] = [
  {
    say: "The token is {{env.DEPLOY_TOKEN}}, the password {{env.DB_PASSWORD}}.",
    tools: [
      bash(both),
      bash(`${both} >&2; exit 3`),
      bash(SPLIT),
      // More than a result holds: the rest goes to a file.
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
  // Cut off at the 200th character of an activity, in the middle of it.
  { say: "x", tools: [bash(`: ${"x".repeat(185)} {{env.DEPLOY_TOKEN}}; sleep 0.2`)] },
  { say: "{{env.NO_SUCH_VARIABLE_OF_THE_MODEL}}" },
];

const LEAD: readonly Turn[] = [
  {
    say: "I begin.",
    tools: [
      { name: "Agent", input: { name: "leaky", prompt: "Say it.", description: "says it" } },
      { name: "TaskCreate", input: { subject: "keep it to yourself", description: "of what it says" } },
    ],
  },
  { say: "I wait." },
  { on: { contains: "leaky" }, say: "It was said: {{env.DEPLOY_TOKEN}}.", repeat: true },
];

it("what tools, errors, hooks and models print of the keys in the environment is in no file of ours (S75)", async () => {
  const own = privateTmux({ env: SECRETS });
  const teams = teamsIn(own.env, own.home);
  const root = own.env.TEAMS_HOME ?? "";
  mkdirSync(root, { recursive: true });
  const hook = [{ hooks: [{ type: "command", command: `${both}; ${both} >&2; exit 1` }] }];
  const hooks = { PreToolUse: hook, PostToolUse: hook, TeammateIdle: hook, TaskCreated: hook };
  writeFileSync(join(root, "settings.json"), JSON.stringify({ hooks }));
  const book = join(own.home, "book.json");
  writeFileSync(book, JSON.stringify({ version: 1, agents: { "team-lead": LEAD, leaky: LEAKY } }));
  const record = join(own.home, "recorded.json");
  const { code, err } = await teams([
    ...["run", "Go.", "--playbook", book, "--record", record, "--team", "leak", "--keep", "--debug"],
    ...["--teammate-mode", "process", "--permission-mode", "bypassPermissions", "--json"],
  ]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const scratch = join(scratchDirectory(), realPathOf(own.home).replaceAll("/", "-"));
  const files = [root, own.env.XDG_RUNTIME_DIR ?? "", scratch].flatMap(filesBelow).concat(record);
  const kinds = ["events.jsonl", "journal.jsonl", "debug", "teams-sessions", ".output", "recorded.json"];
  for (const kind of kinds)
    expect(
      files.some((file) => file.includes(kind)),
      kind,
    ).toBe(true);
  const parts = [TOKEN.slice(0, 13), TOKEN.slice(7), "hunter2hunter2"];
  const leaks = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return parts.flatMap((part) => (text.includes(part) ? [`${file}: ${around(text, part)}`] : []));
  });
  expect(leaks).toEqual([]);
  // That it was printed at all.
  const conversations = files.filter((file) => file.includes("teams-sessions"));
  expect(conversations.map((file) => readFileSync(file, "utf8")).join("")).toContain("[secret]");
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 120), at + 60);
}
