import { existsSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileSize, listDir } from "../../../../src/os/files/fs.ts";
import { inQueue } from "../../../../src/store/lock.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { killAtEveryStep } from "../../../support/kill/kill-at-every-step.ts";
import { type Script, script } from "../../../support/processes/script-process.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

const sendMany = script("team/send-many");
const killedSender = script("team/killed-sender");

/** Starts one sender for each name while the queue of a's inbox is held. @returns the senders, once all have posted their messages */
async function waitingSenders(ref: TeamRef, names: readonly string[], whenPosted: (all: Script[]) => void) {
  const path = ref.paths.inbox("a");
  return inQueue(path, async () => {
    // Start the senders in this turn: a sender that starts earlier may take the queue itself, and then never waits.
    const senders = names.map((from) => sendMany(ref.home.root, ref.team, from, "a", "1"));
    const posted = () => listDir(`${path}.waiting`).map((name) => fileSize(join(`${path}.waiting`, name)));
    // A posted message is written with one call.
    await eventually("all senders to wait", () => posted().filter(Boolean).length === names.length);
    whenPosted(senders);
    return senders;
  });
}

const textsIn = (ref: TeamRef): string[] =>
  JSON.parse(readFileSync(ref.paths.inbox("a"), "utf8")).map(({ text }: { text: string }) => text);

test("waiting senders › are written by the first of them in one replacement, and each is answered", async () => {
  const ref = await testTeam(["a"]);
  writeFileSync(ref.paths.inbox("a"), "[]");
  let replaced = 0;
  const watcher = watch(ref.paths.inboxes, (_, name) => {
    if (name === "a.json") replaced += 1;
  });
  onTestFinished(() => watcher.close());
  const names = ["b", "c", "d", "e", "f"];
  const senders = await waitingSenders(ref, names, () => undefined);
  for (const sender of senders) expect(await sender.ended()).toMatchObject({ code: 0, stderr: "" });
  expect(textsIn(ref).toSorted()).toEqual(names.map((from) => `${from} 0`));
  await eventually("the watcher to report the replacement", () => replaced > 0);
  expect(replaced).toBe(1);
  expect((await history(ref, "a", { all: true })).map(({ state }) => state)).toEqual(Array(5).fill("queued"));
  expect(listDir(ref.paths.inboxes)).toEqual(["a.json"]);
});

test("waiting senders › lose and double no message when the process that writes for them is killed at any step (S26)", async () => {
  const steps = await killAtEveryStep(async (n) => {
    const ref = await testTeam(["a"]);
    writeFileSync(ref.paths.inbox("a"), "[]");
    const stop = (all: Script[]): void => {
      for (const { child } of all) child.kill("SIGSTOP");
    };
    const senders = await waitingSenders(ref, ["b", "c"], stop);
    const check = async (): Promise<void> => {
      // A foreign recipient removes what it has read: the inbox alone does not show what was delivered.
      const taken = textsIn(ref);
      writeFileSync(ref.paths.inbox("a"), "[]");
      for (const { child } of senders) child.kill("SIGCONT");
      for (const sender of senders) expect(await sender.ended()).toMatchObject({ code: 0, stderr: "" });
      const all = [...taken, ...textsIn(ref)].filter((text) => text !== "killed 0");
      expect(all.toSorted(), `killed at ${n}`).toEqual(["b 0", "c 0"]);
      await sendMessage(ref, { from: "b", to: "a", text: "next" });
      expect(existsSync(`${ref.paths.inbox("a")}.waiting`), `killed at ${n}`).toBe(false);
    };
    return { child: killedSender(ref.home.root, ref.team, "killed", "a", String(n)), check };
  });
  // The steps include the record of the group, its rename, and one acknowledgement for each sender.
  expect(steps).toBeGreaterThan(20);
});
