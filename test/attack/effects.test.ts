import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type CorpusLine, decideLine, readCorpus } from "../support/attack/corpus.ts";
import {
  changedOutside,
  hasBubblewrap,
  hasShell,
  type Throwaway,
  throwaway,
} from "../support/attack/throwaway.ts";

const CORPUS = readCorpus();
const SHELLS = ["bash", "zsh", "dash", "fish"];

/** Returns a sample of a shell's lines that remove the victim. */
function removing(shell: string): readonly CorpusLine[] {
  const all = CORPUS.filter((one) => one.shell === shell && one.effect === "removes victim");
  return all.filter((_, i) => i % (shell === "bash" ? 7 : 3) === 0);
}

/** Files with lines of ordinary work that are allowed. */
const EVERYDAY: ReadonlySet<string> = new Set(["everyday.txt", "reading.txt"]);

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
  // They write a cache into the home directory.
  npx: 'exec "$@"',
  npm: ":",
};

test.skipIf(!hasBubblewrap)(
  "the throw-away directory › shows what a line changes outside, and in /tmp",
  () => {
    const lines = {
      ": > ../outside": "outside",
      ": > ~/new": "new",
      ": > /tmp/x": "/tmp/x",
      "rm ../outside": "outside",
    };
    for (const [line, changed] of Object.entries(lines)) {
      const place = throwaway();
      place.run("sh", line);
      expect(changedOutside(place), line).toEqual([changed]);
    }
    const place = throwaway();
    place.run("sh", ": > a; cat /etc/passwd");
    expect(changedOutside(place)).toEqual([]);
  },
);

for (const shell of SHELLS) {
  test.skipIf(!hasBubblewrap || !hasShell(shell))(
    `the corpus › removes the victim in a real ${shell}, which no decision allows`,
    () => {
      const lines = removing(shell);
      let removed = 0;
      for (const { line, rules } of lines) {
        expect(decideLine(line, rules).behavior, line).toBe("deny");
        const place = throwaway(STUBS);
        writeFileSync(join(place.work, "victim"), "");
        place.run(shell, line);
        if (!place.exists("victim")) removed += 1;
        expect(changedOutside(place), line).toEqual([]);
      }
      // Some need a program or a version of the shell that is missing here.
      expect(removed).toBeGreaterThan(lines.length / 2);
    },
  );
}

/** Creates a directory with the entries that lines of `options.txt` name: two files, an archive, a repository, scripts and a Makefile. */
const SEED = `
  mkdir seed marks && cd seed && echo a > a && echo b > b && echo 'all: ; @echo $(X)' > Makefile
  echo '{ "name": "x", "version": "1.0.0", "scripts": { "x": "echo" } }' > package.json
  git init -q && git config user.name Ada && git config user.email ada@example.org
  git add . && git commit -qm a && git branch -M main && git commit -q --allow-empty -m b
  tar cf a.tar a b && cp ../p ../rm .
`;
/** The stub of a program: it leaves a mark. */
const LEAVES_MARK = '#!/bin/sh\n: > "$MARK"\n';

/** Runs each line in a copy of the seed, and returns those that started the stub. */
function startedBy(place: Throwaway, lines: readonly CorpusLine[]): readonly CorpusLine[] {
  for (const name of ["p", "rm"]) {
    writeFileSync(join(place.work, name), LEAVES_MARK, { mode: 0o700 });
    writeFileSync(join(place.bin, name), LEAVES_MARK, { mode: 0o700 });
  }
  mkdirSync(join(place.home, "tmp/lines"));
  for (const [i, { line }] of lines.entries()) writeFileSync(join(place.home, `tmp/lines/${i}`), line);
  const each = `
    i=0
    while [ $i -lt ${lines.length} ]; do
      cp -r "$HOME/project/seed" "$HOME/project/$i" && cd "$HOME/project/$i"
      MARK="$HOME/project/marks/$i" timeout -k 1 3 bash "$HOME/tmp/lines/$i" </dev/null >/dev/null 2>&1
      i=$((i + 1))
    done`;
  place.run("sh", `(${SEED})\n${each}`);
  const marks = new Set(readdirSync(join(place.work, "marks")));
  return lines.filter((_, i) => marks.has(String(i)));
}

/** Returns variants of a line with its long options abbreviated, as programs accept them. */
function abbreviations(one: CorpusLine): CorpusLine[] {
  return [1, 2, 4].flatMap((count) => {
    const line = one.line.replace(/(--[a-z][\w-]*)/g, (name) =>
      name.slice(0, Math.max(4, name.length - count)),
    );
    return line === one.line ? [] : [{ ...one, line }];
  });
}

const isAllowed = ({ line, rules }: CorpusLine): boolean => decideLine(line, rules).behavior === "allow";
const OPTIONS = CORPUS.filter(({ file, line }) => file === "options.txt" && line.includes("./p"));
const STARTING = OPTIONS.filter(({ expect: expected }, i) => expected === "ask" && i % 2 === 0);
const NAMING_RM = CORPUS.filter(({ file }) => file === "denied-rm-options.txt");
const STARTING_RM = NAMING_RM.filter((_, i) => i % 6 === 0);

test.skipIf(!hasBubblewrap)(
  "the corpus › starts a stub by options of real programs, which no decision allows",
  () => {
    const started = startedBy(throwaway(STUBS), STARTING);
    expect(started.filter(isAllowed)).toEqual([]);
    // Others need a program that is missing here.
    expect(started.length).toBeGreaterThan(8);
  },
);

test.skipIf(!hasBubblewrap)("abbreviated options › start no stub in a line that is allowed", () => {
  const allowed = OPTIONS.flatMap(abbreviations).filter((one) => one.expect === "ask" && isAllowed(one));
  expect(startedBy(throwaway(STUBS), allowed).map(({ line }) => line)).toEqual([]);
});

test.skipIf(!hasBubblewrap)("the corpus › starts a stub of the denied rm, which no decision allows", () => {
  const started = startedBy(throwaway(STUBS), STARTING_RM);
  expect(started.filter(isAllowed)).toEqual([]);
  expect(started.length).toBeGreaterThan(5);
});

/** Files that rules or the protection of files guard. Lines of the corpus run in a directory with these files. */
const GUARDED = [
  ".bashrc",
  ".env",
  ".mcp.json",
  ".claude/settings.json",
  "opencode.json",
  "config/prod.json",
];
const FOR_GUARDS: ReadonlySet<string> = new Set(["protected.txt", "files.txt", "guards.txt"]);
const GUARDING = CORPUS.filter(({ file, shell }) => FOR_GUARDS.has(file) && shell === "bash");
const STOPPED = GUARDING.filter(
  ({ expect: expected }, i) => /^(?:guarded|deny)$/.test(expected) && i % 3 === 0,
);

/** Runs each line in a separate directory, and returns the lines that changed a guarded file there. */
function changedGuarded(lines: readonly CorpusLine[]): readonly CorpusLine[] {
  const place = throwaway({ ...STUBS, git: ":" });
  mkdirSync(join(place.home, "tmp/lines"));
  const directory = (i: number): string => join(place.work, "lines", String(i));
  for (const [i, { line }] of lines.entries()) {
    for (const name of ["a", "b", ...GUARDED]) {
      mkdirSync(dirname(join(directory(i), name)), { recursive: true });
      writeFileSync(join(directory(i), name), name);
    }
    writeFileSync(join(place.home, `tmp/lines/${i}`), line);
  }
  const each = `
    i=0
    while [ $i -lt ${lines.length} ]; do
      cd "$HOME/project/lines/$i" && timeout -k 1 3 bash "$HOME/tmp/lines/$i" </dev/null >/dev/null 2>&1
      i=$((i + 1))
    done`;
  place.run("sh", each);
  const isChanged = (path: string, text: string): boolean =>
    !existsSync(path) || readFileSync(path, "utf8") !== text;
  return lines.filter((_, i) => GUARDED.some((name) => isChanged(join(directory(i), name), name)));
}

test.skipIf(!hasBubblewrap)(
  "the corpus › changes guarded files in a real bash only by lines that are not allowed",
  () => {
    // Without a rule for the file, a change of .env or config/prod.json does no harm.
    const guards = ({ rules }: CorpusLine): boolean =>
      rules.deny.includes("Edit(.env)") && !rules.deny.some((rule) => rule.startsWith("Bash("));
    const allowed = GUARDING.filter((one) => one.expect === "allow" && guards(one));
    expect(changedGuarded(allowed).map(({ line }) => line)).toEqual([]);
    // Others read only, write elsewhere, or need a program or a file that is missing here.
    expect(changedGuarded(STOPPED).length).toBeGreaterThan(STOPPED.length / 5);
  },
);

test("the corpus › has a tenth of its hostile lines run by these tests in a real shell", () => {
  const run = new Set([...SHELLS.flatMap(removing), ...STARTING, ...STARTING_RM, ...STOPPED]);
  const hostile = CORPUS.filter(({ expect: expected }) => expected !== "allow");
  expect(run.size).toBeGreaterThan(hostile.length / 10);
});

test.skipIf(!hasBubblewrap)(
  "the corpus › leaves the victim and the protected files alone in every line that is allowed",
  () => {
    const allowed = CORPUS.filter((one) => one.expect === "allow" && EVERYDAY.has(one.file));
    // Some write files into the home directory, such as vim's .viminfo.
    const programs =
      "npm npx pnpm yarn git cargo rustc make go pytest docker gh mvn curl wget ssh scp pip uv node deno python3 zip unzip rsync tar vim";
    const place = throwaway(Object.fromEntries(programs.split(" ").map((name) => [name, ":"])));
    for (const name of ["victim", ".bashrc"]) writeFileSync(join(place.work, name), "mine");
    const lines = allowed
      .filter((_, i) => i % 4 === 0)
      .filter(({ line }) => !/^(?:\.\/|ps\b|man |.*&$)/.test(line));
    const script = lines.map(({ line }) => `( eval ${quote(line)} ) </dev/null`).join("\n");
    expect(place.run("bash", `${script}\n: > ended`)).toBe(true);
    expect(place.exists("ended")).toBe(true);
    for (const name of ["victim", ".bashrc"])
      expect(readFileSync(join(place.work, name), "utf8")).toBe("mine");
    expect(changedOutside(place)).toEqual([]);
  },
);

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
