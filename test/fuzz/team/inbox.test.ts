import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { messageKey, parseEntries, readEntry, salvageEntries } from "../../../src/team/inbox/inbox-format.ts";
import { acknowledge, pending } from "../../../src/team/mailbox/receive.ts";
import { deliver } from "../../../src/team/mailbox/send.ts";
import { cases, json, spoilt, unknownFields } from "../../support/random/arbitraries.ts";
import { testTeam } from "../../support/team/test-team.ts";

// Many cases, on a machine that has much else to do.
vi.setConfig({ testTimeout: 180_000 });

const word = fc.string({ maxLength: 20 });
/** What every peer writes, with whatever beside it. */
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
/** With a last byte that ends them: of a number that was cut nobody can say what it was. */
const objects = fc.array(fc.oneof(valid, unknownFields), { maxLength: 5 });
const formatted = fc
  .tuple(entries, fc.constantFrom(undefined, 2))
  .map(([all, space]) => JSON.stringify(all, undefined, space));

const isMessage = (entry: unknown): boolean =>
  (["from", "text", "timestamp"] as const).every(
    (field) => typeof (entry as Record<string, unknown> | null)?.[field] === "string",
  );

test("an entry is read if it has what every peer writes, whatever else it holds, and with all of that (S24)", () => {
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

test("an array that was cut keeps each entry whose last byte is there (S24)", () => {
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2), fc.nat(), (all, space, at) => {
      const text = JSON.stringify(all, undefined, space);
      const cut = text.slice(0, at % (text.length + 1));
      const whole = all.filter((_, i) => {
        const until = JSON.stringify(all.slice(0, i + 1), undefined, space).replace(/\n?\]$/, "");
        return cut.startsWith(until);
      });
      expect(salvageEntries(cut)).toEqual(whole);
    }),
    cases(15_000),
  );
});

test("a spoilt array gives what comes before the flaw, and never an exception (S24)", () => {
  fc.assert(
    fc.property(spoilt(formatted), (text) => {
      for (const entry of parseEntries(text) ?? salvageEntries(text)) readEntry(entry);
    }),
    cases(15_000),
  );
});

test("a spoilt inbox takes a message: what was valid is there, what was not is kept beside it (S24)", async () => {
  const ref = await testTeam(["a"]);
  const inbox = ref.paths.inbox("a");
  await fc.assert(
    fc.asyncProperty(fc.oneof(formatted, spoilt(formatted)), async (text) => {
      writeFileSync(inbox, text);
      const before = (parseEntries(text) ?? salvageEntries(text)).flatMap((entry) => readEntry(entry) ?? []);
      await deliver(ref, { from: "b", to: "a", text: "new" });
      const found = await pending(ref, "a");
      expect(found.map(({ message }) => message.text)).toEqual([
        ...before.filter(({ read }) => !read).map((message) => message.text),
        "new",
      ]);
      await acknowledge(
        ref,
        "a",
        found.map(({ key }) => key),
      );
      expect(await pending(ref, "a")).toEqual([]);
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

test("an inbox that was cut inside of a character is kept as it was, byte for byte (S24)", async () => {
  const ref = await testTeam(["a"]);
  const bytes = Buffer.from(JSON.stringify([{ from: "b", text: "é😀", timestamp: "t" }]));
  const cuts = [...bytes.keys()].filter((at) => (bytes[at] ?? 0) >= 0x80);
  for (const at of cuts) {
    writeFileSync(ref.paths.inbox("a"), bytes.subarray(0, at));
    await deliver(ref, { from: "b", to: "a", text: "new" });
  }
  const kept = readdirSync(ref.paths.inboxes)
    .filter((name) => name.includes(".broken-"))
    .map((name) => readFileSync(`${ref.paths.inboxes}/${name}`));
  expect(kept.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual(cuts);
  for (const one of kept) expect(one.equals(bytes.subarray(0, one.length))).toBe(true);
});

test.each([100, 100_000])("an entry that is nested %i deep blocks no other (S24)", async (depth) => {
  const ref = await testTeam(["a"]);
  const entry = { from: "b", text: "one", timestamp: "t" };
  const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const [one, two] = ["one", "two"].map((text) => JSON.stringify({ ...entry, text }));
  const nested = `${JSON.stringify({ ...entry, text: "deep" }).slice(0, -1)},"x":${deep}}`;
  const text = `[${one},${deep},${nested},${two}]`;
  writeFileSync(ref.paths.inbox("a"), text);
  await deliver(ref, { from: "b", to: "a", text: "new" });
  const found = await pending(ref, "a");
  const texts = found.map(({ message }) => message.text);
  expect(texts.filter((said) => said !== "deep")).toEqual(["one", "two", "new"]);
  await acknowledge(
    ref,
    "a",
    found.map(({ key }) => key),
  );
  expect(await pending(ref, "a")).toEqual([]);
  if (!texts.includes("deep")) expect(originals(ref.paths.inboxes)).toContain(text);
});
