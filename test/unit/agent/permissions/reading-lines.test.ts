import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";

const WORK = "/home/ada/project";

function decided(command: string, more: Partial<PermissionQuestion> = {}): string {
  return decidePermission({
    mode: "plan",
    tool: "Bash",
    access: { kind: "command", command },
    line: readShellLine(command),
    rules: NO_RULES,
    workingDirs: [WORK],
    home: "/home/ada",
    resolve: (path) => path.replace(`${WORK}/link`, "/etc"),
    isPlain: () => true,
    ...more,
  }).behavior;
}

const READS = String.raw`
  ls | ls -la src | cat a.txt | head -5 a | head -n 5 a b | tail -n +2 a | wc -l a b | pwd | echo a b | printf '%s\n' a
  | grep -rn foo src | grep -A3 foo a | rg foo | rg -n --glob '*.ts' foo src | find . -name '*.ts' -not -path './node_modules/*'
  | find src -type f -maxdepth 2 -print | git log --oneline | git log -5 --stat -- src | git show HEAD~1:a | git diff --cached
  | git diff main..dev | git status --short | git blame -L 1,5 a | git branch --list 'a*' | git branch -a | git ls-files
  | git --no-pager log | git rev-parse --show-toplevel | git remote -v | git stash list | git tag -l | stat a | file a | du -sh .
  | df -h | which node | tree -L 2 | sort -u a | uniq -c | cut -d: -f1 a | tr a b | jq .name package.json | diff -u a b
  | date +%F | date -d '-1 day' | date | cat *.txt | wc -l src/*.ts | grep -n foo --include=*.ts -r src | head -n -5 a
  | cut -c -80 a | grep -e --foo a | git status -u a | sha256sum a | test -f a | [ -d src ] | command -v git | true | ls *.ts | cd src && ls
`;

const OTHERS = `
  touch x | rm x | ls > out | cat a >> b | git commit -m x | git branch new | git branch -D x | git tag v1 | git log --output=x
  | git diff --ext-diff | git log --show-signature | git -c core.pager=x log | git -C . -c a.b=c log | git grep -O x | git remote add a b
  | git stash | git worktree add x | find . -delete | find . -exec rm {} + | find . -fprint x | rg --pre x foo | rg -z foo | grep -R x .
  | sort -o x a | sort --compress-program=x a | sort --outp=x a | uniq a b | tree -o x | date -s 1 | date 0101 | xargs ls | sudo ls
  | env | printenv | jq env | jq '$ENV.A' | jq -f x | cat $HOME/x | cat $(ls) | cat **/a | diff --to-file=x a | npm test | node a
  | awk -f x a | sed -i p a | less a | man ls | file -C -m x | file -z a | ls; touch x | ls & rm x | command rm x | printf -v a b
  | for i in a; do ls; done | cd - && ls | git status --ext | /tmp/ls | ./ls | PATH=b ls | git reflog expire --all
  | git log -U --output=x | git log --unified --output=x | git show --min-parents --output=x | git diff --format --output=x
  | git diff -U --ext-diff | git blame -S x a | git blame --abbrev --contents=x a | git describe --abbrev --dirty
  | git ls-files -oi -X x | git stash -- list | git stash -q -- show | git stash -p list | git reflog [e]xpire --all
  | git log --format=%G? | git log --pretty='%h %-GG' | git tag -l --format='%(signature)' | date -I --file=x | date -I -fx
  | strings @x | jq -n '$ ENV' | jq -n '"a" | modulemeta' | ls -RL . | du -aL . | cd s* && cat a | [c]at a
`;

const each = (text: string): string[] => text.split(/\s+\| /).map((line) => line.trim());

describe("acceptEdits mode › a command line that only prints", () => {
  const inMode = (line: string): string => decided(line, { mode: "acceptEdits" });
  test.each(["echo x > a", "cat a b >> src/c", "sort a | uniq > b", "CI=1 ls > a", "cat *.ts > a"])(
    "writes inside the working directories: %s",
    (line) => expect(inMode(line)).toBe("allow"),
  );
  test.each([
    "echo x > ../a",
    "echo x > ~/a",
    "echo x > link/a",
    "echo x > .bashrc",
    "echo x > $a",
    "cat /etc/passwd > a",
    "npm test > a",
    "touch a > b",
    "cd src; echo x > a",
    "echo x > ./--pre=sh; rg x *",
    "echo > 'a[$(id)]'; test -v a*",
    "echo > 'BEGIN{system(\"id\")}'; awk B*",
    "echo id > e; sed e*",
    "echo > env; jq -n e*",
    "echo /etc/passwd > @x; strings *",
    "echo > h:x; tar tf h*",
    "echo > a; echo > b; uniq *",
  ])("asks otherwise: %s", (line) => expect(inMode(line)).toBe("ask"));
  test("asks in other modes", () => expect(decided("echo x > a", { mode: "default" })).toBe("ask"));
});

describe("plan mode › a command line that only reads", () => {
  test.each(each(READS))("runs: %s", (line) => expect(decided(line)).toBe("allow"));
  test.each([
    "git log --oneline | head",
    "ls && cat a; pwd",
    "cat < a",
    "ls 2>/dev/null",
    "ls src 2>&1 | wc -l",
  ])("runs: %s", (line) => expect(decided(line)).toBe("allow"));

  test.each(each(OTHERS))("does not include: %s", (line) => expect(decided(line)).toBe("deny"));

  test.each([
    "cat /etc/passwd",
    "cat ../x",
    "cat ~/.ssh/id",
    "ls /",
    "cd .. && ls",
    "cd .. && cat a",
    "cat < /etc/passwd",
    "head link/passwd",
    "git diff /etc/passwd a",
    "grep x a ../b",
    "od -w /etc/passwd",
    "ls -w /etc",
    "git diff -l /etc/passwd a",
    "grep --context x /etc/passwd",
    "cat ~/*.txt",
    "find .. -name a",
    "test -f /etc/x",
    "git -C /x log",
    "git -C .. status",
    "sed -n 1p /etc/passwd",
    "awk 1 ../x",
  ])("asks like Read if a file is outside: %s", (line) => expect(decided(line)).toBe("ask"));

  test.each(["\u2028", "\u2029", "\r"])("excludes awk that prints a backslash and %j to sh", (end) => {
    expect(decided(`awk 'BEGIN { print "\\${end};id" | "sh" }'`)).toBe("deny");
    expect(decided(`awk 'BEGIN { print "\\${end}" > "x" }'`)).toBe("deny");
    expect(decided(`awk 'BEGIN { print "\\${end}" }'`)).toBe("allow");
  });

  test("is denied by rules for its command and its files", () => {
    const deny = (rule: string, line: string) => decided(line, { rules: { ...NO_RULES, deny: [rule] } });
    expect(deny("Bash(ls:*)", "ls")).toBe("deny");
    expect(deny("Read(.env)", "cat .env")).toBe("deny");
    expect(deny("Read(.env)", "cat < .env")).toBe("deny");
    expect(deny("Read(.env)", "cat a")).toBe("allow");
    // These commands would read the file together with others.
    for (const line of ["grep -r x .", "rg x", "git log -p"]) expect(deny("Read(.env)", line)).toBe("deny");
    expect(decided("ls", { rules: { ...NO_RULES, ask: ["Bash(ls)"] } })).toBe("ask");
  });

  test("is denied if files of the repository name a program for git", () => {
    const isPlain = () => false;
    expect(decided("git log", { isPlain })).toBe("deny");
    expect(decided("ls", { isPlain })).toBe("allow");
    const seen = new Set<string>();
    const record = (directory: string, what: string) => seen.add(`${directory} ${what}`).size > 0;
    decided("cd sub && git status", { isPlain: record });
    expect([...seen]).toEqual([`${WORK} worktree`, `${WORK}/sub worktree`]);
    seen.clear();
    decided("git -C sub status", { isPlain: record });
    expect([...seen]).toEqual([`${WORK} worktree`, `${WORK}/sub worktree`]);
  });

  test("is denied if a file of the project can tell npm where to write its log", () => {
    const exists = (file: string) => (path: string) => path === file;
    expect(decided("npm ls", { exists: exists(`${WORK}/.npmrc`) })).toBe("deny");
    expect(decided("cd sub && npm ls", { exists: exists(`${WORK}/.npmrc`) })).toBe("deny");
    expect(decided("npm ls", { exists: exists("/home/ada/.npmrc") })).toBe("allow");
    // npm searches the parent directories of a link's target.
    const resolve = (path: string) => path.replace(`${WORK}/link`, `${WORK}/packages/a`);
    const inPackages = exists(`${WORK}/packages/.npmrc`);
    expect(decided("cd link && npm ls", { exists: inPackages, resolve })).toBe("deny");
    expect(decided("npm ls", { exists: inPackages, resolve })).toBe("allow");
  });
});

test("every mode runs a command line that only reads, and asks for one that also writes", () => {
  for (const mode of ["default", "acceptEdits", "delegate", "dontAsk"] as const) {
    expect(decided("git log --oneline | head", { mode })).toBe("allow");
    expect(decided("ls; touch x", { mode })).toBe(mode === "dontAsk" ? "deny" : "ask");
    expect(decided("cat /etc/passwd", { mode })).toBe(mode === "dontAsk" ? "deny" : "ask");
  }
});
