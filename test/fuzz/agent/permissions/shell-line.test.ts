import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import { cases } from "../../../support/random/arbitraries.ts";
import { IS_FULL } from "../../../support/random/extent.ts";

let base: string;
let bin: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "teams-line-"));
  bin = join(base, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\nprintf '%s\\0' $(($# + 1)) "\x24{0##*/}" "$@" >> "$LOG"\n`;
  for (const name of NAMES) writeFileSync(join(bin, name), script, { mode: 0o700 });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Names of the commands that lines may run. */
const NAMES = ["p", "q", "pp", "pq", "qp", "qq", "a b", "a  b", "abc", "-x=1"];

interface Ran {
  readonly commands: string[][];
  readonly files: string[];
}

/** Returns every command that bash runs for a line, although no command exists, and the files that the line creates. */
function runByBash(line: string): Ran {
  const script = [
    "set -f; PATH=/nowhere; exec 9>>$LOG",
    // PATH is empty, so that bash passes every command to this function.
    'command_not_found_handle() { printf "%s\\0" $# "$@" >&9; return $(($# % 2)); }',
  ];
  return ranBy("bash", [...script, line, "wait"], process.env);
}

/** Like `runByBash` for /bin/sh, the only shell on some machines; its PATH has a script for each command name. */
function runBySh(line: string): Ran {
  return ranBy("/bin/sh", ["set -f", line, "wait"], { PATH: bin });
}

let count = 0;

/** Runs each line in its own directory, since background commands of the previous line may still write. */
function ranBy(shell: string, script: readonly string[], env: NodeJS.ProcessEnv): Ran {
  count += 1;
  const cwd = join(base, String(count));
  const log = join(base, `${count}.log`);
  mkdirSync(cwd);
  writeFileSync(log, "");
  const options = { cwd, env: { ...env, LOG: log }, stdio: "ignore", timeout: 180_000 } as const;
  spawnSync(shell, ["-c", script.join("\n")], options);
  const [, ...fields] = `\0${readFileSync(log, "utf8")}`.split("\0");
  const commands: string[][] = [];
  for (let at = 0; at < fields.length - 1; at += Number(fields[at]) + 1) {
    commands.push(fields.slice(at + 1, at + 1 + Number(fields[at])));
  }
  return { commands, files: readdirSync(cwd) };
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
  "p#q",
  "{}",
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
/** Syntax that only the shell can interpret, and unpaired delimiters. */
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
  "# p'\n",
  "#p \\\n",
  "case p in p) q;; esac",
);
const piece = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 5, arbitrary: operator },
  { weight: 3, arbitrary: redirect },
  { weight: 2, arbitrary: frame },
  { weight: 2, arbitrary: noise },
);
const line = fc
  .array(fc.tuple(piece, fc.constantFrom("", " ")), { minLength: 1, maxLength: 9 })
  .map((pieces) => pieces.flat().join(""));

/** Words with a tilde are left out: bash expands them, which changes no command. */
test.each([
  ["bash", runByBash, IS_FULL ? 400 : 100],
  ["a plain sh", runBySh, IS_FULL ? 300 : 75],
])(
  "readShellLine lists every command that %s runs for a clear line, and every file it writes (S71)",
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
      { ...cases(times), numRuns: times },
    );
    expect(clear).toBe(times);
    // Enough commands were compared.
    expect(ran).toBeGreaterThan(times / 5);
  },
);
