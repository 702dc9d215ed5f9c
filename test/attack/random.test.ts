import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { READS_ALIKE } from "../../src/agent/tools/bash.ts";
import { REQUIRED_LINES, recordCheckedParser } from "../support/attack/checked-parser.ts";
import { decideLine } from "../support/attack/corpus.ts";
import { changedOutside, hasBubblewrap, hasShell, throwaway } from "../support/attack/throwaway.ts";
import { SEED } from "../support/random/seed.ts";
import { seeded } from "../support/random/seeded-random.ts";

/** The number of lines, which the installed shells share equally. */
const LINES = Number(process.env.ATTACK_LINES ?? 40_000);
/** Minimum share of the lines that rules allow, so that they run. */
const MIN_SHARE = 1 / 200;
/** Lines that run in one throw-away directory. */
const BATCH = 100;

const PIECES = String.raw`
  $HOME "$HOME" ${"$"}{HOME} $? "$?" p q p q p q evil evil p\ evil 'evil' "evil" ev''il =evil =p ~ ~+ ~evil $X ${"$"}{X} "$X" $0 $@ $* $(evil) "$(evil)" ${"`"}evil${"`"}
  echo cat ls head sort tee env command exec eval sh builtin noglob time test [ ] true false cd printf export
  a b a* * ? [a] {a,b} {evil,a} -x -o -exec {} \; + -c 'evil' -e --output=b --output ../outside /tmp/x /dev/null outside link link l*
  > >> < <> >| >! >& &> 2> 2>&1 >&2 >../outside >$X >a <a <(evil) >(evil) =(evil) <<<evil <<E
  ; & && || | |& ( ) { } ! if then else fi for in do done while until case esac f() function coproc [[ ]] (( ))
  # #evil \ \\ ' " ${"`"} $ ${"$"}{ $( ) \x72 $'evil' $'\x65vil' $"evil" \evil \e X=evil PATH=. A=b **/ (e:evil:) <-> a^b a~b
`
  .trim()
  .split(/\s+/);
const SEPARATORS = [" ", " ", " ", " ", "", "\n", "\t", " ; ", " && ", " | "];
const RULES = { allow: ["Bash(p:*)", "Bash(q:*)", "Bash(tee a)"], ask: [], deny: [] };

/** The allowed programs do nothing; the other program leaves a marker. */
const PROGRAMS = { p: ":", q: ":", evil: 'echo "$0" >> "$HOME/ran"' };

const SHELLS = ["bash", "zsh", "dash", "fish"];
const PRESENT = SHELLS.filter(hasShell);
const passed = new Set<string>();

for (const shell of SHELLS) {
  test.skipIf(!hasBubblewrap || !PRESENT.includes(shell))(
    `random lines › run no program without a rule, and change nothing outside, in ${shell}`,
    () => {
      const random = seeded(SEED);
      const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
      let allowed: string[] = [];
      let runs = 0;
      const runBatch = (): void => {
        runs += allowed.length;
        check(shell, allowed);
        allowed = [];
      };
      const count = LINES / PRESENT.length;
      for (let i = 0; i < count; i += 1) {
        const length = 1 + Math.floor(random() * 6);
        const line = Array.from({ length }, () => `${pick(PIECES)}${pick(SEPARATORS)}`).join("");
        if (isAllowed(line)) allowed.push(line);
        if (allowed.length === BATCH) runBatch();
      }
      runBatch();
      // With fewer runs, the test would prove nothing about allowed lines.
      expect(runs).toBeGreaterThanOrEqual(Math.floor(count * MIN_SHARE));
      passed.add(shell);
    },
    3_600_000,
  );
}

afterAll(() => {
  if (LINES >= REQUIRED_LINES && SHELLS.every((shell) => passed.has(shell))) recordCheckedParser(LINES);
});

/** `link` in the lines' directory leads to the file `outside` next to that directory. */
function isAllowed(line: string): boolean {
  const resolve = (path: string): string =>
    path.replace(/^\/srv\/ada\/project\/link(?=\/|$)/, "/srv/ada/outside");
  return decideLine(line, RULES, "/srv/ada/project", "default", resolve).behavior === "allow";
}

/** Runs lines that are allowed; if one breaks out, finds it by halving. */
function check(shell: string, lines: readonly string[]): void {
  if (lines.length === 0 || isHarmless(shell, lines)) return;
  const half = Math.floor(lines.length / 2);
  if (half > 0) {
    check(shell, lines.slice(0, half));
    check(shell, lines.slice(half));
  }
  expect.fail(
    `FUZZ_SEED=${SEED}: ${shell} ran another program, or changed a file outside: ${JSON.stringify(lines)}`,
  );
}

function isHarmless(shell: string, lines: readonly string[]): boolean {
  const place = throwaway(PROGRAMS);
  writeFileSync(join(place.work, "a"), "");
  symlinkSync("../outside", join(place.work, "link"));
  for (const [i, line] of lines.entries()) writeFileSync(join(place.bin, `line-${i}`), line);
  // Each line gets a separate shell, and one second: a loop may not end.
  const options = shell === "zsh" || shell === "bash" ? `${READS_ALIKE[shell]}; ` : "";
  const command = shell === "fish" ? "source $argv[1]" : `${options}eval "$(cat "$1")"`;
  const words = shell === "fish" ? `-c '${command}'` : `-c '${command}' ${shell}`;
  const each = `perl -e 'alarm 1; exec @ARGV' ${shell} ${words} "${place.bin}/line-$i" </dev/null`;
  const isEnded = place.run("sh", `i=0; while [ $i -lt ${lines.length} ]; do ${each}; i=$((i + 1)); done`);
  expect(isEnded).toBe(true);
  // The marker of `evil` is outside, too. The second check: no line has replaced `evil` itself.
  return changedOutside(place).length === 0 && readFileSync(join(place.bin, "evil"), "utf8").includes("ran");
}
