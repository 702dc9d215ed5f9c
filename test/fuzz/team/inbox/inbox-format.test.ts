import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  messageKey,
  parseEntries,
  readEntry,
  recoverEntries,
} from "../../../../src/team/inbox/inbox-format.ts";
import { markAsRead, unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import { cases, corrupted, json, unknownFields } from "../../../support/random/arbitraries.ts";
import { testTeam } from "../../../support/team/test-team.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const word = fc.string({ maxLength: 20 });
/** The fields that every program writes, and any others. */
const valid = fc
  .tuple(
    unknownFields,
    word,
    fc.string({ maxLength: 40 }),
    word,
    fc.dictionary(fc.constantFrom("read", "color", "summary", "msgV", "msg_id", "type"), json),
  )
  .map(([more, from, text, timestamp, optional]) => ({ ...more, ...optional, from, text, timestamp }));
const entries = fc.array(fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: json }), {
  maxLength: 5,
});
/** Objects only: a cut number looks like a whole one. */
const objects = fc.array(fc.oneof(valid, unknownFields), { maxLength: 5 });
const formatted = fc
  .tuple(entries, fc.constantFrom(undefined, 2))
  .map(([all, space]) => JSON.stringify(all, undefined, space));

const isMessage = (entry: unknown): boolean =>
  (["from", "text", "timestamp"] as const).every(
    (field) => typeof (entry as Record<string, unknown> | null)?.[field] === "string",
  );

test("readEntry accepts exactly the entries with the required fields, and keeps all other fields (S24)", () => {
  fc.assert(
    fc.property(fc.oneof(valid, json), (entry) => {
      const message = readEntry(entry);
      expect(message !== undefined).toBe(isMessage(entry));
      if (message === undefined) return;
      const { from, text, timestamp, ...more } = entry as Record<string, unknown>;
      expect(message).toMatchObject({ from, text, timestamp });
      expect(typeof message.read).toBe("boolean");
      for (const [key, value] of Object.entries(more)) {
        if (key.startsWith("x-")) expect(message[key]).toEqual(value);
      }
      expect(messageKey(message)).not.toBe("");
    }),
    cases(25_000),
  );
});

test("recoverEntries keeps every complete entry of an array that is cut anywhere (S24)", () => {
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2), fc.nat(), (all, space, at) => {
      const text = JSON.stringify(all, undefined, space);
      const cut = text.slice(0, at % (text.length + 1));
      const whole = all.filter((_, i) => {
        const until = JSON.stringify(all.slice(0, i + 1), undefined, space).replace(/\n?\]$/, "");
        return cut.startsWith(until);
      });
      expect(recoverEntries(cut)).toEqual(whole);
    }),
    cases(15_000),
  );
});

test("recoverEntries never throws for a damaged array (S24)", () => {
  fc.assert(
    fc.property(corrupted(formatted), (text) => {
      for (const entry of parseEntries(text) ?? recoverEntries(text)) readEntry(entry);
    }),
    cases(15_000),
  );
});

test("a damaged inbox accepts a message, keeps its valid entries and quarantines the original (S24)", async () => {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  await fc.assert(
    fc.asyncProperty(fc.oneof(formatted, corrupted(formatted)), async (text) => {
      writeFileSync(inbox, text);
      const before = (parseEntries(text) ?? recoverEntries(text)).flatMap((entry) => readEntry(entry) ?? []);
      await sendMessage(ref, { from: "b", to: "a", text: "new" });
      const found = await unreadMessages(ref, "a");
      expect(found.map(({ message }) => message.text)).toEqual([
        ...before.filter(({ read }) => !read).map((message) => message.text),
        "new",
      ]);
      await markAsRead(
        ref,
        "a",
        found.map(({ key }) => key),
      );
      expect(await unreadMessages(ref, "a")).toEqual([]);
      if (parseEntries(text) === undefined && text.trim() !== "")
        expect(originals(ref.paths.inboxes)).toContain(text);
    }),
    cases(150),
  );
});

function originals(inboxes: string): string[] {
  return readdirSync(inboxes)
    .filter((name) => name.includes(".broken-"))
    .map((name) => readFileSync(`${inboxes}/${name}`, "utf8"));
}

test("an inbox that is cut within a character is quarantined byte for byte (S24)", async () => {
  const ref = await testTeam(["a"]);
  const bytes = Buffer.from(JSON.stringify([{ from: "b", text: "é😀", timestamp: "t" }]));
  const cuts = [...bytes.keys()].filter((at) => (bytes[at] ?? 0) >= 0x80);
  for (const at of cuts) {
    writeFileSync(ref.paths.inbox("a"), bytes.subarray(0, at));
    await sendMessage(ref, { from: "b", to: "a", text: "new" });
  }
  const kept = readdirSync(ref.paths.inboxes)
    .filter((name) => name.includes(".broken-"))
    .map((name) => readFileSync(`${ref.paths.inboxes}/${name}`));
  expect(kept.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual(cuts);
  for (const one of kept) expect(one.equals(bytes.subarray(0, one.length))).toBe(true);
});

test.each([100, 100_000])(
  "an inbox entry nested %i levels deep blocks no other entry (S24)",
  async (depth) => {
    const ref = await testTeam(["a"]);
    const entry = { from: "b", text: "one", timestamp: "t" };
    const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const [one, two] = ["one", "two"].map((text) => JSON.stringify({ ...entry, text }));
    const nested = `${JSON.stringify({ ...entry, text: "deep" }).slice(0, -1)},"x":${deep}}`;
    const text = `[${one},${deep},${nested},${two}]`;
    writeFileSync(ref.paths.inbox("a"), text);
    await sendMessage(ref, { from: "b", to: "a", text: "new" });
    const found = await unreadMessages(ref, "a");
    const texts = found.map(({ message }) => message.text);
    expect(texts.filter((said) => said !== "deep")).toEqual(["one", "two", "new"]);
    await markAsRead(
      ref,
      "a",
      found.map(({ key }) => key),
    );
    expect(await unreadMessages(ref, "a")).toEqual([]);
    if (!texts.includes("deep")) expect(originals(ref.paths.inboxes)).toContain(text);
  },
);
