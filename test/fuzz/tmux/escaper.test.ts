import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/tmux/command.ts";
import { literal } from "../../../src/tmux/format.ts";
import { cases } from "../../support/random/arbitraries.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/** What a shell, tmux's own language, its formats or its styles would take for their own. */
const ODD = [
  ..."'\"\\$`;#{}()[]~%@=&|<>*?!-+:,.^/ \t\n\r",
  ...["\x01", "\x07", "\x1b", "\x1b[201~", "\x7f", "\x80", "\x9b", "\u2028", "\ufeff", "\ufffd", "\ud800"],
  ...["é", "検", "😀", "👩‍👩‍👧", "e\u0301", "\u202e", "a", "Z", "0"],
  ...[
    "#(touch OWNED)",
    "$(touch OWNED)",
    "`touch OWNED`",
    "; touch OWNED ;",
    "' touch OWNED '",
    "\n touch OWNED \n",
  ],
  ...[
    "#{pid}",
    "#[fg=red]",
    "##",
    "%%",
    "%H",
    "~root",
    "$HOME",
    "\\;",
    "\\n",
    "\\101",
    "\\u0041",
    "%if 1",
    "%hidden A=b",
  ],
  ...["\nrun-shell 'touch OWNED'\n", "} { run-shell 'touch OWNED'", "\"; run-shell 'touch OWNED'; \""],
];

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ODD) },
  fc.string({ unit: "binary", maxLength: 6 }),
);
const word = fc
  .array(piece, { maxLength: 10 })
  // Bytes are what arrives: half a surrogate pair is none, and a NUL no argument can hold.
  .map((pieces) => Buffer.from(pieces.join("").replaceAll("\0", "")).toString("utf8"));
const words = (count: number): fc.Arbitrary<string[]> =>
  fc.array(word, { minLength: count, maxLength: count });

/** Writes its arguments, then the variables V0, V1 …, each with a NUL behind it. */
const DUMP =
  `for a do printf '%s\\0' "$a"; done >"$OUT"; i=0; while [ $i -lt "$COUNT" ]; do ` +
  `eval "printf '%s\\\\0' \\"\\$V$i\\""; i=$((i+1)); done >>"$OUT"; mv "$OUT" "$OUT.done"`;

/** A window that dumps these arguments and values of its environment. */
function dumping(out: string, args: readonly string[], values: readonly string[]): Command {
  return [
    ...["new-window", "-d", "-t", "=work:", "-e", `OUT=${out}`, "-e", `COUNT=${values.length}`],
    ...values.flatMap((value, i) => ["-e", `V${i}=${value}`]),
    ...["--", "/bin/sh", "-c", DUMP, "sh", ...args],
  ];
}

async function dumped(out: string): Promise<string[]> {
  await eventually("what arrived", () => existsSync(`${out}.done`), 30_000);
  return readFileSync(`${out}.done`, "utf8").split("\0").slice(0, -1);
}

/** Nothing that stood in a word was run: the words would make this file, wherever a shell of theirs stood. */
function expectNothingRan(t: PrivateTmux): void {
  expect([t.home, process.cwd()].filter((dir) => existsSync(join(dir, "OWNED")))).toEqual([]);
}

describe("10,000 fuzzed words reach a real server byte for byte, and none of it is executed", () => {
  it("as arguments and environment values of a batch", async () => {
    const t = privateTmux();
    t.session();
    let n = 0;
    const property = fc.asyncProperty(words(1500), words(1500), async (args, values) => {
      const out = join(t.home, `out-${n++}`);
      expect((await t.server.batch([dumping(out, args, values)])).errors).toEqual([]);
      expect(await dumped(out)).toEqual([...args, ...values]);
    });
    await fc.assert(property, { ...cases(2), endOnFailure: true });
    expectNothingRan(t);
  });

  it("as arguments and environment values of a call", async () => {
    const t = privateTmux();
    t.session();
    let n = 0;
    // A call carries some 16 KB.
    const property = fc.asyncProperty(words(50), words(50), async (args, values) => {
      const out = join(t.home, `out-${n++}`);
      await t.server.call(dumping(out, args, values));
      expect(await dumped(out)).toEqual([...args, ...values]);
    });
    await fc.assert(property, { ...cases(20), endOnFailure: true });
    expectNothingRan(t);
  });

  it("as values of user options", async () => {
    const t = privateTmux();
    const { pane } = t.session();
    const property = fc.asyncProperty(words(500), async (values) => {
      // Printed a line each, so without what would part a line.
      const clean = values.map((value) => value.replace(/[\x00-\x1f\x7f]/g, ""));
      const set = clean.map((value, i): Command => ["set-option", "-p", "-t", pane, `@v${i}`, value]);
      const print = clean.map((_, i): Command => ["display-message", "-p", "-t", pane, `<#{@v${i}}>`]);
      const { lines, errors } = await t.server.batch([...set, ...print]);
      expect(errors).toEqual([]);
      expect(lines).toEqual(clean.map((value) => `<${value}>`));
    });
    await fc.assert(property, { ...cases(4), endOnFailure: true });
    expectNothingRan(t);
  });

  it("as very long ones", async () => {
    const t = privateTmux();
    t.session();
    const out = join(t.home, "out");
    const long = fc.sample(fc.array(word, { minLength: 2000, maxLength: 2000 }), { numRuns: 3, seed: 5 });
    const values = long.map((parts) => Buffer.from(parts.join("")).subarray(0, 60_000).toString("utf8"));
    expect((await t.server.batch([dumping(out, values, values)])).errors).toEqual([]);
    expect(await dumped(out)).toEqual([...values, ...values]);
    expectNothingRan(t);
  });
});

describe("Names reach a real server as they are meant, as far as tmux takes them", () => {
  /** tmux writes a backslash, a control character and what has no width as an escape of its own into a name. */
  const name = fc
    .array(fc.constantFrom(...ODD), { maxLength: 10 })
    .map((pieces) => `x${pieces.join("").replace(/[\x00-\x1f\x7f-\x9f\\\u2028\ud800]/g, "")}`);
  const names = fc.array(name, { minLength: 250, maxLength: 250 });
  /** It puts a backslash before what a shell would take for a variable; a hash before a bracket stays doubled, as styles read it. */
  const bare = (text: string): string => text.replaceAll("\\", "").replaceAll(/#+\[/g, "#[");

  it.each([
    ["windows", "rename-window", "#{window_name}", (text: string) => text],
    // Of a session the two that part a target become underscores.
    ["sessions", "rename-session", "#{session_name}", (text: string) => text.replace(/[:.]/g, "_")],
  ])("of %s", async (_, verb, format, kept) => {
    const t = privateTmux();
    const { pane, session } = t.session();
    const target = verb === "rename-session" ? session : pane;
    const property = fc.asyncProperty(names, async (wanted) => {
      const commands = wanted.flatMap((text): Command[] => [
        [verb, "-t", target, literal(text)],
        ["display-message", "-p", "-t", pane, format],
      ]);
      const { lines, errors } = await t.server.batch(commands);
      expect(errors).toEqual([]);
      expect(lines.map(bare)).toEqual(wanted.map((text) => bare(kept(text))));
    });
    await fc.assert(property, { ...cases(4), endOnFailure: true });
    expectNothingRan(t);
  });
});
