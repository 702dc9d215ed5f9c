import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readShellLine } from "../../../src/agent/shell-line.ts";
import { cases } from "../../support/fuzz.ts";

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "teams-line-"));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const COUNT = "0-commands";

/** Every command that bash runs for a line, none of which there is, and the files that it made. */
function runByBash(line: string): { readonly commands: string[][]; readonly files: string[] } {
  const script = [
    "set -f; PATH=/nowhere; exec 9>>0-commands",
    // Nothing is on the path, so that whatever is run comes here.
    'command_not_found_handle() { printf "%s\\0" $# "$@" >&9; return $(($# % 2)); }',
    line,
    "wait",
  ].join("\n");
  spawnSync("bash", ["-c", script], { cwd, stdio: "ignore", timeout: 5_000 });
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
test("of a line that is clear, bash runs what was read of it, and writes where it says (S71)", () => {
  let clear = 0;
  let ran = 0;
  fc.assert(
    fc.property(line, (text) => {
      const { commands, files, unclear } = readShellLine(text);
      fc.pre(unclear === undefined);
      const real = runByBash(text);
      for (const words of real.commands) expect(commands).toContainEqual(words);
      const written = files.flatMap(({ kind, path }) => (kind === "write" ? [path] : []));
      for (const file of real.files) expect(written).toContain(file);
      clear += 1;
      ran += real.commands.length;
    }),
    cases(400),
  );
  expect(clear).toBe(400);
  // Else it would have held nothing against anything.
  expect(ran).toBeGreaterThan(200);
});
