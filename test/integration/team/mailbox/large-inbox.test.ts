import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatJson } from "../../../../src/os/files/atomic-write.ts";
import { history } from "../../../../src/team/mailbox/history.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import { countBytes } from "../../../support/files/count-file-bytes.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

/** Read messages of another program's member, which keeps them all. */
const READ = Array.from({ length: 2_000 }, (_, i) => ({
  from: "peer",
  text: `a text with “quotes”, a bracket } and a line end\n  }\n] ${i}`,
  timestamp: new Date(i).toISOString(),
  read: true,
}));

async function teamWith(inbox: string): Promise<TeamRef> {
  const ref = await testTeam(["foreign"]);
  writeFileSync(ref.paths.inbox("foreign"), inbox, { mode: 0o644 });
  // A change within one tick could leave the same time: then teams compares the whole content.
  await eventually("the file to be older than a tick of the clock", () => {
    return Date.now() - statSync(ref.paths.inbox("foreign")).ctimeMs > 150;
  });
  return ref;
}

const send = (ref: TeamRef, text: string) => sendMessage(ref, { from: "team-lead", to: "foreign", text });
const entriesOf = (ref: TeamRef) => JSON.parse(readFileSync(ref.paths.inbox("foreign"), "utf8"));

test("a large inbox of another program's member › gets a message without being read (S23)", async () => {
  const inbox = formatJson(READ);
  const ref = await teamWith(inbox);
  const { read, written } = await countBytes(() => send(ref, "new “one”"));
  expect(read).toBeLessThan(inbox.length / 2);
  expect(written).toBeLessThan(inbox.length / 10);
  expect(entriesOf(ref)).toEqual([...READ, expect.objectContaining({ text: "new “one”", read: false })]);
  expect(readFileSync(ref.paths.inbox("foreign"), "utf8")).toBe(formatJson(entriesOf(ref)));
  expect(statSync(ref.paths.inbox("foreign")).mode & 0o777).toBe(0o600);
  expect((await history(ref, "foreign", { unread: true })).map(({ text }) => text)).toEqual(["new “one”"]);
  expect(readdirSync(ref.paths.inboxes)).toEqual(["foreign.json"]);
  // Send again at once, within a tick of the last change.
  await send(ref, "next");
  expect(entriesOf(ref).slice(-2)).toMatchObject([{ text: "new “one”" }, { text: "next" }]);
});

test.each([
  ["has another format", JSON.stringify(READ), READ],
  ["ends with a blank line", `${formatJson(READ)}\n`, READ],
  ["was truncated", formatJson(READ).slice(0, -40), READ.slice(0, -1)],
  ["ends with an entry that is not a message", formatJson([...READ, { odd: 1 }]), [...READ, { odd: 1 }]],
  [
    "ends with an entry of 100 KB",
    formatJson([...READ, { ...READ[0], text: "x".repeat(100_000) }]),
    [...READ, { ...READ[0], text: "x".repeat(100_000) }],
  ],
])("a large inbox of another program's member › is read completely if it %s", async (_what, inbox, kept) => {
  const ref = await teamWith(inbox);
  await send(ref, "new");
  expect(entriesOf(ref)).toEqual([...kept, expect.objectContaining({ text: "new" })]);
});
