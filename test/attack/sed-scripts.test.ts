import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readingOf } from "../../src/agent/permissions/commands/readers.ts";
import { shellQuote } from "../../src/text/shell-quote.ts";
import { hasBubblewrap, throwaway } from "../support/attack/throwaway.ts";
import { SEED } from "../support/random/seed.ts";
import { seeded } from "../support/random/seeded-random.ts";

/** Lines that scripts consist of: the last two leave a marker if they are commands, but not if they are text. */
const LINES = [
  ...[
    "a",
    "a\\",
    "a  ",
    "a\\ ",
    "a\\\t",
    "a foo",
    "a foo\\",
    "a\\foo",
    "a \\",
    "i",
    "i\\",
    "i\\foo\\",
    "c",
    "c\\",
  ],
  ...[
    "1i\\",
    "/x/a",
    "/x/a\\",
    "p;a",
    "p;a\\",
    "{a",
    "{a\\",
    "s/a/b/;a\\",
    "foo",
    "foo\\",
    "\\",
    "",
    "# x",
    "p",
    "n",
  ],
  ...[
    "s/x/y",
    "s/x/y\\",
    "s/x/y/",
    "s/x/",
    "s/[/x",
    "]/y/",
    "/y/",
    "y/a/b",
    "/;/y/c/d/",
    "/;/p",
    "{",
    "}",
    "}}",
    "$!{",
  ],
  ...["w marker", "e touch marker"],
];
const SCRIPTS = 400;

test.skipIf(!hasBubblewrap)(
  "random scripts of sed › write nothing and run nothing if they count as reading",
  () => {
    const random = seeded(SEED);
    const pick = (): string => LINES[Math.floor(random() * LINES.length)] as string;
    const scripts = new Set<string>();
    while (scripts.size < SCRIPTS) {
      const script = Array.from({ length: 2 + Math.floor(random() * 4) }, pick).join("\n");
      if (script.includes("marker") && readingOf(["sed", script, "f"]) !== undefined) scripts.add(script);
    }
    const place = throwaway();
    writeFileSync(join(place.work, "f"), "axb;c\nfoo\n\n");
    const all = [...scripts];
    const run = (script: string, at: number): string =>
      `sed ${shellQuote(script)} f\n[ ! -e marker ] || mv marker found-${at}`;
    expect(place.run("bash", `${all.map(run).join("\n")}\n: > ended`)).toBe(true);
    expect(place.exists("ended")).toBe(true);
    const found = readdirSync(place.work).flatMap((name) => /^found-(\d+)$/.exec(name)?.[1] ?? []);
    expect(found.map((at) => all[Number(at)])).toEqual([]);
  },
);
