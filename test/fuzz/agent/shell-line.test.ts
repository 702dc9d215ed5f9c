import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readShellLine } from "../../../src/agent/shell-line.ts";
import { cases } from "../../support/fuzz.ts";

let cwd: string;
let bin: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-line-"));
  bin = mkdtempSync(join(tmpdir(), "teams-bin-"));
  const tell = `#!/bin/sh\nprintf '%s\\0' $(($# + 1)) "\x24{0##*/}" "$@" >> "$LOG"\n`;
  for (const name of NAMES) writeFileSync(join(bin, name), tell, { mode: 0o700 });
});
afterAll(() => {
  for (const directory of [cwd, bin]) rmSync(directory, { recursive: true, force: true });
});

const COUNT = "0-commands";
/** What lines may come to run. */
const NAMES = ["p", "q", "pp", "pq", "qp", "qq", "a b", "a  b", "abc", "-x=1"];

interface Ran {
  readonly commands: string[][];
  readonly files: string[];
}

/** Every command that bash runs for a line, none of which there is, and the files that it made. */
function runByBash(line: string): Ran {
  const script = [
    "set -f; PATH=/nowhere; exec 9>>0-commands",
    // Nothing is on the path, so that whatever is run comes here.
    'command_not_found_handle() { printf "%s\\0" $# "$@" >&9; return $(($# % 2)); }',
  ];
  return ranBy("bash", [...script, line, "wait"], process.env);
}

/** The same by the system's plain shell, which some machines have alone: of commands whose names are in the lines. */
function runBySh(line: string): Ran {
  const env = { PATH: `${bin}:/usr/bin:/bin`, LOG: join(cwd, COUNT) };
  return ranBy("sh", ["set -f", line, "wait"], env);
}

function ranBy(shell: string, script: readonly string[], env: NodeJS.ProcessEnv): Ran {
  writeFileSync(join(cwd, COUNT), "");
  spawnSync(shell, ["-c", script.join("\n")], { cwd, env, stdio: "ignore", timeout: 5_000 });
  const [, ...fields] = `\0${readFileSync(join(cwd, COUNT), "utf8")}`.split("\0");
  const commands: string[][] = [];
  for (let at = 0; at < fields.length - 1; at += Number(fields[at]) + 1) {
    commands.push(fields.slice(at + 1, at + 1 + Number(fields[at])));
  }
  const files = readdirSync(cwd).filter((name) => name !== COUNT);
  for (const name of readdirSync(cwd)) rmSync(join(cwd, name), { force: true });
  return { commands, files };
}

const word = fc.constantFrom(
  "p",
  "q",
  "'a b'",
  '"a  b"',
  "a\\ b",
  "''",
  "\\'",
  "a'b'\"c\"",
  "-x=1",
  "*",
  "\u00a0",
);
const operator = fc.constantFrom(";", "&&", "||", "|", "|&", "&", "\n", "\\\n", " ");
const redirect = fc.constantFrom(
  ">f",
  "> f",
  "2>f",
  ">>'g h'",
  "&>f",
  "&>>'g h'",
  ">&f",
  ">|f",
  ">&2",
  "2>&1",
  "<f",
  "</dev/null",
);
const frame = fc.constantFrom(
  "(",
  ")",
  "{ ",
  "; }",
  "if ",
  "; then ",
  "; else ",
  "; fi",
  "! ",
  "do ",
  "time ",
);
/** What only the shell knows the end of, and halves of everything. */
const noise = fc.constantFrom(
  ..."'\"\\$`;&|<>(){}#!=[]*?\t\r".split(""),
  "$(p)",
  "`p`",
  "$'\\x70'",
  "\x24{p}",
  "<(p)",
  "{p,q}",
  "p=q",
  "<<E\np\nE\n",
  "<<<p",
  "p() { q; }",
  "[[ p ]]",
  "((p))",
  "# p",
  "case p in p) q;; esac",
);
const piece = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 5, arbitrary: operator },
  { weight: 2, arbitrary: redirect },
  { weight: 2, arbitrary: frame },
  { weight: 2, arbitrary: noise },
);
const line = fc
  .array(fc.tuple(piece, fc.constantFrom("", " ")), { minLength: 1, maxLength: 9 })
  .map((pieces) => pieces.flat().join(""));

/** A word that bash expands (`~`) is none of these: what it becomes changes no command. */
test.each([
  ["bash", runByBash, 400],
  ["a plain sh", runBySh, 150],
])(
  "of a line that is clear, %s runs what was read of it, and writes where it says (S71)",
  (_, run, times) => {
    let clear = 0;
    let ran = 0;
    fc.assert(
      fc.property(line, (text) => {
        const { commands, files, unclear } = readShellLine(text);
        fc.pre(unclear === undefined);
        const real = run(text);
        for (const words of real.commands) expect(commands).toContainEqual(words);
        const written = files.flatMap(({ kind, path }) => (kind === "write" ? [path] : []));
        for (const file of real.files) expect(written).toContain(file);
        clear += 1;
        ran += real.commands.length;
      }),
      cases(times),
    );
    expect(clear).toBe(times);
    // Else it would have held nothing against anything.
    expect(ran).toBeGreaterThan(times / 5);
  },
);
