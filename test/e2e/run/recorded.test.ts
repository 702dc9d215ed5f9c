import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { isTyped, journalLine } from "../../../src/schema/inbox.ts";
import { parsePlaybook } from "../../../src/schema/playbook.ts";
import { readJsonLines } from "../../../src/store/jsonl.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { listTasks } from "../../../src/team/tasks/tasks.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startFakeMessagesApi } from "../../support/model/fake-messages-api.ts";
import { type Line, scriptedTeam } from "../../support/model/scripted-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const DOCS = fileURLToPath(new URL("../../../docs/playbooks.md", import.meta.url));
const KEY = "sk-ant-test-1a2b3c4d5e6f70819";
const BYPASS = ["--permission-mode", "bypassPermissions"];

/**
 * Contains everything that differs between runs: a path, a task id and a request id. Also contains braces and
 * a secret.
 */
const LEAD: readonly Line[] = [
  {
    when: /Count the words/,
    says: `I ask a counter. My key is ${KEY}.`,
    uses: [
      { name: "TaskCreate", input: { subject: "Count words", description: "Of {{text}}" } },
      {
        name: "Agent",
        input: { name: "counter", model: "haiku", prompt: "Do task 1.", description: "counts" },
      },
    ],
  },
  { when: /tool_result.*counter is ready/, says: "It counts." },
  {
    when: /There are 3 words/,
    uses: [
      { name: "TaskUpdate", input: { taskId: "1", status: "completed" } },
      { name: "SendMessage", input: { type: "shutdown_request", recipient: "counter", content: "Thanks." } },
    ],
  },
  { when: /tool_result.*asked/i, says: "I wait." },
  { when: /counter has shut down/, uses: [{ name: "TeamDelete", input: {} }] },
  { when: /tool_result.*is deleted/, says: "The text has 3 words." },
];

const counter = (home: string): readonly Line[] => [
  {
    when: /Do task 1/,
    says: "I write it first.",
    uses: [{ name: "Write", input: { file_path: join(home, "text.txt"), content: "one {{two}} three\n" } }],
  },
  {
    when: /text\.txt/,
    uses: [
      {
        name: "Bash",
        input: { command: `wc -w < "${home}/text.txt"; echo '{{two}}'`, description: "count" },
      },
    ],
  },
  {
    when: /tool_result[\s\S]*3/,
    uses: [
      { name: "SendMessage", input: { recipient: "team-lead", content: "There are 3 words.", summary: "3" } },
    ],
  },
];

const KEPT = [...BYPASS, "--team", "crew", "--keep", "--json"];
const WORKERS = ["ann", "bob", "cem"];

/** Spawns three teammates at once, and gives each a second task when it has completed its first. */
const LEAD_OF_THREE: readonly Line[] = [
  {
    when: /Count the words/,
    uses: WORKERS.flatMap((name) => [
      { name: "TaskCreate", input: { subject: `first of ${name}`, owner: name } },
      { name: "Agent", input: { name, prompt: `Write, ${name}.`, description: "writes" } },
    ]),
  },
  { when: /tool_result.*cem is ready/, says: "They are at work." },
  ...WORKERS.map((name) => ({
    when: new RegExp(`${name} has written`),
    says: `${"Well done, and I say so at length. ".repeat(3)}Check it, ${name}.`,
    uses: [
      { name: "TaskCreate", input: { subject: `second of ${name}` } },
      { name: "SendMessage", input: { recipient: name, content: `Check it, ${name}.`, summary: "check" } },
    ],
  })),
];

/**
 * Writes a file, notifies the lead, checks the file on request, and reports the check. In the recorded run each
 * worker waits for the check of the previous worker, because the lead answers one message at a time. In a
 * replay all workers start at once.
 */
const worker = (name: string, i: number): readonly Line[] => [
  {
    when: new RegExp(`Write, ${name}`),
    uses: [
      {
        name: "Bash",
        input: { command: `${turnOf(i)}echo ${name} > ${name}.txt`, description: "writes" },
      },
      { name: "TaskUpdate", input: { taskId: `${i + 1}`, status: "completed" } },
      {
        name: "SendMessage",
        input: { recipient: "team-lead", content: `${name} has written.`, summary: "written" },
      },
    ],
  },
  {
    when: new RegExp(`Check it, ${name}`),
    uses: [
      { name: "Bash", input: { command: `cat ${name}.txt >> ${name}-checked.txt`, description: "checks" } },
      {
        name: "SendMessage",
        input: { recipient: "team-lead", content: `${name} has checked.`, summary: "checked" },
      },
    ],
  },
];

function turnOf(i: number): string {
  const before = WORKERS[i - 1];
  return before === undefined
    ? ""
    : `[ -n "$TEAMS_PLAYBOOK_SPEED" ] || until [ -e ${before}-checked.txt ]; do sleep 0.05; done; `;
}

/** Returns the tasks, plain messages and files of a run, sorted because their order may differ. */
function outcomeOf(t: PrivateTmux) {
  const ref = teamRef({ root: t.root, runtime: "" }, "crew");
  const { lines } = readJsonLines(ref.paths.journal, journalLine);
  const messages = lines.flatMap(({ to, message }) =>
    message === undefined || isTyped(message) || message.text.startsWith("{")
      ? []
      : [`${message.from} to ${to}: ${message.text}`],
  );
  const files = readdirSync(t.home).filter((name) => name.endsWith(".txt"));
  return {
    tasks: listTasks(ref)
      .map(({ subject, status }) => `${subject}: ${status}`)
      .sort(),
    messages: messages.sort(),
    files: files.sort().map((name) => [name, readFileSync(join(t.home, name), "utf8")]),
  };
}

/** Keeps a processor busy until the test ends. */
function occupyProcessor(): void {
  const child = spawn("/bin/sh", ["-c", "while :; do :; done"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
}

async function replay(t: PrivateTmux, file: string): Promise<object> {
  const ended = await teamsIn(t.env, t.home)(["run", "--playbook", file, ...BYPASS, "--json"]);
  expect(ended.code, ended.err).toBe(0);
  await leaves(t, nothing());
  return ended.json();
}

describe("run --record", () => {
  it("writes a playbook that replays without the model and without secrets (S75)", async () => {
    const t = privateTmux();
    const team = scriptedTeam({ "team-lead": LEAD, counter: counter(t.home) });
    const api = await startFakeMessagesApi(team.script);
    onTestFinished(() => api.close());
    const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: KEY };
    const words = ["run", "--model", "claude-fake", "--record", "mine.json", ...BYPASS, "Count the words"];
    const ended = await teamsIn(env, t.home)(words);
    expect(ended.code, ended.err).toBe(0);
    expect(ended.out).toContain("recorded: ");
    await leaves(t, nothing());
    const file = join(t.home, "mine.json");
    const text = readFileSync(file, "utf8");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(t.home);
    expect(text).toContain("{{task1.task.id}}");
    expect(Object.keys(parsePlaybook(text, file).agents)).toEqual(["counter", "team-lead"]);

    const elsewhere = privateTmux();
    expect(await replay(elsewhere, file)).toMatchObject({
      outcome: "completed",
      result: "The text has 3 words.",
    });
    expect(readFileSync(join(elsewhere.home, "text.txt"), "utf8")).toBe("one {{two}} three\n");
  });

  it("replays three teammates to the same outcome, in whatever order their messages arrive, on a busy machine", async () => {
    const t = privateTmux();
    const cast = {
      "team-lead": LEAD_OF_THREE,
      ...Object.fromEntries(WORKERS.map((name, i) => [name, worker(name, i)])),
    };
    const api = await startFakeMessagesApi(scriptedTeam(cast).script);
    onTestFinished(() => api.close());
    const env = { ...t.env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: KEY };
    const words = ["run", "--model", "claude-fake", "--record", "mine.json", ...KEPT, "Count the words"];
    const ended = await teamsIn(env, t.home)(words);
    expect(ended.code, ended.err).toBe(0);
    const recorded = outcomeOf(t);
    expect(recorded.tasks).toHaveLength(6);
    expect(recorded.messages).toHaveLength(12);
    occupyProcessor();
    // The slower the lead, the more messages wait for its next turn.
    for (const speed of ["1", "20", "0.2"]) {
      const elsewhere = privateTmux({ env: { TEAMS_PLAYBOOK_SPEED: speed } });
      const file = join(t.home, "mine.json");
      const replayed = await teamsIn(elsewhere.env, elsewhere.home)(["run", "--playbook", file, ...KEPT]);
      expect(replayed.code, replayed.err).toBe(0);
      expect(outcomeOf(elsewhere), `at speed ${speed}`).toEqual(recorded);
    }
  });

  it("records a playbook with a plan approval, and replays it", async () => {
    const t = privateTmux();
    const [, example = ""] = [...readFileSync(DOCS, "utf8").matchAll(/```json\n([\s\S]*?)```/g)][1] ?? [];
    writeFileSync(join(t.home, "first.json"), example);
    const words = ["run", "--playbook", "first.json", "--record", "again.json", ...BYPASS, "--json"];
    const ended = await teamsIn(t.env, t.home)(words);
    expect(ended.code, ended.err).toBe(0);
    const elsewhere = privateTmux();
    expect(await replay(elsewhere, join(t.home, "again.json"))).toMatchObject({ result: "Done as planned." });
  });

  it("is refused before any agent starts if the file cannot be written", async () => {
    const t = privateTmux();
    writeFileSync(join(t.home, "mine.json"), "mine");
    const teams = teamsIn(t.env, t.home);
    for (const file of ["mine.json", "gone/mine.json"]) {
      const refused = await teams(["run", "--model", "scripted", "--record", file, "--json"]);
      expect([refused.code, refused.error().code]).toEqual([2, "INVALID_INPUT"]);
    }
    expect(readFileSync(join(t.home, "mine.json"), "utf8")).toBe("mine");
    expect(existsSync(join(t.root, "recordings"))).toBe(false);
    await leaves(t, nothing());
  });
});

it("run --record › fails a finished run if the file cannot be written, and says where its parts are", async () => {
  const t = privateTmux();
  const takes = { name: "Bash", input: { command: "echo mine > rec.json" } };
  const agents = { "team-lead": [{ tools: [takes] }, { say: "" }] };
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents }));
  const words = ["run", "--playbook", "play.json", "--record", "rec.json", ...BYPASS];
  const silent = await teamsIn(t.env, t.home)([...words, "--json"]);
  expect([silent.code, silent.json()]).toMatchObject([1, { outcome: "completed", result: "" }]);
  const [, parts = ""] = /rec\.json was created by another process.*: (\S+)\n$/.exec(silent.err) ?? [];
  expect(readdirSync(parts)).toEqual(["team-lead.jsonl"]);
  expect(readFileSync(join(t.home, "rec.json"), "utf8")).toBe("mine\n");
  // Without --json a note says that the result is empty.
  const ended = await teamsIn(t.env, t.home)([...words.slice(0, 3), ...BYPASS]);
  expect(ended.code).toBe(0);
  expect(ended.err).toMatch(/^The lead ended without a final text\.\n/);
});
