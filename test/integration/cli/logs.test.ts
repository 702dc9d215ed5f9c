import { appendFileSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTranscript } from "../../../src/agent/conversation/transcript.ts";
import { debugPath, transcriptPath } from "../../../src/protocol/paths.ts";
import { withDebugLog } from "../../../src/runtime/debug-view.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { rotatedPath } from "../../../src/telemetry/event-log.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { statusOf } from "../../support/team/status-records.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { noSlowCheck } from "../../support/timing/no-slow-check.ts";
import { startWorker } from "../../support/worker/start-worker.ts";

/** Starts an agent that runs one of these turns for each message it gets. */
async function talk(
  turns: readonly PlaybookTurn[],
  mode: "default" | "bypassPermissions" = "bypassPermissions",
) {
  const teams = cliIn();
  await teams(["create", "review"]);
  const ref = teamRef({ root: teams.root, runtime: join(teams.directory, "runtime", "teams") }, "review");
  await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
  const env = { TEAMS_DEBUG: "1" };
  const dev = await startWorker(ref, {
    turns,
    mode,
    wrap: (options) => ({
      ...options,
      view: withDebugLog(options.view, { root: teams.root, sessionId: "session-dev", env }),
    }),
  });
  onTestFinished(async () => void (await dev.stop().catch(() => undefined)));
  const say = async (text: string): Promise<void> => {
    const before = dev.inputs.length;
    await sendMessage(ref, { from: "team-lead", to: "dev", text });
    await eventually(
      "the end of dev's turn",
      () => dev.inputs.length > before && readStatus(ref, "dev")?.state === "idle",
    );
  };
  return { teams, dev, say };
}

const bash = (command: string) => ({ name: "Bash", input: { command } });

/** Runs a following command until it is stopped. */
function following(teams: Cli, words: readonly string[]) {
  const stop = new AbortController();
  let out = "";
  const ended = teams(words, {
    signal: stop.signal,
    onOut: (text) => {
      out += text;
    },
  });
  return {
    out: () => out,
    stop: async () => {
      stop.abort();
      expect((await ended).code).toBe(130);
    },
  };
}

describe("teams logs", () => {
  it("prints the whole conversation: speakers, tool calls and their results", async () => {
    const { teams, dev, say } = await talk([
      { say: "I look.", tools: [bash("seq 11 19")] },
      { say: "Nine rows." },
      { say: "You typed." },
    ]);
    await say('find "a < b" & tell <me>');
    await dev.worker.handleTypedLine("thank you");
    await eventually("the typed turn", () => dev.inputs.length === 2);
    await eventually("the end of the typed turn", async () =>
      (await teams(["logs", "dev"])).out.includes("You typed."),
    );
    const { out } = await teams(["logs", "dev"]);
    expect(out).toContain('◂ team-lead\n  find "a < b" & tell <me>\n');
    expect(out).toMatch(/I look\.[\s\S]*● Bash\(seq 11 19\)\n {2}⎿ 11\n( {4}1[2-8]\n){7} {4}19\n/);
    expect(out).toMatch(/Nine rows\.[\s\S]*› thank you[\s\S]*You typed\./);
    expect(out).not.toMatch(/teammate_message|tool_use|typed by the user|ESC|\{"/);
  });

  it("shows each call of one answer once, with its result below", async () => {
    const { teams, say } = await talk([
      { tools: [bash("echo one"), bash("echo two")] },
      { say: "Both ran." },
    ]);
    await say("begin");
    const { out } = await teams(["logs", "dev"]);
    expect(out).toContain("● Bash(echo one)\n  ⎿ one\n● Bash(echo two)\n  ⎿ two\n\nBoth ran.");
    expect(out.split("● Bash(echo one)")).toHaveLength(2);
  });

  it("shows team tools and ended background commands as the pane does, without JSON or tags", async () => {
    const { teams, say } = await talk([
      {
        tools: [
          { name: "TaskCreate", input: { subject: "Look at <it>" } },
          { name: "TaskList", input: {} },
          { name: "SendMessage", input: { recipient: "nobody", content: "x", summary: "y" } },
          { name: "Bash", input: { command: "echo '<b>'", run_in_background: true } },
        ],
      },
      { say: "Begun." },
      { on: { contains: "task_notification" }, say: "Heard." },
    ]);
    await say("begin");
    await eventually("the answer to the notification", async () =>
      (await teams(["logs", "dev"])).out.includes("Heard."),
    );
    const { out } = await teams(["logs", "dev"]);
    expect(out).toContain("● TaskCreate(Look at <it>)\n");
    expect(out).toContain("● TaskList()\n");
    expect(out).toMatch(/● SendMessage\([^{]*\)\n/);
    expect(out).toContain("ended in the background: echo '<b>'");
    expect(out).not.toMatch(/\{\s*"|<\/?task_|<summary>/);
  });

  it("shows the change of an edit below its call, in a past conversation", async () => {
    const file_path = "src/clock.ts";
    const content = "import x;\n\nconst now = Date.now();\n";
    const edit = { file_path, old_string: "Date.now()", new_string: "clock.now()" };
    const { teams, say } = await talk([
      { tools: [{ name: "Write", input: { file_path: "{{cwd}}/src/clock.ts", content } }] },
      { tools: [{ name: "Edit", input: edit }] },
      { say: "Done." },
    ]);
    await say("begin");
    const { out } = await teams(["logs", "dev"]);
    expect(out).toContain(
      "  ⎿ new file: 3 lines\n    1 + import x;\n    2 +\n    3 + const now = Date.now();\n",
    );
    expect(out).toContain(
      [
        "● Edit(src/clock.ts)",
        "  ⎿ 1 line added, 1 line removed",
        "    1   import x;",
        "    2",
        "    3 - const now = Date.now();",
        "    3 + const now = clock.now();",
        "",
      ].join("\n"),
    );
  });

  it("prints the file's lines with --raw, and one object with --json", async () => {
    const { teams, say } = await talk([{ say: "ok" }]);
    await say("begin");
    const raw = (await teams(["logs", "dev", "--raw"])).out.trim().split("\n");
    expect(raw.map((line) => JSON.parse(line).type)).toEqual(["session", "user", "assistant"]);
    const { entries } = (await teams(["logs", "dev", "--json"])).json<{ entries: { type: string }[] }>();
    expect(entries.map((entry) => JSON.stringify(entry))).toEqual(raw);
  });

  it("prints no control character with --raw and --json, and keeps the text", async () => {
    const text = "a\x1b[2J\x7f\x9b2J\u202eb\u2028\ufeffc";
    const { teams, say } = await talk([{ say: text }]);
    await say("begin");
    for (const format of ["--raw", "--json"]) {
      const { out } = await teams(["logs", "dev", format]);
      expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|[\u2028\u2029]/u);
      expect(
        JSON.stringify(
          out
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ),
      ).toContain(JSON.stringify(text).slice(1, -1));
    }
  });

  it("prints the newest 200 entries, and each older entry once on the earlier pages", async () => {
    const { teams, say } = await talk([{ say: "ok" }]);
    await say("begin");
    const entry = (i: number): object => ({
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text: `entry ${i} ${"x".repeat(i % 997)}` }] },
    });
    const file = join(teams.root, "teams-sessions", "session-dev.jsonl");
    const lines = Array.from({ length: 450 }, (_, i) => `${JSON.stringify(entry(i))}\n`);
    appendFileSync(file, `${lines.join("")}{"type":"assist`);
    const { out, err } = await teams(["logs", "dev"]);
    expect(out.match(/entry \d+/g)).toEqual(Array.from({ length: 200 }, (_, i) => `entry ${i + 250}`));
    const older = /^Older entries: teams (logs dev .*)$/m.exec(err)?.[1]?.split(" ") ?? [];
    expect((await teams([...older, "-n", "2"])).out.match(/entry \d+/g)).toEqual(["entry 248", "entry 249"]);
    expect((await teams(["logs", "dev", "--all"])).out.match(/entry \d+/g)).toHaveLength(450);
    const all: unknown[] = [];
    for (let before: number | null = readFileSync(file).length; before !== null; ) {
      const answer = await teams(["logs", "dev", "--json", "--before", String(before)]);
      const page: { entries: unknown[]; before: number | null } = answer.json();
      all.unshift(...page.entries);
      before = page.before;
    }
    expect(all).toHaveLength(453);
    const following = ["logs", "dev", "-f", "--before", "9"];
    expect((await teams(following)).code).toBe(2);
  });

  it("prints the older entries of a conversation of more than 10 MB", async () => {
    const { teams, say } = await talk([{ say: "ok" }]);
    await say("begin");
    const entries = Array.from({ length: 12 }, (_, i) => ({
      type: "note",
      text: `entry ${i} ${"x".repeat(1e6)}`,
    }));
    const file = join(teams.root, "teams-sessions", "session-dev.jsonl");
    for (const entry of entries) appendFileSync(file, `${JSON.stringify(entry)}\n`);
    const { err } = await teams(["logs", "dev", "--raw", "-n", "1"]);
    const older = /^Older entries: teams (logs dev .*--before \d{8})$/m.exec(err)?.[1]?.split(" ") ?? [];
    const { out, code } = await teams(older);
    expect([out.match(/entry \d+/g), code]).toEqual([["entry 10"], 0]);
  });

  it("follows new entries with -f", async () => {
    noSlowCheck();
    const { teams, say } = await talk([{ say: "first" }, { say: "second" }]);
    await say("one");
    const log = following(teams, ["logs", "dev", "-f"]);
    await eventually("the first entry", () => log.out().includes("first"));
    await say("two");
    await eventually("the second entry", () => log.out().includes("second"));
    // The conversation grows, although no file of the team changes.
    const message = { role: "assistant", content: [{ type: "text", text: "third" }] };
    appendFileSync(
      join(teams.root, "teams-sessions", "session-dev.jsonl"),
      `${JSON.stringify({ type: "assistant", message })}\n`,
    );
    await eventually("the third entry", () => log.out().includes("third"));
    await log.stop();
    expect(log.out().split("first")).toHaveLength(2);
  });

  it("prints decisions and their reasons with --debug", async () => {
    const { teams, say } = await talk([
      { error: { status: 529, type: "overloaded_error", times: 1 }, tools: [bash("echo word")] },
      { say: "done" },
    ]);
    const log = following(teams, ["logs", "dev", "--debug", "-f"]);
    await say("begin");
    const { out } = await teams(["logs", "dev", "--debug"]);
    expect(out).toMatch(/reads a message from team-lead \(5 characters\)/);
    expect(out).toMatch(/model attempt 1 failed: 529 overloaded_error; next attempt in \d+ ms/);
    expect(out).toMatch(/permission for Bash \S+: allowed by rules and mode: .*bypassPermissions/);
    expect(out).toMatch(/turn completed/);
    const { lines } = (await teams(["logs", "dev", "--debug", "--json"])).json<{ lines: string[] }>();
    expect(`${lines.join("\n")}\n`).toBe(out);
    await eventually("the same lines", () => log.out() === out);
    await log.stop();
    // A rotation leaves no file until the next line.
    const file = debugPath(teams.root, "session-dev");
    renameSync(file, rotatedPath(file));
    expect((await teams(["logs", "dev", "--debug"])).out).toBe(out);
  });

  it("finds the conversation in a home that was moved", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const ref = teamRef({ root: teams.root, runtime: join(teams.directory, "runtime", "teams") }, "review");
    await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
    const sessionId = "session-dev";
    openTranscript(transcriptPath(teams.root, sessionId), { sessionId }).append({
      type: "user",
      message: { role: "user", content: [{ type: "text", text: "Look here." }] },
      keys: ["k"],
    });
    writeStatus(ref, "dev", statusOf({ sessionId, transcript: transcriptPath("/nowhere", sessionId) }));
    expect((await teams(["logs", "dev", "--raw"])).out).toContain("Look here.");
  });

  it("explains that a manual lead has no conversation, and rejects bad arguments", async () => {
    const teams = cliIn();
    await teams(["create", "review"]);
    const { code, err } = await teams(["logs", "team-lead"]);
    expect(code).toBe(1);
    expect(err).toContain("teams inbox team-lead --all");
    expect((await teams(["logs", "nobody"])).code).toBe(3);
    expect((await teams(["logs", "team-lead", "--raw", "--debug"])).code).toBe(2);
  });
});
