import { describe, expect, test } from "vitest";
import { decidePermission, leadsTo } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";

const WORK = "/srv/ada/project";

/** Decides a line. By default, a rule allows all of Bash and no rule denies anything. */
function decide(
  command: string,
  rules: Partial<PermissionRules> = {},
  more: Partial<PermissionQuestion> = {},
) {
  return decidePermission({
    mode: "default",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: { ...NO_RULES, allow: ["Bash"], ...rules },
    workingDirs: [WORK],
    home: "/srv/ada",
    resolve: (path) => path,
    exists: () => false,
    isPlain: () => true,
    gitDirs: () => [],
    list: () => [],
    ...more,
  });
}

const guarded = { behavior: "ask", guarded: true };
const denied = { behavior: "deny" };

const times = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join(" ");

/** Lines that exceed a limit of the parser, each with a command after that point. */
const NOT_READ: readonly (readonly [what: string, lineOf: (last: string) => string])[] = [
  ["shell escapes", (last) => `echo '${"=!".repeat(101)}'; ${last}`],
  ["here-documents in a quoted script", (last) => `sh -c '${"<<a ".repeat(1_001)}'; ${last}`],
  ["here-documents in a script of variables", (last) => `A='${"<<a ".repeat(600)}'; sh -c "$A$A"; ${last}`],
  ["shifts in arithmetic", (last) => `echo ${"$((1<<1))".repeat(1_001)}; ${last}`],
  ["characters", (last) => `echo ${"x".repeat(65_536)}; ${last}`],
  ["parentheses", (last) => `echo '${"(".repeat(301)}'; ${last}`],
  ["words", (last) => `echo ${"x ".repeat(8_001)}; ${last}`],
  ["commands", (last) => `${"true;".repeat(2_001)} ${last}`],
  ["redirections", (last) => `cat ${times(501, (i) => `<f${i}`)}; ${last}`],
  ["braces", (last) => `echo ${"{a,b}".repeat(21)}; ${last}`],
  ["values of variables", (last) => `A0=xxxxxxxx; ${times(20, (i) => `A${i + 1}=$A${i}$A${i};`)} ${last}`],
  ["quoted scripts", (last) => `${"sh -c 'echo a';".repeat(31)} ${last}`],
  ["interpreters", (last) => `foo ${"bash ".repeat(41)}; ${last}`],
];

describe.each(NOT_READ)("decidePermission › a line of too many %s", (_, lineOf) => {
  test("› asks before a change of a protected file, whatever rule allows it", () => {
    for (const last of ["echo x > .git/hooks/pre-commit", "cp x .git/hooks/pre-commit"]) {
      expect(decide(lineOf(last))).toMatchObject(guarded);
      expect(decide(lineOf(last), { allow: ["Bash(*)"] })).toMatchObject(guarded);
    }
  });

  test("› asks before a change of a reserved file, and before a command that only reads", () => {
    const reservedBy = (path: string) => (path === `${WORK}/r.ts` ? "r.ts is reserved." : undefined);
    expect(decide(lineOf("tee r.ts"), {}, { reservedBy })).toMatchObject(guarded);
    expect(decide(lineOf("cat a"), { allow: [] })).toMatchObject(guarded);
  });

  test("› is denied if a deny rule or `writes` exist, in every mode", () => {
    for (const mode of ["default", "bypassPermissions"] as const) {
      expect(decide(lineOf("rm x"), { deny: ["Bash(rm:*)"] }, { mode })).toMatchObject(denied);
      expect(decide(lineOf("cat .env"), { deny: ["Read(.env)"] }, { mode })).toMatchObject(denied);
      expect(decide(lineOf("tee x"), {}, { mode, writes: ["**"] })).toMatchObject(denied);
    }
    expect(decide(lineOf("true"), {}, { mode: "bypassPermissions" })).toMatchObject({ behavior: "allow" });
  });
});

test("decidePermission › checks the files of every program that may write, however many wrap them", () => {
  const reservedBy = (path: string) => (path === `${WORK}/src/r.ts` ? "r.ts is reserved." : undefined);
  for (const count of [3, 41, 1_000])
    expect(decide(`env ${"tee ".repeat(count)}src/r.ts`, {}, { reservedBy })).toMatchObject(guarded);
});

describe("decidePermission", () => {
  const READ = { deny: ["Read(.env)"] };
  const MAX_PATH = 4_096;

  test.each([
    ["a long word in braces", `cat {${"x".repeat(MAX_PATH)},.env}`],
    ["a long set of letters", `cat .[${"e".repeat(MAX_PATH)}]nv`],
    ["a redirection from braces", `cat <{${"x".repeat(MAX_PATH)},.env}`],
    ["a loop over braces", `for i in {${"x".repeat(MAX_PATH)},.env}; do cat $i; done`],
    [
      "2^21 names in braces",
      `cat {${times(21, (i) => `${"abcdefghijklmnopqrstuvwxyz"[i]}{1,2}`).replaceAll(" ", ",")},.env}`,
    ],
    ["braces in two commands", `echo ${"{a,b} ".repeat(20)}; cat {.env,x}`],
    ["2,001 files", `cat ${times(2_001, (i) => `f${i}`)} .env`],
    ["a list with commas", `foo ${"a,".repeat(64)}.env`],
    ["a quoted list", `foo '${"a, ".repeat(64)},.env'`],
    ["a revision of git", `git show 'HEAD^{/${"a:".repeat(64)}}:.env'`],
    ["many glued options", `tar -c${"v".repeat(20)}f.env`],
    ["many assignments", `env ${"A=1 ".repeat(45)}sed s/a/b/w.env x`],
    ["many directories", "cd a; cd b; cd c; cd d; cd e; cd f; cat ../../../../../../.env"],
  ])("› denies a line whose words may stand for more names than it checks: %s", (_, line) => {
    for (const mode of ["default", "bypassPermissions"] as const)
      expect(decide(line, READ, { mode })).toMatchObject(denied);
  });

  test("› denies a command that only the expansion of braces spells, after any number of other braces", () => {
    for (const before of ["", `echo ${"{a,b}".repeat(5)}; `, `echo ${"{a,b} ".repeat(20)}; `]) {
      const push = { deny: ["Bash(git push:*)"] };
      expect(decide(`${before}git {push,origin}`, push)).toMatchObject(denied);
      expect(decide(`${before}git {pull,origin}`, push)).toMatchObject({ behavior: "allow" });
    }
  });

  test("› allows long data with many braces in a quoted word or a here-document", () => {
    const json = JSON.stringify(Array.from({ length: 100 }, (_, i) => ({ a: i, b: [1, 2] })));
    for (const line of [`curl -d '${json}' http://localhost/x`, `cat > a.json <<'EOF'\n${json}\nEOF`]) {
      const rules = { deny: ["Bash(rm:*)", "Read(.env)", "Edit(.env)"] };
      expect(decide(line, rules)).toMatchObject({ behavior: "allow" });
    }
  });

  test("› finds a program after any number of words and option letters", () => {
    const rules = { deny: ["Bash(rm:*)"] };
    for (const count of [2, 50, 90]) {
      const words = "A=1 ".repeat(count);
      expect(decide(`env ${words}python3 -c 'import os; os.system(x)'`, rules)).toMatchObject(denied);
      expect(decide(`curl x | env ${words}bash`, rules)).toMatchObject(denied);
      expect(decide(`env ${words}awk '/a,rm,b/'`, rules).behavior).toBe(count === 2 ? "allow" : "ask");
      expect(decide(`tar -c${"v".repeat(count)}Irm a`, rules)).toMatchObject(guarded);
      expect(decide(`cp -${"v".repeat(count)}t.git/hooks a`)).toMatchObject(guarded);
    }
    expect(decide("curl x | bash -s awk p", rules)).toMatchObject(denied);
  });

  test("› asks before a change if a word that is too long for a path may stand for protected files", () => {
    for (const word of [`.[g${"x".repeat(MAX_PATH)}]it/config`, `{${"x".repeat(MAX_PATH)},.git}/config`])
      expect(decide(`cp a ${word}`)).toMatchObject(guarded);
    expect(decide(`echo a ${"x".repeat(MAX_PATH)}`)).toMatchObject({ behavior: "allow" });
  });

  test("› asks before too many redirections to check, even if a rule allows the command", () => {
    for (const count of [499, 500, 600]) {
      const line = `cat ${times(count, (i) => `<f${i}`)} </srv/.ssh/id`;
      expect(decide(line, { allow: ["Bash(cat:*)"] }).behavior).toBe("ask");
    }
    expect(decide(`cat ${"<f ".repeat(600)}`, { allow: ["Bash(cat:*)"] }).behavior).toBe("allow");
  });

  test("› denies a write if `writes` cannot be checked in every directory of the line", () => {
    const more = { mode: "bypassPermissions", writes: ["**"] } as const;
    for (const count of [2, 6]) {
      const enter = times(count, (i) => `cd d${i};`);
      expect(decide(`${enter} cd /etc; tee passwd`, {}, more)).toMatchObject(denied);
    }
    expect(decide("cd a; cd b; tee c", {}, more)).toMatchObject({ behavior: "allow" });
    expect(decide(`${times(6, (i) => `cd d${i};`)} ls`, {}, more)).toMatchObject({ behavior: "allow" });
  });

  test("› asks before a change of a reserved file after many others, or in one of many directories", () => {
    const reservedBy = (path: string) => (path.endsWith("/r.ts") ? "r.ts is reserved." : undefined);
    const lines = [`tee ${times(500, (i) => `f${i}`)} r.ts`, `${times(6, (i) => `cd d${i};`)} tee r.ts`];
    for (const line of lines) expect(decide(line, {}, { reservedBy })).toMatchObject(guarded);
  });

  test("› takes a pattern for an option if the line may be in more directories than it lists", () => {
    const list = (directory: string) => (/\/d5\/d6\/?$/.test(directory) ? ["-e"] : []);
    const rules = { allow: ["Bash(cd:*)", "Bash(wc:*)"] };
    for (const from of [5, 0]) {
      const enter = times(7 - from, (i) => `cd d${i + from};`);
      expect(decide(`${enter} wc ?e`, rules, { list }).behavior).toBe("ask");
    }
  });

  test("› asks if suffixes make more or longer file names than it checks", () => {
    for (const line of [
      `cp ${times(60, (i) => `-S${i}`)} a b`,
      `cp --suffix=${"*".repeat(1_000)} ${"a".repeat(1_000)} b`,
    ])
      expect(decide(line)).toMatchObject(guarded);
    expect(decide("cp -S .bak a b")).toMatchObject({ behavior: "allow" });
  });
});

describe("decidePermission › a line that only reads", () => {
  const names = Array.from({ length: 500 }, (_, i) => `f${i}`);
  const reads = (command: string) => {
    const listed: string[] = [];
    const list = (directory: string) => {
      listed.push(directory);
      return names;
    };
    return { behavior: decide(command, { allow: [] }, { list }).behavior, listed };
  };

  test("› lists a directory no more often for many patterns than for one", () => {
    const [one, many] = [reads("cat f1*"), reads(`cat f1* f2* ?3; ${times(90, (i) => `echo f${i}*;`)}`)];
    expect([one.behavior, many.behavior]).toEqual(["allow", "allow"]);
    expect(many.listed.length).toBe(one.listed.length);
  });

  test("› iterates over its patterns no more often for many commands than for one", () => {
    class CountedSet extends Set<string> {
      reads = 0;
      override [Symbol.iterator]() {
        this.reads += 1;
        return super[Symbol.iterator]();
      }
    }
    const readsOf = (command: string): number => {
      const line = readShellLine(command);
      const patterns = new CountedSet(line.patterns);
      const decided = decide(command, { allow: [] }, { list: () => names, line: { ...line, patterns } });
      expect(decided.behavior).toBe("allow");
      return patterns.reads;
    };
    expect(readsOf(times(90, (i) => `echo f${i}*;`))).toBe(readsOf("echo f1*"));
  });

  test("› asks if its patterns match too many files, or are too many", () => {
    expect(reads(`cat ${"* ".repeat(300)}`).behavior).toBe("ask");
    expect(reads(`cat ${times(101, (i) => `f${i}*`)}`).behavior).toBe("ask");
    expect(reads(`cat ${times(100, (i) => `f${i}*`)}`).behavior).toBe("allow");
  });

  test("› asks if a rule allows it, but too many patterns may be options", () => {
    const list = (): readonly string[] => names;
    const foo = { allow: ["Bash(foo:*)"] };
    expect(decide(`foo ${times(101, (i) => `f${i}*`)}`, foo, { list }).behavior).toBe("ask");
    expect(decide(`foo ${times(100, (i) => `f${i}*`)}`, foo, { list }).behavior).toBe("allow");
  });

  test("› asks if a rule allows one of its commands, but the other commands read too many files", () => {
    const list = (): readonly string[] => names;
    const foo = { allow: ["Bash(foo:*)"] };
    expect(decide(`${"ls f*; ".repeat(19)} foo`, foo, { list }).behavior).toBe("allow");
    expect(decide(`${"ls f*; ".repeat(20)} foo`, foo, { list }).behavior).toBe("ask");
    expect(decide("foo ../*; ls a", foo, { list }).behavior).toBe("ask");
  });
});

describe("leadsTo", () => {
  const found = (command: string): readonly string[] =>
    leadsTo({
      ...{ tool: "Bash", access: { kind: "command", command }, line: readShellLine(command) },
      ...{ mode: "default", rules: NO_RULES, workingDirs: [WORK], resolve: (path) => path },
    });

  test("› resolves every file that a line reads or changes", () => {
    const all = found(`touch ${times(1_900, (i) => `t${i}`)}; cat ${times(1_900, (i) => `c${i}`)}; cd a`);
    for (const name of ["t0", "t1899", "c0", "a/c1899"]) expect(all).toContain(`${WORK}/${name}`);
  });

  test("› resolves files in the working directory if the line may be in too many directories", () => {
    expect(found(`${times(6, (i) => `cd d${i};`)} tee a`)).toContain(`${WORK}/a`);
  });
});

const repeated = (count: number, text: string): string => text.repeat(count);

/** Lines with a command inside nested groups, loops or expansions. */
const NESTED: readonly (readonly [what: string, lineOf: (depth: number, inner: string) => string])[] = [
  ["groups", (n, inner) => `${repeated(n, "{ ")}${inner}; ${repeated(n, "}; ")}`],
  ["conditions", (n, inner) => `${repeated(n, "if true; then ")}${inner}; ${repeated(n, "fi; ")}`],
  ["loops", (n, inner) => `${repeated(n, "for i in 1; do ")}${inner}; ${repeated(n, "done; ")}`],
  ["cases", (n, inner) => `${repeated(n, "case x in x) ")}${inner}; ${repeated(n, ";; esac; ")}`],
  ["substitutions", (n, inner) => `echo ${repeated(n, "$(")}${inner}${repeated(n, ")")}`],
  [
    "substitutions with quoted parentheses",
    (n, inner) => `echo ${repeated(n, "$(')' ")}$(${inner})${repeated(n, ")")}`,
  ],
  ["defaults", (n, inner) => `echo ${repeated(n, "${a:-")}$(${inner})${repeated(n, "}")}`],
  ["quoted defaults", (n, inner) => `echo ${repeated(n, '"${a:-')}$(${inner})${repeated(n, '}"')}`],
  ["groups of arithmetic", (n, inner) => `echo $((${repeated(n, "(")}$(${inner})${repeated(n, ")")}))`],
  ["powers", (n, inner) => `echo $((${repeated(n, "1 ** ")}$(${inner})))`],
  ["powers in a loop", (n, inner) => `for ((i = ${repeated(n, "1 ** ")}$(${inner});;)); do :; done`],
];

describe.each(NESTED)("decidePermission › a command in many %s", (_, lineOf) => {
  test.each([
    ["a line", (line: string) => line],
    ["a substitution", (line: string) => `echo $( ${line} )`],
    ["a quoted script", (line: string) => `bash -c '${line.replaceAll("'", "'\\''")}'`],
    ["a here-document", (line: string) => `cat <<E\n$( ${line} )\nE`],
  ])("› asks or is denied at every depth, in %s", (_where, place) => {
    for (const depth of [3, 90, 254, 255, 256, 257, 258, 290]) {
      const line = (inner: string): string => place(lineOf(depth, inner));
      expect(decide(line("tee .bashrc < a"))).toMatchObject(guarded);
      expect(decide(line("tee .env < a"), { deny: ["Edit(.env)"] })).toMatchObject(denied);
      expect(decide(line("curl x | sh"), { deny: ["Bash(rm:*)"] })).toMatchObject(denied);
    }
  });
});
