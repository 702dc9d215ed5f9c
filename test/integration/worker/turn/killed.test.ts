import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { requestShutdown } from "../../../../src/operations/ending/shutdown.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../../src/schema/playbook.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { unreadCount, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { eventMessageId, sendMessage } from "../../../../src/team/mailbox/send.ts";
import { readStatus } from "../../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { type Script, script } from "../../../support/processes/script-process.ts";
import { readMailCounts } from "../../../support/team/mail-counts.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

const NO_SLOW_CHECK = fileURLToPath(new URL("../../../fixtures/preload/no-slow-check.cjs", import.meta.url));

const worker = script("team/worker");
const workerWithoutSlowCheck = script("team/worker", ["env", `NODE_OPTIONS=--require=${NO_SLOW_CHECK}`]);
const sendMany = script("team/send-many");

const start = (ref: TeamRef, hold = "never", turns?: readonly PlaybookTurn[]): Script =>
  worker(ref.home.root, ref.team, "dev", hold, ...(turns === undefined ? [] : [JSON.stringify(turns)]));
const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: "team-lead", to: "dev", text });

/** Returns the lines that the process prints up to the wanted one, including it. */
async function until(running: Script, wanted: string): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const line = await running.line();
    lines.push(line);
    if (line === wanted) return lines;
  }
}

async function kill(running: Script): Promise<void> {
  running.child.kill("SIGKILL");
  expect((await running.ended()).signal).toBe("SIGKILL");
}

interface Line {
  readonly type: string;
  readonly message: { readonly content: readonly { readonly text?: string }[] };
  readonly keys?: readonly string[];
}

function conversation(ref: TeamRef): Line[] {
  const path = join(ref.home.root, "teams-sessions", "session-dev.jsonl");
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns the messages in the conversation on disk, one string for each turn. */
function turns(ref: TeamRef): string[] {
  return conversation(ref).flatMap(({ type, message, keys }) =>
    type === "user" && keys !== undefined ? [message.content[0]?.text ?? ""] : [],
  );
}

/** Returns the texts of the model, in order. */
function answers(ref: TeamRef): string[] {
  return conversation(ref).flatMap(({ type, message }) =>
    type === "assistant" ? message.content.flatMap((block) => block.text ?? []) : [],
  );
}

const statesOf = async (ref: TeamRef) => (await history(ref, "dev", { all: true })).map(({ state }) => state);
const noticesOf = async (ref: TeamRef) =>
  (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol }) =>
    protocol?.type === "idle_notification" ? [protocol] : [],
  );
const notices = async (ref: TeamRef) => (await noticesOf(ref)).map(({ result }) => result);
const reasons = async (ref: TeamRef) => (await noticesOf(ref)).map(({ failureReason }) => failureReason);

describe("killed worker (S21)", () => {
  it("receives unrecorded messages again, in order", async () => {
    const ref = await testTeam(["dev"]);
    await send(ref, "one");
    await send(ref, "two");
    const first = start(ref, "picked");
    expect(await until(first, "holding")).toContain("received team-lead: one");
    await kill(first);
    expect(unreadCount(ref, "dev")).toBe(2);
    const second = start(ref);
    expect((await until(second, "turn_ended")).filter((line) => line.startsWith("received"))).toEqual([
      "received team-lead: one",
      "received team-lead: two",
    ]);
    expect(turns(ref)).toEqual([expect.stringMatching(/one[\s\S]*two/)]);
    await eventually("the read mark", () => unreadCount(ref, "dev") === 0);
  });

  it.each([
    ["recorded", "before the messages were marked read", 1],
    ["marked", "after the messages were marked read", 0],
    ["text", "while the model answers", 0],
    ["turn_ended", "after the answer, before the idle notice", 0],
  ])(
    "killed at %s (%s) continues the turn without receiving its messages again",
    async (hold, _where, unread) => {
      const ref = await testTeam(["dev"]);
      await send(ref, "one");
      const first = start(ref, hold);
      await until(first, "holding");
      await kill(first);
      expect(unreadCount(ref, "dev")).toBe(unread);
      const second = start(ref);
      await eventually("the turn's end", async () =>
        (await statesOf(ref)).every((state) => state === "done"),
      );
      await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
      // The effect is exactly once: one turn, one answer, one notice.
      expect(turns(ref)).toEqual([expect.stringContaining("one")]);
      expect(answers(ref)).toEqual(["ok"]);
      expect(await notices(ref)).toEqual(["ok"]);
      await send(ref, "two");
      await eventually("the second turn", () => turns(ref).length === 2);
      expect(turns(ref)[1]).not.toContain("one");
      await eventually("its end", async () => (await statesOf(ref)).every((state) => state === "done"));
      await kill(second);
      // No turn is left to continue.
      const third = start(ref);
      await send(ref, "three");
      const lines = await until(third, "turn_ended");
      expect(lines.filter((line) => line.startsWith("note"))).toEqual([]);
      await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
      expect(answers(ref)).toHaveLength(3);
      expect(readMailCounts(ref, "dev")).toEqual({ queued: 0, delivered: 0, inTurn: 0 });
    },
  );

  it("does not repeat a tool call whose result was lost", async () => {
    const ref = await testTeam(["dev"]);
    const effects = join(ref.home.root, "effects");
    const command = `echo done >> '${effects}'`;
    const playbook = [{ tools: [{ name: "Bash", input: { command } }] }, { say: "it is done" }];
    await send(ref, "do it");
    const first = start(ref, "ended Bash", playbook);
    await until(first, "holding");
    await kill(first);
    expect(readMailCounts(ref, "dev")).toEqual({ queued: 0, delivered: 1, inTurn: 0 });
    start(ref, "never", playbook);
    await eventually("the turn's end", async () => (await statesOf(ref)).every((state) => state === "done"));
    expect(readFileSync(effects, "utf8")).toBe("done\n");
    expect(await notices(ref)).toEqual(["it is done"]);
  });

  it("does not repeat an idle notice that was already sent", async () => {
    const ref = await testTeam(["dev"]);
    const { messageId } = await send(ref, "one");
    const first = start(ref, "turn_ended");
    await until(first, "holding");
    await kill(first);
    const notice = JSON.stringify({ type: "idle_notification", from: "dev", result: "as told before" });
    await sendMessage(ref, {
      from: "dev",
      to: LEAD_NAME,
      text: notice,
      messageId: eventMessageId("idle", "dev", messageId),
    });
    start(ref);
    await eventually("the turn's end", async () => (await statesOf(ref)).every((state) => state === "done"));
    expect(await notices(ref)).toEqual(["as told before"]);
  });

  it("gives up a turn after three failed attempts and notifies the lead of the reason", async () => {
    const ref = await testTeam(["dev"]);
    await send(ref, "one");
    for (let i = 0; i < 3; i += 1) {
      const doomed = start(ref, "text");
      await until(doomed, "holding");
      await kill(doomed);
    }
    const last = start(ref, "text");
    await eventually("the turn's end", async () => (await statesOf(ref)).every((state) => state === "done"));
    expect(answers(ref)).toEqual([]);
    expect(await reasons(ref)).toEqual([expect.stringContaining("3 times")]);
    // The next message starts a turn again.
    await send(ref, "two");
    await until(last, "holding");
    expect(turns(ref)).toHaveLength(2);
  });

  it("continues a turn that was not started by a message", async () => {
    const ref = await testTeam(["dev"]);
    const first = start(ref, "text");
    await until(first, "ready");
    first.say("told Go on with what is open.");
    await until(first, "holding");
    await kill(first);
    start(ref);
    await eventually("its answer", () => answers(ref).length === 1);
    await eventually("its notice", async () => (await notices(ref))[0] === "ok");
    expect(turns(ref)).toEqual([expect.stringContaining("Go on with what is open.")]);
  });

  it("answers a shutdown request in its next process, which then ends", async () => {
    const ref = await testTeam(["dev"]);
    const yes = { type: "shutdown_response", request_id: "{{request_id}}", approve: true };
    const playbook = [{ tools: [{ name: "SendMessage", input: yes }] }, { say: "it waits for no answer" }];
    const ids = await requestShutdown(contextOf(ref), ["dev"]);
    const first = start(ref, "marked", playbook);
    await until(first, "holding");
    await kill(first);
    await until(start(ref, "never", playbook), "ended shutdown");
    const answered = (await unreadMessages(ref, LEAD_NAME)).flatMap(({ protocol }) => protocol ?? []);
    expect(answered).toMatchObject([{ type: "shutdown_approved", requestId: ids.get("dev") }]);
  });

  it("does not continue a turn that is missing from the team's journal", async () => {
    const ref = await testTeam(["dev"]);
    await send(ref, "one");
    const first = start(ref, "text");
    await until(first, "holding");
    await kill(first);
    rmSync(ref.paths.journal);
    const second = start(ref);
    await until(second, "ready");
    await send(ref, "two");
    expect(await until(second, "turn_ended")).toContain("received team-lead: two");
    expect(turns(ref)).toHaveLength(2);
    expect(answers(ref)).toEqual(["ok"]);
  });
});

/** Returns an array that collects the lines of a running process. */
function listening(running: Script): string[] {
  const lines: string[] = [];
  void (async () => {
    for (;;) lines.push(await running.line());
  })().catch(() => undefined);
  return lines;
}

describe("line typed into a killed worker", () => {
  it("is read once by the next process, as the user's, if it was queued", async () => {
    const ref = await testTeam(["dev"]);
    const [begun, open] = [join(ref.home.root, "begun"), join(ref.home.root, "open")];
    const command = `touch '${begun}'; until [ -e '${open}' ]; do sleep 0.02; done`;
    const playbook = [{ tools: [{ name: "Bash", input: { command } }] }, { say: "ok", repeat: true }];
    await send(ref, "one");
    const first = start(ref, "never", playbook);
    await eventually("the command", () => existsSync(begun));
    first.say("look here");
    await until(first, "taken look here");
    await kill(first);
    writeFileSync(open, "");
    const second = start(ref, "never", playbook);
    const lines = listening(second);
    await eventually("both turns", async () => (await statesOf(ref)).every((state) => state === "done"));
    expect(lines.filter((line) => /^(received|typed)/.test(line))).toEqual(["typed: look here"]);
    expect(turns(ref)).toEqual([expect.stringContaining("one"), "[typed by the user]\nlook here"]);
    await kill(second);
    const third = start(ref, "never", playbook);
    await until(third, "ready");
    await send(ref, "two");
    expect((await until(third, "turn_ended")).filter((line) => line.startsWith("typed"))).toEqual([]);
    expect(turns(ref)).toHaveLength(3);
  });

  it.each(["picked", "recorded", "marked", "text", "turn_ended"])(
    "starts one turn and gets one answer if the worker was killed at %s",
    async (hold) => {
      const ref = await testTeam(["dev"]);
      const first = start(ref, hold);
      await until(first, "ready");
      first.say("look here");
      await until(first, "holding");
      await kill(first);
      const second = start(ref);
      await eventually("its turn", async () => (await statesOf(ref)).every((state) => state === "done"));
      await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
      expect(turns(ref)).toEqual(["[typed by the user]\nlook here"]);
      expect(answers(ref)).toEqual(["ok"]);
      expect(await notices(ref)).toEqual(["ok"]);
      await kill(second);
    },
  );
});

describe("500 messages from four writers (S22)", () => {
  it("are handled without a slow check, each once and in each writer's order", async () => {
    const ref = await testTeam(["dev", "w0", "w1", "w2", "w3"]);
    const running = workerWithoutSlowCheck(ref.home.root, ref.team, "dev", "never");
    await until(running, "ready");
    await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
    // The worker is idle before each wave.
    const waves = [42, 42, 41];
    for (const count of waves) {
      const writers = ["w0", "w1", "w2", "w3"].map((from) =>
        sendMany(ref.home.root, ref.team, from, "dev", String(count)),
      );
      await Promise.all(writers.map((writer) => writer.ended()));
      await eventually("the last message", () => unreadCount(ref, "dev") === 0);
      await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
    }
    const seen = turns(ref);
    const texts = seen.flatMap((text) => [...text.matchAll(/teammate_id="(w\d)"[^>]*>\n(.*)\n/g)]);
    expect(texts).toHaveLength(500);
    for (const writer of ["w0", "w1", "w2", "w3"]) {
      const own = texts.filter(([, from]) => from === writer).map(([, , text]) => text);
      expect(own).toEqual(
        waves.flatMap((count) => Array.from({ length: count }, (_, i) => `${writer} ${i}`)),
      );
    }
    expect(seen.length).toBeGreaterThanOrEqual(waves.length);
  });
});
