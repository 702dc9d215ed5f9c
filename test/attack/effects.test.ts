import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CorpusLine, decideLine, readCorpus } from "../support/attack/corpus.ts";
import { hasShell, isUntouched, throwaway } from "../support/attack/throwaway.ts";

const CORPUS = readCorpus();
const SHELLS = ["bash", "zsh", "dash", "fish"];

/** Returns every nth line that removes the victim, in a shell. */
function sample(shell: string, nth: number): readonly CorpusLine[] {
  const all = CORPUS.filter((one) => one.shell === shell && one.effect === "removes victim");
  return all.filter((_, i) => i % nth === 0);
}

/** Programs that would leave the sandbox, wait for a person, or are missing on some machines. */
const STUBS = {
  sudo: 'exec "$@"',
  man: ":",
  ssh: ":",
  docker: ":",
  kubectl: ":",
  vim: ":",
  crontab: ":",
  at: ":",
};

for (const shell of SHELLS) {
  test.skipIf(!hasShell(shell))(
    `the corpus › removes the victim in a real ${shell}, which no decision allows`,
    () => {
      const lines = sample(shell, shell === "bash" ? 7 : 3);
      let removed = 0;
      for (const { line, rules } of lines) {
        expect(decideLine(line, rules).behavior, line).toBe("deny");
        const place = throwaway(STUBS);
        writeFileSync(join(place.work, "victim"), "");
        place.run(shell, line);
        if (!place.exists("victim")) removed += 1;
        expect(isUntouched(place), line).toBe(true);
      }
      // Some need a program or a version of the shell that is missing here.
      expect(removed).toBeGreaterThan(lines.length / 2);
    },
  );
}

test("the corpus › leaves the victim and the protected files alone in every line that is allowed", () => {
  const allowed = CORPUS.filter((one) => one.expect === "allow" && one.file === "everyday.txt");
  const programs =
    "npm npx git cargo make go pytest docker gh mvn curl kill ssh pip uv node python3 zip unzip rsync tar";
  const place = throwaway(Object.fromEntries(programs.split(" ").map((name) => [name, ":"])));
  for (const name of ["victim", ".bashrc"]) writeFileSync(join(place.work, name), "mine");
  const lines = allowed
    .filter((_, i) => i % 4 === 0)
    .filter(({ line }) => !/^(?:\.\/|ps |man |.*&$)/.test(line));
  place.run("bash", lines.map(({ line }) => `( eval ${quote(line)} ) </dev/null`).join("\n"));
  for (const name of ["victim", ".bashrc"]) expect(readFileSync(join(place.work, name), "utf8")).toBe("mine");
  expect(isUntouched(place)).toBe(true);
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
