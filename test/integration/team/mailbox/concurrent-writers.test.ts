import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { JournalLine } from "../../../../src/schema/inbox.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { type Script, script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";

const sendMany = script("team/send-many");
const foreignWriter = script("store/foreign-writer");
const receiveAll = script("team/receive-all");

/** CROWD=full sends 33,000 messages; a busy machine with two cores needs three minutes for them. */
const isFull = process.env.CROWD === "full";
const OURS = isFull ? { writers: 64, messages: 500 } : { writers: 24, messages: 60 };
const FOREIGN = isFull ? { writers: 16, messages: 50 } : { writers: 16, messages: 4 };
/**
 * Longest pause in milliseconds between two messages of one foreign writer. Sixteen writers then send eight messages
 * a second: at four times that rate they mostly block each other on a busy machine, even without our writers.
 */
const PAUSE = "4000";
/** Only the full run needs more than the deadline of all tests. */
const DEADLINE = isFull ? { timeout: 600_000 } : {};
/** Maximum average of our locks that a foreign writer meets for a message. It gives up after eleven; usually it meets half a lock. */
const MAX_MET = 4;

test(
  "one inbox › with many of our writers and sixteen foreign ones: nothing is lost, duplicated or reordered, and ours leave the lock free for the others (S22, S25)",
  DEADLINE,
  async () => {
    const ref = await testTeam(["a"]);
    await sendMessage(ref, { from: "team-lead", to: "a", text: "team-lead 0" });
    const receiver = receiveAll(ref.home.root, ref.team, "a");
    expect(await receiver.line()).toBe("ready");
    const ours = numbered("ours", OURS.writers, (from) =>
      sendMany(ref.home.root, ref.team, from, "a", String(OURS.messages)),
    );
    const foreign = numbered("foreign", FOREIGN.writers, (from, n) =>
      foreignWriter(ref.paths.inbox("a"), from, String(FOREIGN.messages), PAUSE, n % 2 ? "place" : "rename"),
    );
    const written = {
      "team-lead": ["team-lead 0"],
      ...(await linesOf(ours, OURS.messages)),
      ...(await linesOf(foreign, FOREIGN.messages)),
    };
    let met = 0;
    for (const writer of foreign.values()) met += Number((await writer.line()).replace("met ", ""));
    expect(met / (FOREIGN.writers * FOREIGN.messages)).toBeLessThan(MAX_MET);
    receiver.say("stop");
    const received: [string, string][] = JSON.parse(await receiver.line());
    expect(bySender(received.map(([, text]) => text))).toEqual(written);
    expect(new Set(received.map(([key]) => key)).size).toBe(received.length);
    expectJournalled(ref, new Map(received));
  },
);

test("one inbox › readers without a lock always see a whole file (S24)", async () => {
  const ref = await testTeam(["a"]);
  await sendMessage(ref, { from: "team-lead", to: "a", text: "first" });
  const sizes = new Set<number>();
  // The reader sees the file grow, however seldom it gets to read.
  while (sizes.size < 50) {
    const writers = numbered("ours", 6, (from) => sendMany(ref.home.root, ref.team, from, "a", "50"));
    let running = true;
    const ends = Promise.all([...writers.values()].map((writer) => writer.ended())).finally(() => {
      running = false;
    });
    while (running) {
      sizes.add(JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8")).length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await ends).toEqual(Array(6).fill({ code: 0, signal: null, stderr: "" }));
  }
});

function numbered(
  kind: string,
  count: number,
  start: (from: string, n: number) => Script,
): Map<string, Script> {
  return new Map(Array.from({ length: count }, (_, n) => [`${kind}-${n}`, start(`${kind}-${n}`, n)]));
}

/** Collects the lines each writer prints about its messages. */
async function linesOf(
  writers: ReadonlyMap<string, Script>,
  messages: number,
): Promise<Record<string, string[]>> {
  const printed: Record<string, string[]> = {};
  for (const [from, writer] of writers) {
    const lines: string[] = [];
    for (let i = 0; i < messages; i += 1) lines.push(await writer.line());
    printed[from] = lines;
    expect(await writer.ended()).toEqual({ code: 0, signal: null, stderr: "" });
  }
  return printed;
}

function bySender(texts: readonly string[]): Record<string, string[]> {
  const senders: Record<string, string[]> = {};
  for (const text of texts) {
    const from = text.slice(0, text.indexOf(" "));
    senders[from] ??= [];
    senders[from].push(text);
  }
  return senders;
}

/**
 * Expects each message's text in the journal, one "queued" line for each from our writers, and "delivered" for all.
 */
function expectJournalled(ref: TeamRef, received: ReadonlyMap<string, string>): void {
  const lines = readFileSync(ref.paths.journal, "utf8").trimEnd().split("\n");
  const texts = new Map<string, string>();
  const queued = new Map<string, number>();
  const delivered = new Set<string>();
  for (const line of lines) {
    const { id, state, message }: JournalLine = JSON.parse(line);
    if (message !== undefined) texts.set(id, message.text);
    if (state === "queued") queued.set(id, (queued.get(id) ?? 0) + 1);
    if (state === "delivered") delivered.add(id);
  }
  expect(texts).toEqual(received);
  expect(delivered).toEqual(new Set(received.keys()));
  const ours = [...received].filter(([, text]) => !text.startsWith("foreign"));
  expect(queued).toEqual(new Map(ours.map(([id]) => [id, 1])));
}
