import { describe, expect, test } from "vitest";
import { mcpToolName } from "../../../../src/agent/mcp/mcp-tool.ts";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import type { PermissionQuestion } from "../../../../src/agent/permissions/question.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { readShellLine } from "../../../../src/agent/permissions/shell-line.ts";
import type { ToolAccess } from "../../../../src/agent/tool.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { script } from "../../../support/processes/script-process.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

/** Starts a process that decides commands, with little memory. */
const decide = script("decide-command", ["env", "NODE_OPTIONS=--max-old-space-size=100"]);

const WORK = "/home/ada/project";
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

/** Answers in the modes default, acceptEdits, plan, bypassPermissions, dontAsk and delegate (of a teammate). */
function answers(line: string): Record<PermissionMode, string> {
  const words = line.split(/\s+/);
  return Object.fromEntries(PERMISSION_MODES.map((mode, i) => [mode, words[i]])) as Record<
    PermissionMode,
    string
  >;
}

const WITHOUT_A_RULE: Row[] = [
  [
    "a read inside the working directory",
    "Read",
    read(`${WORK}/a.ts`),
    answers("allow allow allow allow allow allow"),
  ],
  [
    "a read of the working directory itself",
    "Grep",
    read(WORK),
    answers("allow allow allow allow allow allow"),
  ],
  ["a read outside", "Read", read("/etc/passwd"), answers("ask ask ask allow deny ask")],
  [
    "a read of a directory whose name begins with the same characters",
    "Read",
    read(`${WORK}-2/a`),
    answers("ask ask ask allow deny ask"),
  ],
  ["a write inside", "Write", write(`${WORK}/a.ts`), answers("ask allow deny allow deny ask")],
  ["an edit inside", "Edit", write(`${WORK}/a.ts`), answers("ask allow deny allow deny ask")],
  ["a write outside", "Write", write("/tmp/x"), answers("ask ask deny allow deny ask")],
  [
    "a write inside and outside",
    "Write",
    write(`${WORK}/a`, "/tmp/x"),
    answers("ask ask deny allow deny ask"),
  ],
  ["a write of the agent's own plan file", "Write", write(PLAN), answers("ask ask allow allow deny ask")],
  ["a read of the agent's own plan file", "Read", read(PLAN), answers("allow allow allow allow allow allow")],
  ["a read of another plan", "Read", read(`${PLAN}.md`), answers("ask ask ask allow deny ask")],
  ["a command", "Bash", command("touch a"), answers("ask ask deny allow deny ask")],
  ["an MCP tool", "mcp__files__read", { kind: "external" }, answers("ask ask deny allow deny ask")],
  ["a team tool", "SendMessage", { kind: "team" }, answers("allow allow allow allow allow allow")],
  ["a third-party CLI", "Agent", { kind: "team", cli: "codex" }, answers("ask ask ask allow deny ask")],
];

describe.each(WITHOUT_A_RULE)("%s without a rule", (_, tool, access, expected) => {
  test.each(PERMISSION_MODES.map((mode) => [mode, expected[mode]] as const))(
    "in mode %s: %s",
    (mode, answer) => {
      expect(ask(mode, tool, access)).toBe(answer);
    },
  );
});

const PUSH = command("git push origin");
const EXTERNAL: ToolAccess = { kind: "external" };
const ALL = "allow allow allow allow allow allow";
const WITH_RULES: [string, PermissionRules, string, ToolAccess, Record<PermissionMode, string>][] = [
  ...["mcp__files", "mcp__files__*", "mcp__files__read"].map(
    (rule): [string, PermissionRules, string, ToolAccess, Record<PermissionMode, string>] => [
      `an MCP tool allowed by ${rule}`,
      rules({ allow: [rule] }),
      "mcp__files__read",
      EXTERNAL,
      answers("allow allow deny allow allow allow"),
    ],
  ),
  [
    "an MCP tool with an allow rule that has a pattern",
    rules({ allow: ["mcp__files__read(/tmp/**)"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("ask ask deny allow deny ask"),
  ],
  [
    "an MCP tool with a deny rule that has a pattern",
    rules({ allow: ["mcp__files"], deny: ["mcp__files__read(/tmp/**)"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("deny deny deny deny deny deny"),
  ],
  [
    "an MCP tool with allow rules for names that only begin with the same characters",
    rules({ allow: ["mcp__file", "mcp__files__rea"] }),
    "mcp__files__read",
    EXTERNAL,
    answers("ask ask deny allow deny ask"),
  ],
  [
    "an allowed command",
    rules({ allow: ["Bash(git push:*)"] }),
    "Bash",
    PUSH,
    answers("allow allow deny allow allow allow"),
  ],
  [
    "a denied command",
    rules({ deny: ["Bash(git:*)"], allow: ["Bash"] }),
    "Bash",
    PUSH,
    answers("deny deny deny deny deny deny"),
  ],
  [
    "a command with an ask rule and an allow rule",
    rules({ ask: ["Bash(git:*)"], allow: ["Bash"] }),
    "Bash",
    PUSH,
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
  test.each(PERMISSION_MODES.map((mode) => [mode, expected[mode]] as const))(
    "in mode %s: %s",
    (mode, answer) => {
      expect(ask(mode, tool, access, { rules: given })).toBe(answer);
    },
  );
});

/** Each kind of tool with the answers without a rule, with an allow rule and with an ask rule, as in {@link answers}. */
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
    PUSH,
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
  "%s access: deny beats ask, and ask beats allow, in every mode",
  (_, tool, access, none, allow, asks) => {
    const denied = PERMISSION_MODES.map(() => "deny").join(" ");
    test.each<[string, Partial<PermissionRules>, string]>([
      ["no rule", {}, none],
      ["an allow rule", { allow: [tool] }, allow],
      ["an ask rule", { ask: [tool] }, asks],
      ["ask and allow rules", { ask: [tool], allow: [tool] }, asks],
      ["a deny rule", { deny: [tool] }, denied],
      ["deny and allow rules", { deny: [tool], allow: [tool] }, denied],
      ["deny and ask rules", { deny: [tool], ask: [tool] }, denied],
      ["all three kinds of rules", { deny: [tool], ask: [tool], allow: [tool] }, denied],
      ["rules for another tool", { deny: ["Else"], ask: ["Else"], allow: ["Else"] }, none],
    ])("%s", (_rule, given, expected) => {
      const decided = PERMISSION_MODES.map((mode) => ask(mode, tool, access, { rules: rules(given) }));
      expect(decided.join(" ")).toBe(expected);
    });
  },
);

describe("a lead that only coordinates (S53)", () => {
  test.each([
    ["Read", read(`${WORK}/a`), "deny"],
    ["Write", write(`${WORK}/a`), "deny"],
    ["Bash", PUSH, "deny"],
    ["TaskCreate", { kind: "team" } as ToolAccess, "allow"],
  ])("may use team tools only, even with allow rules: %s", (tool, access, expected) => {
    const allowAll = rules({ allow: ["Read", "Write", "Bash"] });
    expect(ask("delegate", tool, access, { coordinator: true, rules: allowAll })).toBe(expected);
    expect(ask("delegate", tool, access, { rules: allowAll })).toBe("allow");
  });
});

describe("writes to protected files ask despite any allow rule (S73)", () => {
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
      "bin/ls",
      ".config/autostart/a.desktop",
      // A file system that ignores case treats a long s like any other s.
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

  test("the reason names the program that reads the file", () => {
    const why = (name: string) => decideOn("default", "Write", write(`/home/ada/${name}`)).reason;
    expect(why(".inputrc")).toBe("/home/ada/.inputrc is read by shells when they start or end.");
    expect(why(".ssh/rc")).toBe("/home/ada/.ssh/rc is read by ssh, which can allow logins with it.");
    expect(why("work/.git/config")).toContain("belongs to git");
  });

  test("~/bin asks unless it is a working directory, and another bin does not", () => {
    const asked = (path: string, ...workingDirs: string[]): string =>
      ask("acceptEdits", "Write", write(path), { workingDirs });
    expect(asked("/home/ada/bin/ls", "/home/ada")).toBe("ask");
    expect(asked("/home/ada/bin/ls", "/home/ada/bin")).toBe("allow");
    expect(asked("/home/ada/bin/deep/ls", "/home/ada/bin/deep")).toBe("allow");
    expect(asked("/home/ada/project/bin/ls", "/home/ada")).toBe("allow");
    const resolve = (path: string): string => path.replace("/home/ada/bin", "/home/ada/dotfiles/programs");
    const linked = { workingDirs: ["/home/ada"], resolve };
    for (const path of ["/home/ada/bin/ls", "/home/ada/dotfiles/programs/ls"])
      expect(ask("acceptEdits", "Write", write(path), linked)).toBe("ask");
  });

  test("a link that has a protected name, or leads to a protected file, asks as well", () => {
    const elsewhere = (path: string): string => path.replace(`${WORK}/.claude`, `${WORK}/shared`);
    const hidden = (path: string): string => path.replace(`${WORK}/hooks`, `${WORK}/.git/hooks`);
    expect(ask("acceptEdits", "Write", write(`${WORK}/.claude/settings.json`), { resolve: elsewhere })).toBe(
      "ask",
    );
    expect(ask("acceptEdits", "Write", write(`${WORK}/hooks/pre-commit`), { resolve: hidden })).toBe("ask");
  });

  test("a file with a similar name is not protected", () => {
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

describe("the rule Bash(git:*) allows git and no other command (S71)", () => {
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
  ])("allows %j", (text) => expect(decided(text)).toBe("allow"));

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
  ])("asks for %j", (text) => expect(decided(text)).toBe("ask"));

  test("several rules can allow one line together", () => {
    const given = { rules: rules({ allow: ["Bash(git:*)", "Bash(npm test)"] }) };
    expect(decideOn("default", "Bash", command("git pull && npm test"), given)).toEqual({
      behavior: "allow",
      reason: "The rules Bash(git:*), Bash(npm test) allow it.",
    });
    expect(decideOn("default", "Bash", command("git pull && npm run x"), given).reason).toBe(
      "No rule allows npm run x.",
    );
    expect(decideOn("default", "Bash", command("npx eslint ."), given).reason).toBe(
      "No rule allows npx eslint .",
    );
    expect(decideOn("default", "Bash", command("git -C sub log && git --foo log"), given).reason).toBe(
      "No rule allows git --foo log: Bash(git:*) does not name --foo.",
    );
    expect(decideOn("default", "Bash", command("git log $(id)"), given).reason).toContain("$(id)");
  });

  test("git in another repository asks, and the reason names that repository", () => {
    const files = [".git", "evil/HEAD", "evil/objects", "evil/refs", "x.git/HEAD"].map(
      (name) => `${WORK}/${name}`,
    );
    const exists = (path: string): boolean => files.includes(path);
    const more = { exists, isPlain: () => false, localRemotes: () => [] };
    const reason = (text: string, ...allow: string[]): string =>
      decideOn("default", "Bash", command(text), { ...more, rules: rules({ allow }) }).reason;
    const named = `git may run programs that a repository in ${WORK}/evil names.`;
    expect(reason("cd evil && git status", "Bash(cd:*)", "Bash(git:*)")).toBe(
      `No rule allows git status: ${named}`,
    );
    expect(reason("cd evil && git status", "Bash(git:*)")).toBe(`No rule allows cd evil: ${named}`);
    expect(reason("git push x.git", "Bash(git:*)")).toContain("run the hooks of a repository");
    expect(reason("cd a; cd b; cd c; cd d; cd e; cd f; git status", "Bash(cd:*)", "Bash(git:*)")).toContain(
      "in one of the command's many directories",
    );
    expect(reason("git push", "Bash(npm:*)")).toBe("No rule allows git push.");
  });

  test("the reason says why a line asks although rules cover its commands, or although it only reads", () => {
    const reason = (text: string): string =>
      decideOn("default", "Bash", command(text), {
        exists: () => false,
        list: () => ["-x"],
        isPlain: () => true,
        rules: rules({ allow: ["Bash(tar:*)", "Bash(echo:*)", "Bash(alias:*)", "Bash(sort:*)"] }),
      }).reason;
    expect(reason("tar xf a.tar && git log")).toBe(
      "No rule allows git log: another command may create a file that it reads.",
    );
    expect(reason("tar xf a.tar; echo a > b")).toBe(
      "No rule allows a redirection from or to b: another command may put a link in its place.",
    );
    expect(reason("alias a=b\necho a")).toBe("No rule allows alias a=b: it redefines the name of a command.");
    expect(reason("sort *")).toBe(
      "No rule allows sort *: a file name that its pattern matches may be an option.",
    );
  });

  test("a relative path after a change of directory asks", () => {
    const given = { rules: rules({ allow: ["Bash(git:*)", "Bash(cd:*)"] }) };
    expect(ask("default", "Bash", command("cd /etc && git log > passwd"), given)).toBe("ask");
    expect(ask("default", "Bash", command(`cd /etc && git log > ${WORK}/log`), given)).toBe("allow");
  });

  test("asks about a path in a home directory that the line itself sets", () => {
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
  ])("%s with a command substitution in an array index asks", (name, text) => {
    const given = { rules: rules({ allow: [`Bash(${name}:*)`, "Bash(git:*)"] }) };
    expect(ask("default", "Bash", command(text), given)).toBe("ask");
    expect(ask("default", "Bash", command(text.replace(/\$\(.*\)|`.*`/, "0")), given)).toBe("allow");
  });

  test("a very long line asks", () => {
    expect(decided(`git log ${"x".repeat(70_000)}`)).toBe("ask");
  });
});

describe("redirections are checked against the rules for files", () => {
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
  ])("%s under %j in mode %s gives %s", (text, given, mode, expected) => {
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
  ])("%j changes a protected file and asks despite any allow rule", (text) => {
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
  ])("%j changes no protected file and is allowed", (text) => {
    expect(ask("default", "Bash", command(text), { rules: rules({ allow: ["Bash"] }) })).toBe("allow");
  });

  test("xargs with a line of maximum length is decided within the memory limit", () => {
    const text = `xargs ${"aaaaaaa ".repeat(7_990)}`;
    expect(ask("default", "Bash", command(text), { rules: rules({ allow: ["Bash"] }) })).toBe("allow");
  });

  test("a link to a protected file asks", () => {
    const resolve = (path: string) => path.replace(`${WORK}/link`, `${WORK}/.claude`);
    const more = { resolve, rules: rules({ allow: ["Bash"] }) };
    expect(ask("default", "Bash", command("tee link/settings.json"), more)).toBe("ask");
  });

  test("the answer reports a protected file even if the command would ask anyway", () => {
    const decided = decideOn("default", "Bash", command("make > .envrc"));
    expect(decided).toMatchObject({ behavior: "ask", guarded: true });
    expect(decided.reason).toContain(".envrc");
  });
});

describe("command patterns", () => {
  test.each([
    'export A="b c"',
    "declare A='b c'",
    "alias ll='ls -l'",
    'typeset -x A="b"" c"',
    "export A+='b c'",
  ])("a deny rule for %j denies this command, alone and with others", (text) => {
    const given = { rules: rules({ deny: [`Bash(${text})`] }) };
    expect(ask("bypassPermissions", "Bash", command(text), given)).toBe("deny");
    expect(ask("bypassPermissions", "Bash", command(`ls && ${text}; id`), given)).toBe("deny");
    expect(ask("bypassPermissions", "Bash", command(text.replace("b", "d").replace("-l", "-a")), given)).toBe(
      "allow",
    );
  });

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
    ["Bash(git", "git push", false],
    ["Read(git:*)", "git push", false],
  ])("the rule %s against %j matches: %s", (rule, text, matches) => {
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
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell expands it
    "rm${IFS}x",
    "flock l rm x",
    "taskset 1 rm x",
    "sg grp 'rm x'",
    "git -c alias.x='!rm x' x",
    // Words that zsh accepts before a command.
    "noglob rm x",
    "nocorrect rm x",
    "- rm x",
    "repeat 3 rm x",
  ])("Bash(rm:*) denies %j", (text) => {
    expect(ask("bypassPermissions", "Bash", command(text), { rules: rules({ deny: ["Bash(rm:*)"] }) })).toBe(
      "deny",
    );
  });

  test.each([
    "git -C . push",
    "git -c a.b=c push",
    "git --no-pager push x",
    "sudo git -C a --git-dir=b -p push",
  ])("Bash(git push:*) denies %j", (text) => {
    const given = { rules: rules({ deny: ["Bash(git push:*)"] }) };
    expect(ask("bypassPermissions", "Bash", command(text), given)).toBe("deny");
    expect(ask("bypassPermissions", "Bash", command("git -C . log push"), given)).toBe("allow");
  });

  test("a deny rule ignores commands and words that only look alike", () => {
    const given = { rules: rules({ deny: ["Bash(rm:*)"] }) };
    for (const text of ["rmdir x", "ls rm.txt", "git rm-like", "echo {a,rm}", "git commit -m 'a, rm b'"]) {
      expect(ask("bypassPermissions", "Bash", command(text), given)).toBe("allow");
    }
  });
});

describe("costly rules and commands", () => {
  test("a command pattern with many stars is decided in time", () => {
    const deny = rules({ deny: [`Bash(${"*a".repeat(30)}*b)`] });
    const decide = (text: string) => ask("bypassPermissions", "Bash", command(text), { rules: deny });
    expect(decide(`echo ${"a".repeat(50)} b`)).toBe("deny");
    expect(decide(`echo ${"a".repeat(5_000)}`)).toBe("allow");
    const growing = growth(2_000, (size) => `echo ${"a".repeat(size)}`, decide);
    expect(growing).toBeLessThan(MAX_GROWTH);
  });

  test("a path pattern that takes too long denies and never allows", () => {
    const name = `${WORK}/${"a".repeat(200)}`;
    // Without a time limit, each of these patterns could take years.
    for (const pattern of [`${"*a".repeat(20)}b`, `${"{a,a}".repeat(30)}*b`]) {
      const denied = { rules: rules({ deny: [`Read(${pattern})`] }) };
      expect(ask("bypassPermissions", "Read", read(`${WORK}/c`), denied)).toBe("allow");
      expect(ask("bypassPermissions", "Read", read(name), denied)).toBe("deny");
      const elsewhere = { workingDirs: ["/else"], rules: rules({ allow: [`Read(/${WORK}/${pattern})`] }) };
      expect(ask("default", "Read", read(name), elsewhere)).toBe("ask");
    }
  });

  test("a rule full of spaces and a brace group of commas are decided in time", () => {
    const denies = (deny: string, access = PUSH) =>
      ask("bypassPermissions", "Bash", access, { rules: rules({ deny: [deny] }) });
    const spaces = [
      (size: number) => `mcp__${" ".repeat(size)}(`,
      (size: number) => `Bash(x${" ".repeat(size)}y)`,
    ];
    for (const ruleOf of spaces)
      expect(growth(7_500, ruleOf, (rule) => denies(rule))).toBeLessThan(MAX_GROWTH);
    const commas = (size: number) => command(`echo {${",".repeat(size)}`);
    const growing = growth(7_500, commas, (access) => denies("Bash(rm:*)", access));
    expect(growing).toBeLessThan(MAX_GROWTH);
    expect(denies("Bash(rm:*)", commas(60_000))).toBe("allow");
  });

  test.each(["find . -exec ", "declare a=(", "$(("])(
    "a line that only repeats %j is decided in time",
    (text) => {
      const lineOf = (size: number) => command(text.repeat(Math.floor(size / text.length)));
      const denying = { rules: rules({ allow: ["Bash"], deny: ["Bash(rm:*)"] }) };
      const decide = (line: ToolAccess) => [
        ask("default", "Bash", line),
        ask("default", "Bash", line, denying),
      ];
      expect(decide(lineOf(65_000))).toEqual(["ask", "deny"]);
      expect(growth(8_125, lineOf, decide)).toBeLessThan(MAX_GROWTH);
    },
  );

  test("nested scripts are read to a limited depth and size", () => {
    const wide = "sh -c 'sh -c x' ".repeat(4000);
    const deep = `${"sh $(".repeat(250)}x${")".repeat(250)}`;
    expect(readShellLine(wide).anywhere.mentioned.length).toBeLessThan(10);
    expect(readShellLine(deep).anywhere.mentioned.length).toBeLessThan(10_000);
    const deny = rules({ deny: ["Bash(rm:*)"] });
    for (const text of [wide, deep]) {
      expect(ask("bypassPermissions", "Bash", command(`${text}; rm x`), { rules: deny })).toBe("deny");
    }
  });

  test("a long command after sudo, which could start at any word, is decided in limited memory", async () => {
    const { say, line } = decide();
    const long = `sudo ${"a ".repeat(6_000)}`;
    say(long);
    expect(await line()).toBe("allow");
    say(`${long} rm -r x`);
    expect(await line()).toBe("deny");
  });
});

describe("tool names in rules", () => {
  test.each(["Bash", "Read", "Glob", "Grep", "Edit", "Write", "WebFetch"])(
    "the rule %s does not allow a tool of that name of another program",
    (tool) => {
      expect(ask("default", tool, EXTERNAL, { rules: rules({ allow: [tool] }) })).toBe("ask");
      for (const rule of [tool, `${tool}(x)`])
        expect(ask("default", tool, EXTERNAL, { rules: rules({ deny: [rule] }) })).toBe("deny");
    },
  );

  test.each(["Glob", "Grep"])("a denied file denies a call of %s that is not understood", (tool) => {
    const given = rules({ allow: [tool], deny: ["Read(.env)"] });
    expect(ask("default", tool, EXTERNAL, { rules: given })).toBe("deny");
  });

  test.each([
    ["Task", "Agent", { kind: "team" }],
    ["Agent(tester)", "Agent", { kind: "team", what: "tester" }],
    ["Task(explore)", "Agent", { kind: "team", what: "Explore" }],
    ["Agent(cli:codex)", "Agent", { kind: "team", what: "tester", cli: "codex" }],
    ["agent(CLI:*)", "Agent", { kind: "team", cli: "codex" }],
    ["TaskUpdate", "TaskUpdate", { kind: "team" }],
    ["bash", "Bash", command("touch a")],
    ["BASH(touch:*)", "Bash", command("touch a")],
    ["read(.env)", "Read", read(`${WORK}/.env`)],
    ["edit(.env)", "Write", write(`${WORK}/.env`)],
    ["MCP__files", "mcp__files__read", EXTERNAL],
  ] as [string, string, ToolAccess][])(
    "the rule %s applies to %s when it denies or asks",
    (rule, tool, access) => {
      expect(ask("bypassPermissions", tool, access, { rules: rules({ deny: [rule] }) })).toBe("deny");
      for (const mode of ["bypassPermissions", "delegate"] as const)
        expect(ask(mode, tool, access, { rules: rules({ ask: [rule] }) })).toBe("ask");
    },
  );

  test.each([
    ["Agent(cli:codex)", "allow"],
    ["Task(cli:*)", "allow"],
    ["Agent", "ask"],
    ["*", "ask"],
    ["Agent(codex)", "ask"],
    ["Agent(cli:code*)", "ask"],
    ["Agent(cli:gemini)", "ask"],
  ])("the rule %s for a third-party CLI: %s", (rule, expected) => {
    const access = { kind: "team", what: "codex", cli: "codex" } as const;
    expect(ask("default", "Agent", access, { rules: rules({ allow: [rule] }) })).toBe(expected);
    expect(ask("delegate", "Agent", access, { rules: rules({ allow: [rule] }), coordinator: true })).toBe(
      expected,
    );
  });

  test.each(["Agent(tester)", "Agent(test*)", "TaskCreate(tester)"])(
    "the rule %s does not apply to another agent type",
    (rule) => {
      const other = { kind: "team", what: "Explore" } as const;
      expect(ask("default", "Agent", other, { rules: rules({ deny: [rule], ask: [rule] }) })).toBe("allow");
    },
  );

  test.each(["Bash(make:*", "Bash(make:*))x", "Bash make", "bash(touch"])(
    "the invalid rule %s denies every call of its tool and allows none",
    (rule) => {
      expect(ask("bypassPermissions", "Bash", command("make"), { rules: rules({ deny: [rule] }) })).toBe(
        "deny",
      );
      expect(ask("default", "Bash", command("make"), { rules: rules({ allow: [rule] }) })).toBe("ask");
      expect(ask("default", "Read", read(`${WORK}/a`), { rules: rules({ deny: [rule] }) })).toBe("allow");
    },
  );

  test.each([
    ["Read(src/**", "Read", read(`${WORK}/a`)],
    ["Read(src/**", "Grep", read(`${WORK}/a`)],
    ["read(src/**", "Glob", read(`${WORK}/a`)],
    ["Edit(src/**", "Edit", write(`${WORK}/a`)],
    ["Edit(src/**", "Write", write(`${WORK}/a`)],
    ["Write(src/**", "Edit", write(`${WORK}/a`)],
    ["Write(src/**", "NotebookEdit", write(`${WORK}/a`)],
  ])("the invalid rule %s denies and asks for every call of %s", (rule, tool, access) => {
    expect(ask("bypassPermissions", tool, access, { rules: rules({ deny: [rule] }) })).toBe("deny");
    expect(ask("bypassPermissions", tool, access, { rules: rules({ ask: [rule] }) })).toBe("ask");
  });

  test("the reason says that an incomplete rule applies to every call", () => {
    const why = (given: Partial<PermissionRules>) =>
      decideOn("default", "Bash", PUSH, { rules: rules(given) }).reason;
    expect(why({ deny: ["Bash(rm:*"] })).toContain("malformed, so it covers every call");
    expect(why({ ask: ["Bash(rm:*"] })).toContain("malformed, so it covers every call");
    expect(why({ deny: ["Bash"] })).not.toContain("malformed");
  });

  test("an allow rule needs the exact case of the name", () => {
    for (const rule of ["bash", "BASH(make)", "bash(make:*)"])
      expect(ask("default", "Bash", command("make"), { rules: rules({ allow: [rule] }) })).toBe("ask");
  });
});

describe("rules for MCP tools", () => {
  const decided = (
    kind: "allow" | "deny",
    rule: string,
    server: string,
    tool: string,
    known = true,
  ): string => {
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
  ])("the rule %s applies to server %s", (rule, server, tool) => {
    expect([decided("allow", rule, server, tool), decided("deny", rule, server, tool)]).toEqual([
      "allow",
      "deny",
    ]);
  });

  test.each([
    ["mcp__docs", "docs__evil", "Bash"],
    ["mcp__docs__evil", "docs", "evil__Bash"],
    ["mcp__docs", "docs_evil", "Bash"],
    ["mcp__docs__find", "docs", "find_all"],
  ])("the rule %s does not apply to server %s", (rule, server, tool) => {
    expect([decided("allow", rule, server, tool), decided("deny", rule, server, tool)]).toEqual([
      "deny",
      "allow",
    ]);
  });

  test.each([
    ["mcp__docs__*", "docs__evil", "Bash"],
    ["mcp__docs__*", "docs_", "Bash"],
    ["mcp__docs__e*", "docs__evil", "Bash"],
  ])("the rule %s denies but does not allow server %s", (rule, server, tool) => {
    expect([decided("allow", rule, server, tool), decided("deny", rule, server, tool)]).toEqual([
      "deny",
      "deny",
    ]);
  });

  test("if the server is unknown, an allow rule needs a name of two parts, but a deny rule applies to all", () => {
    for (const rule of ["mcp__docs", "mcp__docs__*"]) {
      expect(decided("allow", rule, "docs", "find", false)).toBe("allow");
      for (const server of ["docs__evil", "docs_"]) {
        expect(decided("allow", rule, server, "find", false)).toBe("deny");
        expect(decided("deny", rule, server, "find", false)).toBe("deny");
      }
    }
  });

  test("deny rules ignore case and allow rules do not", () => {
    expect(decided("deny", "MCP__My Server", "my server", "Find")).toBe("deny");
    expect(decided("deny", "mcp__my server__find(", "My Server", "Find")).toBe("deny");
    expect(decided("allow", "mcp__My server", "my server", "find")).toBe("deny");
  });
});

describe("path patterns", () => {
  test("deny rules ignore case, as some file systems do, and allow rules do not", () => {
    const given = rules({ deny: ["Read(.env)"], allow: ["Read(//srv/docs/**)"] });
    expect(ask("default", "Read", read(`${WORK}/.ENV`), { rules: given })).toBe("deny");
    expect(ask("default", "Read", read("/srv/docs/a"), { rules: given })).toBe("allow");
    expect(ask("default", "Read", read("/srv/docs/../DOCS/a"), { rules: given })).toBe("ask");
  });

  test("deny rules also match letters that some file systems treat as equal, and allow rules do not", () => {
    const given = rules({ deny: ["Read(schlüssel)", "Read(secrets/**)"], allow: ["Read(//srv/schlüssel)"] });
    const decided = (path: string) => ask("default", "Read", read(path), { rules: given });
    const decomposed = "schlüssel".normalize("NFD");
    expect(decided(`${WORK}/${decomposed}`)).toBe("deny");
    expect(decided(`${WORK}/\u017fecrets/a`)).toBe("deny");
    expect(decided("/srv/schlüssel")).toBe("allow");
    expect(decided(`/srv/${decomposed}`)).toBe("ask");
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
  ])("the rule %s against %s matches: %s", (rule, path, matches) => {
    const decided = ask("default", "Read", read(path), {
      workingDirs: [WORK],
      rules: rules({ deny: [rule] }),
    });
    expect(decided === "deny").toBe(matches);
  });

  test("an allow rule applies to the target of a link, a deny rule to the link and its target", () => {
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
  ])("the deny rule %s, whose path is a link, also matches the target's path", (rule, path) => {
    const resolve = (named: string): string => named.replace(/^\/home\/ada(?=\/|$)/, "/real/ada");
    const more = { resolve, rules: rules({ deny: [rule] }) };
    expect(ask("bypassPermissions", "Read", read(path), more)).toBe("deny");
    expect(ask("bypassPermissions", "Read", read("/real/ada/else"), more)).toBe("allow");
  });

  test("a path that cannot be resolved asks", () => {
    const resolve = (path: string): string => {
      if (path.endsWith("loop")) throw new Error("ELOOP");
      return path;
    };
    expect(ask("default", "Read", read(`${WORK}/loop`), { resolve })).toBe("ask");
  });
});

test("command output outside the working directories may be read, but not written", () => {
  const readDirs = ["/tmp/teams-1/-work/tasks"];
  const file = "/tmp/teams-1/-work/tasks/bash-1.output";
  expect(ask("default", "Read", read(file), { readDirs })).toBe("allow");
  expect(ask("dontAsk", "Grep", read("/tmp/teams-1/-work/tasks"), { readDirs })).toBe("allow");
  expect(ask("acceptEdits", "Write", write(file), { readDirs })).toBe("ask");
  expect(ask("default", "Read", read("/tmp/teams-1/-work/tasks/../../x"), { readDirs })).toBe("ask");
  // A link in that directory is resolved first.
  const resolve = (path: string): string => (path === file ? "/etc/passwd" : path);
  expect(ask("default", "Read", read(file), { readDirs, resolve })).toBe("ask");
  expect(ask("default", "Read", read(file), { readDirs, rules: rules({ deny: ["Read"] }) })).toBe("deny");
});

describe("notes of an agent type", () => {
  const NOTES = "/home/ada/.claude/agent-memory/scribe";
  const notes = (mode: PermissionMode, access: ToolAccess, more: Partial<PermissionQuestion> = {}) =>
    ask(mode, "Write", access, { notes: NOTES, ...more });

  test.each<[string, ToolAccess, string]>([
    ["may be written", write(`${NOTES}/MEMORY.md`), "allow"],
    ["may be written in subdirectories", write(`${NOTES}/more/build.md`), "allow"],
    ["may be read", read(`${NOTES}/more/build.md`), "allow"],
    ["must be Markdown", write(`${NOTES}/run.sh`), "ask"],
    ["must not be in a hidden directory", write(`${NOTES}/.git/hooks/x.md`), "ask"],
    ["do not include another type's directory", write(`${NOTES}-2/MEMORY.md`), "ask"],
    ["do not include the settings", write("/home/ada/.claude/settings.json"), "ask"],
  ])("%s", (_title, access, answer) => {
    expect(notes("default", access)).toBe(answer);
  });

  test("are denied or asked for by a rule or plan mode first", () => {
    const note = write(`${NOTES}/MEMORY.md`);
    expect(notes("default", note, { rules: rules({ deny: ["Write"] }) })).toBe("deny");
    expect(notes("default", note, { rules: rules({ ask: ["Write"] }) })).toBe("ask");
    expect(notes("plan", note)).toBe("deny");
    expect(notes("dontAsk", note)).toBe("allow");
  });

  test("are checked at the target of a link", () => {
    const resolve = (path: string) => path.replace(`${NOTES}/link.md`, "/home/ada/.bashrc");
    expect(notes("default", write(`${NOTES}/link.md`), { resolve })).toBe("ask");
  });
});

test.each([
  ["allows files below the working directory", "Edit(/docs/**)", `${WORK}/docs/a.md`, "allow"],
  ["allows nothing elsewhere", "Edit(/docs/**)", "/docs/a.md", "ask"],
  ["allows nothing elsewhere, as a pattern for all files", "Edit(/**)", "/etc/cron.d/job", "ask"],
])("an allow rule that begins with a slash %s", (_, rule, path, answer) => {
  expect(ask("default", "Edit", write(path), { rules: rules({ allow: [rule] }) })).toBe(answer);
});

test("a deny rule that begins with a slash covers the working directory and the file system", () => {
  const given = { rules: rules({ deny: ["Edit(/docs/**)"] }) };
  for (const path of [`${WORK}/docs/a.md`, "/docs/a.md"])
    expect(ask("bypassPermissions", "Edit", write(path), given)).toBe("deny");
});

test("the reason for an unclear program shows a part that only the shell knows as $…", () => {
  const line = "env -i PATH=$PATH HOME=$HOME node x";
  const given = { rules: rules({ allow: ["Bash"], ask: ["Bash(git push:*)"] }) };
  const { behavior, reason } = decideOn("default", "Bash", command(line), given);
  expect([behavior, reason]).toEqual(["ask", expect.not.stringContaining("\ufffc")]);
});
