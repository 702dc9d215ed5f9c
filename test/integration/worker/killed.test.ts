import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deliver, history, unreadCount } from "../../../src/team/mailbox.ts";
import { readStatus } from "../../../src/team/records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { eventually } from "../../support/eventually.ts";
import { type Script, script } from "../../support/run-ts.ts";
import { testTeam } from "../../support/team.ts";

const worker = script("worker");
const sendMany = script("send-many");

const start = (ref: TeamRef, hold = "never"): Script => worker(ref.home.root, ref.team, "dev", hold);
const send = (ref: TeamRef, text: string) => deliver(ref, { from: "team-lead", to: "dev", text });

/** What is said until this line comes, and that line. */
async function until(running: Script, wanted: string): Promise<string[]> {
  const said: string[] = [];
  for (;;) {
    const line = await running.line();
    said.push(line);
    if (line === wanted) return said;
  }
}

async function kill(running: Script): Promise<void> {
  running.child.kill("SIGKILL");
  expect((await running.ended()).signal).toBe("SIGKILL");
}

/** The messages in the conversation on disk, one string for each turn. */
function turns(ref: TeamRef): string[] {
  const lines = readFileSync(join(ref.home.root, "teams-sessions", "session-dev.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.flatMap((line) => {
    const { type, message, keys } = JSON.parse(line);
    return type === "user" && keys !== undefined ? [message.content[0].text as string] : [];
  });
}

describe("a receiver that is killed (S21)", () => {
  it("between picking messages up and recording them gets them again, in order", async () => {
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
    await eventually("the mark", () => unreadCount(ref, "dev") === 0);
  });

  it.each([
    ["recorded", "between recording and marking", 1],
    ["marked", "behind the mark", 0],
  ])("with messages %s, %s, does not get them again", async (hold, _where, unread) => {
    const ref = await testTeam(["dev"]);
    await send(ref, "one");
    const first = start(ref, hold);
    await until(first, "holding");
    await kill(first);
    expect(unreadCount(ref, "dev")).toBe(unread);
    const second = start(ref);
    await eventually("the mark", () => unreadCount(ref, "dev") === 0);
    await send(ref, "two");
    expect(await until(second, "turn_ended")).not.toContain("received team-lead: one");
    const seen = turns(ref);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toContain("two");
    expect(seen[1]).not.toContain("one");
    const all = await history(ref, "dev", { all: true });
    expect(all.map(({ text, read }) => [text, read])).toEqual([
      ["one", true],
      ["two", true],
    ]);
  });
});

describe("five hundred messages of four writers, around the changes between working and idle (S22)", () => {
  it("are all handled within a second of the last, none twice and each writer's in order, with no key pressed", async () => {
    const ref = await testTeam(["dev", "w0", "w1", "w2", "w3"]);
    const running = start(ref);
    await until(running, "ready");
    await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
    const writers = ["w0", "w1", "w2", "w3"].map((from) =>
      sendMany(ref.home.root, ref.team, from, "dev", "125"),
    );
    await Promise.all(writers.map((writer) => writer.ended()));
    await eventually("the last", () => unreadCount(ref, "dev") === 0, 1_000);
    await eventually("the state", () => readStatus(ref, "dev")?.state === "idle");
    const seen = turns(ref);
    const texts = seen.flatMap((text) => [...text.matchAll(/teammate_id="(w\d)"[^>]*>\n(.*)\n/g)]);
    expect(texts).toHaveLength(500);
    for (const writer of ["w0", "w1", "w2", "w3"]) {
      const own = texts.filter(([, from]) => from === writer).map(([, , text]) => text);
      expect(own).toEqual(Array.from({ length: 125 }, (_, i) => `${writer} ${i}`));
    }
    // It has been idle in between: this is about the change.
    expect(seen.length).toBeGreaterThan(2);
  });
});
