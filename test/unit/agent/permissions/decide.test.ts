import { describe, expect, test } from "vitest";
import { mcpToolName } from "../../../../src/agent/mcp/mcp-tool.ts";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";

const WORK = "/home/ada/work";
const PLAN = "/home/ada/.claude/plans/team-ada.md";

const rules = (given: Partial<PermissionRules>): PermissionRules => ({ ...NO_RULES, ...given });
const read = (...paths: string[]): ToolAccess => ({ kind: "read", paths });
const write = (...paths: string[]): ToolAccess => ({ kind: "write", paths });
const command = (text: string): ToolAccess => ({ kind: "command", command: text });

function ask(mode: PermissionMode, tool: string, access: ToolAccess, more: Partial<PermissionQuestion> = {}) {
  return decideOn(mode, tool, access, more).behavior;
}

function decideOn(
  mode: PermissionMode,
  tool: string,
  access: ToolAccess,
  more: Partial<PermissionQuestion> = {},
) {
  return decidePermission({
    mode,
    tool,
    access,
    line: access.kind === "command" ? readShellLine(access.command) : undefined,
    rules: NO_RULES,
    workingDirs: [WORK],
    planFile: PLAN,
    protectedDirs: ["/home/ada/.claude"],
    home: "/home/ada",
    resolve: (path) => path,
    ...more,
  });
}

type Row = [what: string, tool: string, access: ToolAccess, answers: Record<PermissionMode, string>];

/** default, acceptEdits, plan, bypassPermissions, dontAsk, delegate (a teammate's). */
function answers(line: string): Record<PermissionMode, string> {
  const words = line.split(/\s+/);
  return Object.fromEntries(PERMISSION_MODES.map((mode, i) => [mode, words[i]])) as Record<
    PermissionMode,
    string
  >;
}

const WITHOUT_A_RULE: Row[] = [
  ["a read inside", "Read", read(`${WORK}/a.ts`), answers("allow allow allow allow allow allow")],
  ["a read of the directory itself", "Grep", read(WORK), answers("allow allow allow allow allow allow")],
  ["a read outside", "Read", read("/etc/passwd"), answers("ask ask ask allow deny ask")],
  [
    "a read of a directory with the same beginning",
    "Read",
    read(`${WORK}-2/a`),
    answers("ask ask ask allow deny ask"),
  ],
  ["a write inside", "Write", write(`${WORK}/a.ts`), answers("ask allow deny allow deny ask")],
  ["an edit inside", "Edit", write(`${WORK}/a.ts`), answers("ask allow deny allow deny ask")],
  ["a write outside", "Write", write("/tmp/x"), answers("ask ask deny allow deny ask")],
  ["a write half outside", "Write", write(`${WORK}/a`, "/tmp/x"), answers("ask ask deny allow deny ask")],
  ["a write of the plan file", "Write", write(PLAN), answers("ask ask allow allow deny ask")],
  ["a read of the plan file", "Read", read(PLAN), answers("allow allow allow allow allow allow")],
  ["a read of another's plan", "Read", read(`${PLAN}.md`), answers("ask ask ask allow deny ask")],
  ["a command", "Bash", command("ls"), answers("ask ask deny allow deny ask")],
  ["a tool of a server", "mcp__files__read", { kind: "external" }, answers("ask ask deny allow deny ask")],
  ["a tool of the team", "SendMessage", { kind: "team" }, answers("allow allow allow allow allow allow")],
];

describe.each(WITHOUT_A_RULE)("%s without a rule", (_, tool, access, expected) => {
  test.each(PERMISSION_MODES)("in %s", (mode) => {
    expect(ask(mode, tool, access)).toBe(expected[mode]);
  });
});

const LOG = command("git log --oneline");
const EXTERNAL: ToolAccess = { kind: "external" };
const ALL = "allow allow allow allow allow allow";
const WITH_RULES: [string, PermissionRules, string, ToolAccess, Record<PermissionMode, string>][] = [
  ...["mcp__files", "mcp__files__*", "mcp__files__read"].map(
    (rule): [string, PermissionRules, string, ToolAccess, Record<PermissionMode, string>] => [
      `a server's tool that ${rule} allows`,
      rules({ allow: [rule] }),
      "mcp__files__read",
      EXTERNAL,
      answers("allow allow deny allow allow allow"),
    ],
  ),
  [
    "a server's tool that a rule with a pattern allows",
    rules({ allow: ["mcp__files__read(/tmp/**)"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("ask ask deny allow deny ask"),
  ],
  [
    "a server's tool that a rule with a pattern denies",
    rules({ allow: ["mcp__files"], deny: ["mcp__files__read(/tmp/**)"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("deny deny deny deny deny deny"),
  ],
  [
    "a tool of a server whose name only begins alike",
    rules({ allow: ["mcp__file", "mcp__files__rea"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("ask ask deny allow deny ask"),
  ],
  [
    "an allowed command",
    rules({ allow: ["Bash(git log:*)"] }),
    "Bash",
    LOG,
    answers("allow allow deny allow allow allow"),
  ],
  [
    "a denied command",
    rules({ deny: ["Bash(git:*)"], allow: ["Bash"] }),
    "Bash",
    LOG,
    answers("deny deny deny deny deny deny"),
  ],
  [
    "ask before allow",
    rules({ ask: ["Bash(git:*)"], allow: ["Bash"] }),
    "Bash",
    LOG,
    answers("ask ask deny ask deny ask"),
  ],
  [
    "a denied read",
    rules({ deny: ["Read(.env)"] }),
    "Read",
    read(`${WORK}/a/.env`),
    answers("deny deny deny deny deny deny"),
  ],
  [
    "an allowed read outside",
    rules({ allow: ["Read(//etc/**)"] }),
    "Read",
    read("/etc/hosts"),
    answers("allow allow allow allow allow allow"),
  ],
  [
    "an allowed write inside",
    rules({ allow: ["Edit(src/**)"] }),
    "Write",
    write(`${WORK}/src/a`),
    answers("allow allow deny allow allow allow"),
  ],
  [
    "a denied team tool",
    rules({ deny: ["SendMessage"] }),
    "SendMessage",
    { kind: "team" },
    answers("deny deny deny deny deny deny"),
  ],
];

describe.each(WITH_RULES)("%s", (_, given, tool, access, expected) => {
  test.each(PERMISSION_MODES)("in %s", (mode) => {
    expect(ask(mode, tool, access, { rules: given })).toBe(expected[mode]);
  });
});

/** Every kind of tool: without a rule, allowed, asked for, and denied by one; in the order of {@link answers}. */
const KINDS: [kind: string, tool: string, access: ToolAccess, none: string, allow: string, ask: string][] = [
  ["read", "Read", read(`${WORK}/a`), "allow allow allow allow allow allow", ALL, "ask ask ask ask deny ask"],
  [
    "write",
    "Write",
    write(`${WORK}/a`),
    "ask allow deny allow deny ask",
    "allow allow deny allow allow allow",
    "ask ask deny ask deny ask",
  ],
  [
    "command",
    "Bash",
    LOG,
    "ask ask deny allow deny ask",
    "allow allow deny allow allow allow",
    "ask ask deny ask deny ask",
  ],
  [
    "external",
    "mcp__files__read",
    EXTERNAL,
    "ask ask deny allow deny ask",
    "allow allow deny allow allow allow",
    "ask ask deny ask deny ask",
  ],
  [
    "host",
    "WebFetch",
    { kind: "host", host: "example.org" },
    "ask ask ask allow deny ask",
    ALL,
    "ask ask ask ask deny ask",
  ],
  ["team", "TaskCreate", { kind: "team" }, ALL, ALL, "ask ask ask ask deny ask"],
];

describe.each(KINDS)(
  "%s: deny beats ask beats allow, in every mode",
  (_, tool, access, none, allow, asks) => {
    const denied = PERMISSION_MODES.map(() => "deny").join(" ");
    test.each<[string, Partial<PermissionRules>, string]>([
      ["no rule", {}, none],
      ["allow", { allow: [tool] }, allow],
      ["ask", { ask: [tool] }, asks],
      ["ask and allow", { ask: [tool], allow: [tool] }, asks],
      ["deny", { deny: [tool] }, denied],
      ["deny and allow", { deny: [tool], allow: [tool] }, denied],
      ["deny and ask", { deny: [tool], ask: [tool] }, denied],
      ["all three", { deny: [tool], ask: [tool], allow: [tool] }, denied],
      ["rules for another tool", { deny: ["Else"], ask: ["Else"], allow: ["Else"] }, none],
    ])("%s", (_rule, given, expected) => {
      const decided = PERMISSION_MODES.map((mode) => ask(mode, tool, access, { rules: rules(given) }));
      expect(decided.join(" ")).toBe(expected);
    });
  },
);

describe("a lead that coordinates (S53)", () => {
  test.each([
    ["Read", read(`${WORK}/a`), "deny"],
    ["Write", write(`${WORK}/a`), "deny"],
    ["Bash", LOG, "deny"],
    ["TaskCreate", { kind: "team" } as ToolAccess, "allow"],
  ])("%s", (tool, access, expected) => {
    const allowAll = rules({ allow: ["Read", "Write", "Bash"] });
    expect(ask("delegate", tool, access, { coordinator: true, rules: allowAll })).toBe(expected);
    expect(ask("delegate", tool, access, { rules: allowAll })).toBe("allow");
  });
});

describe("writes that could widen rights ask whatever allows them (S73)", () => {
  const guarded: string[] = [
    `${WORK}/.claude/settings.json`,
    `${WORK}/.git/hooks/pre-commit`,
    `${WORK}/sub/.GIT/config`,
    `${WORK}/.mcp.json`,
    `${WORK}/.husky/pre-commit`,
    `${WORK}/sub/.vscode/tasks.json`,
    `${WORK}/.idea/workspace.xml`,
    "/home/ada/.bashrc",
    "/home/ada/.zshenv",
    ...[
      ".config/fish/config.fish",
      ".config/fish/functions/fish_prompt.fish",
      ".config/fish/conf.d/a.fish",
      ".config/nushell/env.nu",
      ".config/elvish/rc.elv",
      ".xonshrc",
      ".config/powershell/profile.ps1",
      ".config/powershell/Microsoft.PowerShell_profile.ps1",
      ".inputrc",
      ".yashrc",
      ".shrc",
      ".bash_completion",
      "Library/Application Support/nushell/config.nu",
      "Library/LaunchAgents/x.plist",
      ".xprofile",
      ".gitconfig",
      ".config/git/config",
      ".ssh/authorized_keys",
      ".ssh/rc",
      ".ssh/config",
      ".tmux.conf",
      ".config/systemd/user/a.service",
      ".config/systemd/user/default.target.wants/a",
      ".pam_environment",
      "work/.direnvrc",
      "dotfiles/fish/functions/ls.fish",
      ".Zshrc",
      ".config/autostart/a.desktop",
      // To a file system that takes no notice of case, an s like any other.
      ".\u017fsh/rc",
      "work/.mcp.j\u017fon",
    ].map((name) => `/home/ada/${name}`),
    "/home/ada/.claude/teams/t/config.json",
  ];
  test.each(guarded)("%s", (path) => {
    const all = { workingDirs: ["/home/ada"], rules: rules({ allow: ["Write", "Edit(**)", "Write(~/**)"] }) };
    expect(ask("acceptEdits", "Write", write(path), all)).toBe("ask");
    expect(ask("default", "Edit", write(path), all)).toBe("ask");
    expect(ask("dontAsk", "Write", write(path), all)).toBe("deny");
    expect(ask("bypassPermissions", "Write", write(path), all)).toBe("allow");
  });

  test("and who reads it is said", () => {
    const why = (name: string) => decideOn("default", "Write", write(`/home/ada/${name}`)).reason;
    expect(why(".inputrc")).toBe("/home/ada/.inputrc is read by shells when they start or end.");
    expect(why(".ssh/rc")).toBe("/home/ada/.ssh/rc is read by ssh, and says who may log in.");
    expect(why("work/.git/config")).toContain("is git's own");
  });

  test("also where the name is a link that leads elsewhere, or leads to one", () => {
    const elsewhere = (path: string): string => path.replace(`${WORK}/.claude`, `${WORK}/shared`);
    const hidden = (path: string): string => path.replace(`${WORK}/hooks`, `${WORK}/.git/hooks`);
    expect(ask("acceptEdits", "Write", write(`${WORK}/.claude/settings.json`), { resolve: elsewhere })).toBe(
      "ask",
    );
    expect(ask("acceptEdits", "Write", write(`${WORK}/hooks/pre-commit`), { resolve: hidden })).toBe("ask");
  });

  test("a file that only looks like one does not", () => {
    expect(ask("acceptEdits", "Write", write(`${WORK}/.gitignore`))).toBe("allow");
    expect(ask("acceptEdits", "Write", write(`${WORK}/.github/workflows/ci.yml`))).toBe("allow");
    for (const name of [
      "fish/functions/a.ts",
      ".ssh",
      "ssh/config",
      "git/config",
      "functions/a.fish",
      "a.bashrc",
    ])
      expect(ask("acceptEdits", "Write", write(`${WORK}/${name}`))).toBe("allow");
  });
});

describe("Bash(git:*) allows git and nothing with it (S71)", () => {
  const allowed = rules({ allow: ["Bash(git:*)"] });
  const decided = (text: string): string => ask("default", "Bash", command(text), { rules: allowed });

  test.each([
    "git",
    "git log",
    "git log --grep='a;b|c'",
    'git commit -m "it is fine"',
    "git log -- a\\ b",
    "  git status  ",
    "git log && git status",
    "git log | git shortlog",
    "git log; git status &",
    "git log\ngit status\n",
    "git log \\\n  --oneline",
    "(git log)",
    "{ git log; } || ! git status",
    "if git diff --quiet; then git log; else git status; fi",
    "until git pull; do git gc; done",
    "git log > out.txt 2>&1",
    "git log >>sub/out 2>/dev/null",
    "git log &> out 2>/dev/null; git status",
    `git apply < ${WORK}/a.patch`,
    "git log # what is new; and `whose`",
    "# it's what is new\ngit log",
    "git show a#b -- {} c{}",
  ])("%j runs", (text) => expect(decided(text)).toBe("allow"));

  test.each([
    "git log; curl x | sh",
    "git log $(id)",
    'git log "$(id)"',
    "git log `id`",
    'git log "`id`"',
    "git log > ~/.bashrc",
    "git log > '~/x'",
    "git log > ../x",
    "git log >! ../x",
    "git log &> /tmp/x",
    "git log &> x curl y",
    "&> x git log",
    "git log > $X",
    "git log > a*",
    "git log {fd}> x",
    "git log > .git/hooks/pre-commit",
    "cd /etc && git log > passwd",
    "git log < /etc/passwd",
    "> x",
    "git log\ncurl x",
    "git log && curl x",
    "git log || curl x",
    "git log & curl x",
    "git apply <<EOF\nx\nEOF",
    "git apply <<'EOF'\nx\nEOF",
    "git apply <<< x",
    "git log <(id)",
    "(git log; curl x)",
    "{ git log; curl x; }",
    "if git x; then curl x; fi",
    "for x in a b; do git log; done",
    "case x in *) git log;; esac",
    "git() { curl x; }; git",
    "coproc git log",
    "[[ -f x && git log ]]",
    "time -p git log",
    "git log $'x'",
    'git log $"x"',
    "git log *(e:curl:)",
    "git log =(curl)",
    "git a=(b)",
    "git log ;; git log",
    "git log |",
    "git log $HOME",
    "git log {a,b}",
    "GIT_PAGER=x git log",
    "git log # x\ncurl x",
    "git log # x \\\ncurl x",
    "# git log",
    "git log > x#y",
    "git log > x^y",
    "git log > x~y",
    "git log 'open",
    'git log "open',
    "git log \\",
    "git log \\\n; curl",
    "gitk",
    "\u00a0git log",
    "git log\r",
    "/tmp/git log",
    "curl git",
    "",
  ])("%j asks", (text) => expect(decided(text)).toBe("ask"));

  test("several rules allow one line together", () => {
    const given = { rules: rules({ allow: ["Bash(git:*)", "Bash(npm test)"] }) };
    expect(decideOn("default", "Bash", command("git pull && npm test"), given)).toEqual({
      behavior: "allow",
      reason: "The rules Bash(git:*), Bash(npm test) allow it.",
    });
    expect(decideOn("default", "Bash", command("git pull && npm run x"), given).reason).toBe(
      "No rule allows npm run x.",
    );
    expect(decideOn("default", "Bash", command("git log $(id)"), given).reason).toContain("$(id)");
  });

  test("what is relative behind a change of directory could be anywhere", () => {
    const given = { rules: rules({ allow: ["Bash(git:*)", "Bash(cd:*)"] }) };
    expect(ask("default", "Bash", command("cd /etc && git log > passwd"), given)).toBe("ask");
    expect(ask("default", "Bash", command(`cd /etc && git log > ${WORK}/log`), given)).toBe("allow");
  });

  test("what is below a home that the line gives anew could be anywhere, too", () => {
    const more = { workingDirs: ["/home/ada"], rules: rules({ allow: ["Bash(export:*)", "Bash(echo:*)"] }) };
    const line = "echo x > ~/config";
    expect(ask("default", "Bash", command(line), more)).toBe("allow");
    expect(ask("default", "Bash", command(`export HOME=${WORK}/.git; ${line}`), more)).toBe("ask");
  });

  test.each([
    ["test", "test -v 'a[$(curl x)]'"],
    ["[", "[ -v 'a[`curl x`]' ]"],
    ["printf", "printf -v 'a[$(curl x)]' b"],
    ["read", "git log | read 'a[$(curl x)]'"],
    ["unset", "unset 'a[$(curl x)]'"],
  ])("%s runs what stands as an index in its words, and asks", (name, text) => {
    const given = { rules: rules({ allow: [`Bash(${name}:*)`, "Bash(git:*)"] }) };
    expect(ask("default", "Bash", command(text), given)).toBe("ask");
    expect(ask("default", "Bash", command(text.replace(/\$\(.*\)|`.*`/, "0")), given)).toBe("allow");
  });

  test("a line longer than any that a person would read is not read", () => {
    expect(decided(`git log ${"x".repeat(70_000)}`)).toBe("ask");
  });
});

describe("what a command redirects to is held against the rules for files", () => {
  const allow = ["Bash(git:*)"];
  test.each<[string, Partial<PermissionRules>, PermissionMode, string]>([
    ["git log > /tmp/x", { allow: [...allow, "Edit(//tmp/**)"] }, "default", "allow"],
    ["git log < /etc/hosts", { allow: [...allow, "Read(//etc/**)"] }, "default", "allow"],
    ["git log > a.env", { allow, deny: ["Edit(*.env)"] }, "acceptEdits", "deny"],
    ["git log < .env", { allow, deny: ["Read(.env)"] }, "bypassPermissions", "deny"],
    ["git log > x", { allow, ask: ["Write(x)"] }, "default", "ask"],
    ["make > /tmp/x", { allow: ["Bash"] }, "default", "allow"],
    ["make > .envrc", { allow: ["Bash"] }, "default", "ask"],
    ["make > ~/.claude/settings.json", { allow: ["Bash"] }, "acceptEdits", "ask"],
    ["make > ~/.claude/settings.json", { allow: ["Bash"] }, "dontAsk", "deny"],
    ["make > ~/.claude/settings.json", {}, "bypassPermissions", "allow"],
    ["make > /tmp/x", { allow: ["Bash"], deny: ["Write(//tmp/**)"] }, "default", "deny"],
  ])("%s under %j in %s: %s", (text, given, mode, expected) => {
    expect(ask(mode, "Bash", command(text), { rules: rules(given) })).toBe(expected);
  });

  test.each([
    "tee .claude/settings.json",
    "git log | sudo tee -a ~/.bashrc",
    "cp a .mcp.json",
    "ln -s .claude link",
    "mkdir -p .claude/hooks",
    "dd if=a of=.git/hooks/pre-commit",
    "sed -i s/a/b/ .envrc",
    "curl -so .git/config x",
    "cd .git && cp ../x config",
    "find . -name x -exec mv {} .ssh/rc ;".replace(";", "\\;"),
    "rm -rf sub/../.git",
    "cp a .c*/settings.json",
    "cp a {.claude,}/settings.json",
    "cp a .{x,claude}/settings.json",
    "cp a {x,.claude}/settings.json",
    "cp a .[c]laude/settings.json",
    "sed -i s/a/b/ .cl*/settings.json",
    "find . -name '.cl*' -exec rm -r {} +",
    "git checkout other -- '.cl*'",
    "git checkout other -- .claude/settings.json",
  ])("%j changes a protected file by the name of its command, and asks whatever allows it", (text) => {
    for (const allow of [
      ["Bash"],
      ["tee", "git", "sudo", "cp", "ln", "mkdir", "dd", "sed", "curl", "cd", "find", "rm"].map(
        (name) => `Bash(${name}:*)`,
      ),
    ]) {
      expect(decideOn("acceptEdits", "Bash", command(text), { rules: rules({ allow }) })).toMatchObject({
        behavior: "ask",
        guarded: true,
      });
      expect(ask("dontAsk", "Bash", command(text), { rules: rules({ allow }) })).toBe("deny");
    }
    expect(ask("bypassPermissions", "Bash", command(text))).toBe("allow");
  });

  test.each([
    "cat .claude/settings.json",
    "git log | tee out",
    "rm *.js sub/*",
    "sed -i 's/.*a/b/' x",
    `sed -i -e "/.*a/d" x`,
    "sed s/a/b/ .envrc",
    "git log -- .claude",
    "grep rm .git/config",
  ])("%j only reads one", (text) => {
    expect(ask("default", "Bash", command(text), { rules: rules({ allow: ["Bash"] }) })).toBe("allow");
  });

  test("that is as long as one may be is judged in the memory that there is", () => {
    const text = `xargs ${"a ".repeat(32_000)}`;
    expect(ask("default", "Bash", command(text), { rules: rules({ allow: ["Bash"] }) })).toBe("allow");
  });

  test("also where a link leads to one", () => {
    const resolve = (path: string) => path.replace(`${WORK}/link`, `${WORK}/.claude`);
    const more = { resolve, rules: rules({ allow: ["Bash"] }) };
    expect(ask("default", "Bash", command("tee link/settings.json"), more)).toBe("ask");
  });

  test("a protected file is said to be one, also where the command would ask anyway", () => {
    const decided = decideOn("default", "Bash", command("make > .envrc"));
    expect(decided).toMatchObject({ behavior: "ask", guarded: true });
    expect(decided.reason).toContain(".envrc");
  });
});

describe("patterns of commands", () => {
  test.each([
    ["Bash(npm run build)", "npm run build", true],
    ["Bash(npm run build)", "npm run build:all", false],
    ["Bash(npm run build)", "npm 'run build'", false],
    ["Bash(npm run:*)", "npm run x y", true],
    ["Bash(npm run:*)", "npm runx", false],
    ["Bash(npm run * --dry)", "npm run a b --dry", true],
    ["Bash(*)", "anything", true],
    ["Bash", "anything; at all", true],
    ["Ba*", "anything", true],
    ["Bash(git", "git log", false],
    ["Read(git:*)", "git log", false],
  ])("%s and %j", (rule, text, matches) => {
    const decided = ask("default", "Bash", command(text), { rules: rules({ allow: [rule] }) });
    expect(decided).toBe(matches ? "allow" : "ask");
  });

  test.each([
    "rm -rf /",
    "ls; rm x",
    "ls && /bin/rm x",
    "echo $(rm x)",
    'echo "$(rm x)"',
    "sudo -u root rm x",
    "A=1 B=2 rm x",
    "find . -exec rm x +",
    "xargs rm",
    "ls |\nrm x",
    "r''m x",
    "bash -c 'rm x'",
    "if true; then rm x; fi",
    "env -i rm x",
    "timeout 5 rm x",
    "$'\\x72m' x",
    "eval r'm' x",
    "sh -c \"sh -c 'r\\m x'\"",
    "f() { rm x; }; f",
    "case x in *) rm x;; esac",
    "cat <<EOF\n$(rm x)\nEOF",
    'echo "\x24{x:-$(rm x)}"',
    "echo $((`rm x`))",
    "coproc rm x",
    "{rm,-rf,x}",
    "r{m,} x",
    "{r,}{m,} x",
    "rm$IFS x",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell expands
    "rm${IFS}x",
    "flock l rm x",
    "taskset 1 rm x",
    "sg grp 'rm x'",
    "git -c alias.x='!rm x' x",
    // What zsh has in front of a command.
    "noglob rm x",
    "nocorrect rm x",
    "- rm x",
    "repeat 3 rm x",
  ])("%j is denied by Bash(rm:*)", (text) => {
    expect(ask("bypassPermissions", "Bash", command(text), { rules: rules({ deny: ["Bash(rm:*)"] }) })).toBe(
      "deny",
    );
  });

  test.each([
    "git -C . push",
    "git -c a.b=c push",
    "git --no-pager push x",
    "sudo git -C a --git-dir=b -p push",
  ])("%j is denied by Bash(git push:*)", (text) => {
    const given = { rules: rules({ deny: ["Bash(git push:*)"] }) };
    expect(ask("bypassPermissions", "Bash", command(text), given)).toBe("deny");
    expect(ask("bypassPermissions", "Bash", command("git -C . log push"), given)).toBe("allow");
  });

  test("a deny rule leaves what only looks alike", () => {
    const given = { rules: rules({ deny: ["Bash(rm:*)"] }) };
    for (const text of ["rmdir x", "ls rm.txt", "git rm-like", "echo {a,rm}", "git commit -m 'a, rm b'"]) {
      expect(ask("bypassPermissions", "Bash", command(text), given)).toBe("allow");
    }
  });
});

describe("what takes a rule long to decide", () => {
  test("is no pattern with many stars, whoever wrote it", () => {
    const deny = rules({ deny: [`Bash(${"*a".repeat(30)}*b)`] });
    const since = performance.now();
    expect(ask("bypassPermissions", "Bash", command(`echo ${"a".repeat(5000)}`), { rules: deny })).toBe(
      "allow",
    );
    expect(ask("bypassPermissions", "Bash", command(`echo ${"a".repeat(50)} b`), { rules: deny })).toBe(
      "deny",
    );
    expect(performance.now() - since).toBeLessThan(1000);
  });

  test("is no pattern of paths that a name was made for: it refuses, and allows nothing", () => {
    const name = `${WORK}/${"a".repeat(200)}`;
    const since = performance.now();
    for (const pattern of [`${"*a".repeat(20)}b`, `${"{a,a}".repeat(30)}*b`]) {
      const rule = `Read(${pattern})`;
      const denied = { rules: rules({ deny: [rule] }) };
      expect(ask("bypassPermissions", "Read", read(`${WORK}/c`), denied)).toBe("allow");
      expect(ask("bypassPermissions", "Read", read(name), denied)).toBe("deny");
      const elsewhere = { workingDirs: ["/else"], rules: rules({ allow: [`Read(/${WORK}/${pattern})`] }) };
      expect(ask("default", "Read", read(name), elsewhere)).toBe("ask");
    }
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  test("is no rule of blanks, and no group of commas", () => {
    const since = performance.now();
    for (const rule of [`mcp__${" ".repeat(2000)}(`, `Bash(x${" ".repeat(60_000)}y)`]) {
      ask("bypassPermissions", "Bash", LOG, { rules: rules({ deny: [rule] }) });
    }
    const commas = command(`echo {${",".repeat(60_000)}`);
    expect(ask("bypassPermissions", "Bash", commas, { rules: rules({ deny: ["Bash(rm:*)"] }) })).toBe(
      "allow",
    );
    expect(performance.now() - since).toBeLessThan(5000);
  });

  test("is no script in a script in a script: only so many, and so much of them, are looked into", () => {
    const wide = "sh -c 'sh -c x' ".repeat(4000);
    const deep = `${"sh $(".repeat(250)}x${")".repeat(250)}`;
    expect(readShellLine(wide).mentioned.length).toBeLessThan(10);
    expect(readShellLine(deep).mentioned.length).toBeLessThan(10_000);
    const deny = rules({ deny: ["Bash(rm:*)"] });
    for (const text of [wide, deep]) {
      expect(ask("bypassPermissions", "Bash", command(`${text}; rm x`), { rules: deny })).toBe("deny");
    }
  });

  test("is no long command behind sudo, which could be any of its words", () => {
    const deny = rules({ deny: ["Bash(rm:*)"] });
    const long = `sudo ${"a ".repeat(6000)}`;
    const before = process.memoryUsage().heapUsed;
    expect(ask("bypassPermissions", "Bash", command(long), { rules: deny })).toBe("allow");
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200e6);
    expect(ask("bypassPermissions", "Bash", command(`${long} rm -r x`), { rules: deny })).toBe("deny");
  });
});

describe("names of tools in rules", () => {
  test.each([
    ["Task", "Agent", { kind: "team" }],
    ["Agent(tester)", "Agent", { kind: "team", what: "tester" }],
    ["Task(explore)", "Agent", { kind: "team", what: "Explore" }],
    ["TaskUpdate", "TaskUpdate", { kind: "team" }],
    ["bash", "Bash", command("ls")],
    ["BASH(ls:*)", "Bash", command("ls")],
    ["read(.env)", "Read", read(`${WORK}/.env`)],
    ["edit(.env)", "Write", write(`${WORK}/.env`)],
    ["MCP__files", "mcp__files__read", EXTERNAL],
  ] as [string, string, ToolAccess][])("%s denies %s, as it is meant", (rule, tool, access) => {
    expect(ask("bypassPermissions", tool, access, { rules: rules({ deny: [rule] }) })).toBe("deny");
    for (const mode of ["bypassPermissions", "delegate"] as const)
      expect(ask(mode, tool, access, { rules: rules({ ask: [rule] }) })).toBe("ask");
  });

  test.each(["Agent(tester)", "Agent(test*)", "TaskCreate(tester)"])(
    "%s is about no other type of agent",
    (rule) => {
      const other = { kind: "team", what: "Explore" } as const;
      expect(ask("default", "Agent", other, { rules: rules({ deny: [rule], ask: [rule] }) })).toBe("allow");
    },
  );

  test.each(["Bash(ls:*", "Bash(ls:*))x", "Bash ls", "bash(touch"])(
    "%s, which is no rule, denies all of it",
    (rule) => {
      expect(ask("bypassPermissions", "Bash", command("ls"), { rules: rules({ deny: [rule] }) })).toBe(
        "deny",
      );
      expect(ask("default", "Bash", command("ls"), { rules: rules({ allow: [rule] }) })).toBe("ask");
      expect(ask("default", "Read", read(`${WORK}/a`), { rules: rules({ deny: [rule] }) })).toBe("allow");
    },
  );

  test("one that is cut off says so where it refuses", () => {
    const why = (given: Partial<PermissionRules>) =>
      decideOn("default", "Bash", LOG, { rules: rules(given) }).reason;
    expect(why({ deny: ["Bash(rm:*"] })).toContain("not a whole rule, and so about every call");
    expect(why({ ask: ["Bash(rm:*"] })).toContain("not a whole rule, and so about every call");
    expect(why({ deny: ["Bash"] })).not.toContain("whole rule");
  });

  test("an allowance is for the name as it is", () => {
    for (const rule of ["bash", "BASH(ls)", "bash(ls:*)"])
      expect(ask("default", "Bash", command("ls"), { rules: rules({ allow: [rule] }) })).toBe("ask");
  });
});

describe("rules for the tools of servers", () => {
  const said = (kind: "allow" | "deny", rule: string, server: string, tool: string, known = true): string => {
    const given = { rules: rules({ [kind]: [rule] }), ...(known && { served: { server, tool } }) };
    const mode = kind === "allow" ? "dontAsk" : "bypassPermissions";
    const { behavior } = decideOn(mode, mcpToolName(server, tool), EXTERNAL, given);
    return behavior;
  };

  test.each([
    ["mcp__my server", "my server", "find"],
    ["mcp__my_server", "my server", "find"],
    ["mcp__a.b", "a.b", "find"],
    ["mcp__a.b__find", "a.b", "find"],
    ["mcp__a/b__*", "a/b", "find"],
    ["mcp__hub", "hub", "github__find"],
    ["mcp__hub__*", "hub", "github__find"],
    ["mcp__hub__github__*", "hub", "github__find"],
    ["mcp__*", "a__b", "find"],
    ["mcp__do*", "docs", "find"],
    [`mcp__${"long-".repeat(15)}`, "long-".repeat(15), "find"],
    [`mcp__s__${"long-".repeat(15)}`, "s", "long-".repeat(15)],
  ])("%s is of the server %s, by what the settings call it or its tools", (rule, server, tool) => {
    expect([said("allow", rule, server, tool), said("deny", rule, server, tool)]).toEqual(["allow", "deny"]);
  });

  test.each([
    ["mcp__docs", "docs__evil", "Bash"],
    ["mcp__docs__evil", "docs", "evil__Bash"],
    ["mcp__docs", "docs_evil", "Bash"],
    ["mcp__docs__find", "docs", "find_all"],
  ])("%s has nothing of the server %s", (rule, server, tool) => {
    expect([said("allow", rule, server, tool), said("deny", rule, server, tool)]).toEqual(["deny", "allow"]);
  });

  test.each([
    ["mcp__docs__*", "docs__evil", "Bash"],
    ["mcp__docs__*", "docs_", "Bash"],
    ["mcp__docs__e*", "docs__evil", "Bash"],
  ])("%s denies, but does not allow, what of the server %s is called so", (rule, server, tool) => {
    expect([said("allow", rule, server, tool), said("deny", rule, server, tool)]).toEqual(["deny", "deny"]);
  });

  test("where nobody knows whose a tool is, an allowance is for names of two parts, a denial for all", () => {
    for (const rule of ["mcp__docs", "mcp__docs__*"]) {
      expect(said("allow", rule, "docs", "find", false)).toBe("allow");
      for (const server of ["docs__evil", "docs_"]) {
        expect(said("allow", rule, server, "find", false)).toBe("deny");
        expect(said("deny", rule, server, "find", false)).toBe("deny");
      }
    }
  });

  test("upper and lower case lift no denial", () => {
    expect(said("deny", "MCP__My Server", "my server", "Find")).toBe("deny");
    expect(said("deny", "mcp__my server__find(", "My Server", "Find")).toBe("deny");
    expect(said("allow", "mcp__My server", "my server", "find")).toBe("deny");
  });
});

describe("patterns of paths", () => {
  test("a refusal holds in upper and lower case, which are one to some file systems; an allowance does not", () => {
    const given = rules({ deny: ["Read(.env)"], allow: ["Read(//srv/docs/**)"] });
    expect(ask("default", "Read", read(`${WORK}/.ENV`), { rules: given })).toBe("deny");
    expect(ask("default", "Read", read("/srv/docs/a"), { rules: given })).toBe("allow");
    expect(ask("default", "Read", read("/srv/docs/../DOCS/a"), { rules: given })).toBe("ask");
  });

  test("nor do other letters that are one to them", () => {
    const given = rules({ deny: ["Read(schlüssel)", "Read(secrets/**)"], allow: ["Read(//srv/schlüssel)"] });
    const said = (path: string) => ask("default", "Read", read(path), { rules: given });
    const otherwise = "schlüssel".normalize("NFD");
    expect(said(`${WORK}/${otherwise}`)).toBe("deny");
    expect(said(`${WORK}/\u017fecrets/a`)).toBe("deny");
    expect(said("/srv/schlüssel")).toBe("allow");
    expect(said(`/srv/${otherwise}`)).toBe("ask");
  });

  test.each([
    ["Read(~/**)", "/home/ada/x/y", true],
    ["Read(~/**)", "/home/bob/x", false],
    ["Read(~/notes)", "/home/ada/notes/a/b", true],
    ["Read(*.md)", `${WORK}/deep/er/a.md`, true],
    ["Read(*.md)", "/else/a.md", false],
    ["Read(docs/)", `${WORK}/docs/a`, true],
    ["Read(docs/*.md)", `${WORK}/docs/a.md`, true],
    ["Read(docs/*.md)", `${WORK}/x/docs/a.md`, false],
    ["Read(./docs/**)", `${WORK}/docs/.hidden/a`, true],
    ["Read(../other/**)", "/home/ada/other/a", true],
    ["Read(//var/log/**)", "/var/log/x/y", true],
    ["Read(/var/log/**)", "/var/log/x", true],
    ["Read(/docs/**)", `${WORK}/docs/x`, true],
  ])("%s and %s", (rule, path, matches) => {
    const decided = ask("default", "Read", read(path), {
      workingDirs: [WORK],
      rules: rules({ deny: [rule] }),
    });
    expect(decided === "deny").toBe(matches);
  });

  test("links are followed: an allowance holds for where they lead, a refusal for both ends", () => {
    const resolve = (path: string): string => path.replace(`${WORK}/link`, "/etc");
    const more = { resolve };
    expect(ask("default", "Read", read(`${WORK}/link/passwd`), more)).toBe("ask");
    expect(ask("acceptEdits", "Write", write(`${WORK}/link/passwd`), more)).toBe("ask");
    const denied = { ...more, rules: rules({ deny: ["Read(link/**)"] }) };
    expect(ask("default", "Read", read(`${WORK}/link/passwd`), denied)).toBe("deny");
    expect(
      ask("default", "Read", read(`${WORK}/link/passwd`), {
        ...more,
        rules: rules({ deny: ["Read(//etc/**)"] }),
      }),
    ).toBe("deny");
  });

  test.each([
    ["Read(~/.ssh/**)", "/real/ada/.ssh/id"],
    ["Read(~/.netrc)", "/real/ada/.netrc"],
    ["Read(~/.ssh)", "/real/ada/.ssh/id"],
    ["Read(//home/ada/.s*/**)", "/real/ada/.ssh/id"],
    ["Read(keys/**)", `${WORK.replace("/home", "/real")}/keys/id`],
  ])("a denial is about the place that %s names by way of a link, under its other name", (rule, path) => {
    const resolve = (named: string): string => named.replace(/^\/home\/ada(?=\/|$)/, "/real/ada");
    const more = { resolve, rules: rules({ deny: [rule] }) };
    expect(ask("bypassPermissions", "Read", read(path), more)).toBe("deny");
    expect(ask("bypassPermissions", "Read", read("/real/ada/else"), more)).toBe("allow");
  });

  test("what cannot be resolved asks", () => {
    const resolve = (path: string): string => {
      if (path.endsWith("loop")) throw new Error("ELOOP");
      return path;
    };
    expect(ask("default", "Read", read(`${WORK}/loop`), { resolve })).toBe("ask");
  });
});

test("what its own commands printed may be read outside of the working directories, and nothing more done there", () => {
  const readDirs = ["/tmp/teams-1/-work/tasks"];
  const file = "/tmp/teams-1/-work/tasks/bash-1.output";
  expect(ask("default", "Read", read(file), { readDirs })).toBe("allow");
  expect(ask("dontAsk", "Grep", read("/tmp/teams-1/-work/tasks"), { readDirs })).toBe("allow");
  expect(ask("acceptEdits", "Write", write(file), { readDirs })).toBe("ask");
  expect(ask("default", "Read", read("/tmp/teams-1/-work/tasks/../../x"), { readDirs })).toBe("ask");
  // A link among them leads to where it leads.
  const resolve = (path: string): string => (path === file ? "/etc/passwd" : path);
  expect(ask("default", "Read", read(file), { readDirs, resolve })).toBe("ask");
  expect(ask("default", "Read", read(file), { readDirs, rules: rules({ deny: ["Read"] }) })).toBe("deny");
});

describe("the notes of an agent", () => {
  const NOTES = "/home/ada/.claude/agent-memory/scribe";
  const notes = (mode: PermissionMode, access: ToolAccess, more: Partial<PermissionQuestion> = {}) =>
    ask(mode, "Write", access, { notes: NOTES, ...more });

  test.each<[string, ToolAccess, string]>([
    ["are written without asking", write(`${NOTES}/MEMORY.md`), "allow"],
    ["also further down", write(`${NOTES}/more/build.md`), "allow"],
    ["are read", read(`${NOTES}/more/build.md`), "allow"],
    ["are Markdown alone", write(`${NOTES}/run.sh`), "ask"],
    ["are not hidden", write(`${NOTES}/.git/hooks/x.md`), "ask"],
    ["are not another's", write(`${NOTES}-2/MEMORY.md`), "ask"],
    ["are not the settings beside them", write("/home/ada/.claude/settings.json"), "ask"],
  ])("%s", (_title, access, answer) => {
    expect(notes("default", access)).toBe(answer);
  });

  test("stand below what is denied, asked for, or planned", () => {
    const note = write(`${NOTES}/MEMORY.md`);
    expect(notes("default", note, { rules: rules({ deny: ["Write"] }) })).toBe("deny");
    expect(notes("default", note, { rules: rules({ ask: ["Write"] }) })).toBe("ask");
    expect(notes("plan", note)).toBe("deny");
    expect(notes("dontAsk", note)).toBe("allow");
  });

  test("are where links lead, not what they are called", () => {
    const resolve = (path: string) => path.replace(`${NOTES}/link.md`, "/home/ada/.bashrc");
    expect(notes("default", write(`${NOTES}/link.md`), { resolve })).toBe("ask");
  });
});
