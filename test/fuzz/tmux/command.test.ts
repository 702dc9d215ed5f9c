import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeFormat, type TmuxCommand } from "../../../src/tmux/command.ts";
import { cases } from "../../support/random/arbitraries.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/** Text that a shell, tmux's command language, its formats or its styles would interpret. */
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
  // Only valid UTF-8 without NUL, which no argument can contain.
  .map((pieces) => Buffer.from(pieces.join("").replaceAll("\0", "")).toString("utf8"));
const words = (count: number): fc.Arbitrary<string[]> =>
  fc.array(word, { minLength: count, maxLength: count });

/** Writes its arguments, then the variables V0, V1 …, each followed by a NUL. */
const DUMP =
  `for a do printf '%s\\0' "$a"; done >"$OUT"; i=0; while [ $i -lt "$COUNT" ]; do ` +
  `eval "printf '%s\\\\0' \\"\\$V$i\\""; i=$((i+1)); done >>"$OUT"; mv "$OUT" "$OUT.done"`;

/** A tmux command that opens a window and dumps these arguments and environment values. */
function dumping(out: string, args: readonly string[], values: readonly string[]): TmuxCommand {
  return [
    ...["new-window", "-d", "-t", "=work:", "-e", `OUT=${out}`, "-e", `COUNT=${values.length}`],
    ...values.flatMap((value, i) => ["-e", `V${i}=${value}`]),
    ...["--", "/bin/sh", "-c", DUMP, "sh", ...args],
  ];
}

async function dumped(out: string): Promise<string[]> {
  await eventually("the dumped values", () => existsSync(`${out}.done`));
  return readFileSync(`${out}.done`, "utf8").split("\0").slice(0, -1);
}

/** Asserts that no text was executed: the words would create this file wherever a shell ran them. */
function expectNothingRan(t: PrivateTmux): void {
  expect([t.home, process.cwd()].filter((dir) => existsSync(join(dir, "OWNED")))).toEqual([]);
}

describe("10,000 random words reach a tmux server byte for byte, and none is executed,", () => {
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
    // A call carries about 16 KB.
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
      // Printed one per line, so without line breaks.
      const clean = values.map((value) => value.replace(/[\x00-\x1f\x7f]/g, ""));
      const set = clean.map((value, i): TmuxCommand => ["set-option", "-p", "-t", pane, `@v${i}`, value]);
      const print = clean.map((_, i): TmuxCommand => ["display-message", "-p", "-t", pane, `<#{@v${i}}>`]);
      const { lines, errors } = await t.server.batch([...set, ...print]);
      expect(errors).toEqual([]);
      expect(lines).toEqual(clean.map((value) => `<${value}>`));
    });
    await fc.assert(property, { ...cases(4), endOnFailure: true });
    expectNothingRan(t);
  });

  it("as very long words", async () => {
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

describe("random names reach a tmux server as far as tmux accepts them,", () => {
  /** A name without backslashes, control characters and characters of no width, which tmux escapes. */
  const name = fc
    .array(fc.constantFrom(...ODD), { maxLength: 10 })
    .map((pieces) => `x${pieces.join("").replace(/[\x00-\x1f\x7f-\x9f\\\u2028\ud800]/g, "")}`);
  const names = fc.array(name, { minLength: 250, maxLength: 250 });
  /** Removes the backslash that tmux puts before a variable, and the doubled hash before a bracket. */
  const bare = (text: string): string => text.replaceAll("\\", "").replaceAll(/#+\[/g, "#[");

  it.each([
    ["windows", "rename-window", "#{window_name}", (text: string) => text],
    // tmux replaces the two target separators in a session name with underscores.
    ["sessions", "rename-session", "#{session_name}", (text: string) => text.replace(/[:.]/g, "_")],
  ])("as names of %s", async (_, verb, format, kept) => {
    const t = privateTmux();
    const { pane, session } = t.session();
    const target = verb === "rename-session" ? session : pane;
    const property = fc.asyncProperty(names, async (wanted) => {
      const commands = wanted.flatMap((text): TmuxCommand[] => [
        [verb, "-t", target, escapeFormat(text)],
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
