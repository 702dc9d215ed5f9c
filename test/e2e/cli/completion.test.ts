import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCast } from "../../../src/casts/cast-files.ts";
import { agentFileName } from "../../../src/protocol/paths.ts";
import { doneIn, TEAMS } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/** How each shell starts without the user's files, and its first commands: all shells have the same prompt. */
const SHELLS = {
  bash: { argv: ["bash", "--norc", "--noprofile", "-i"], first: "PS1='$ '" },
  zsh: { argv: ["zsh", "-f", "-i"], first: "PS1='$ '; autoload -Uz compinit; compinit -D" },
  fish: {
    argv: ["fish", "--no-config", "-i"],
    first: "function fish_prompt; echo -n '$ '; end; set -g fish_autosuggestion_enabled 0",
  },
} as const;
type Shell = keyof typeof SHELLS;

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

/** Names that a shell must not evaluate, each with the first characters that a person types, quoted for the shell. */
const HOSTILE: readonly (readonly [name: string, typed: string])[] = [
  ["$(touch pwned)", "\\$"],
  ["`touch pwned`", "\\`"],
  ["it's;touch pwned", "it"],
  ["my agent & co", "my"],
  ['"dq" > pwned', '\\"'],
  ["xy*?[a]{b,c}~#!z", "xy"],
  ["Zoë 日本", "Z"],
];

async function shellIn(shell: Shell): Promise<{
  readonly t: PrivateTmux;
  readonly type: (...keys: string[]) => void;
  readonly screen: () => string;
  readonly sees: (text: string) => Promise<unknown>;
}> {
  const t = privateTmux();
  const bin = join(t.home, "bin");
  const done = doneIn(t.env, t.home);
  await done("create", "review");
  await done("task", "add", "Check the lock");
  const config = join(t.root, "teams/review/config.json");
  const { members, ...others } = JSON.parse(readFileSync(config, "utf8")) as { members: object[] };
  const named = [...HOSTILE.map(([name]) => name), "bad\nname", "ada"];
  const added = named.map((name) => ({
    name,
    agentId: `${name}@review`,
    joinedAt: 0,
    cwd: t.home,
    tmuxPaneId: "",
  }));
  writeFileSync(config, JSON.stringify({ ...others, members: [...members, ...added] }));
  const { argv, first } = SHELLS[shell];
  const env = [`PATH=${bin}:${t.env.PATH}`, "LC_ALL=C.UTF-8", "TERM=screen"];
  spawnSync("mkdir", [bin]);
  spawnSync("ln", ["-s", TEAMS, join(bin, "teams")]);
  const pane = t.tmux(
    ...["new-session", "-d", "-s", "work", "-x", "120", "-y", "40", "-c", t.home, "-P", "-F", "#{pane_id}"],
    ...["--", "env", ...env, ...argv],
  );
  const screen = (): string => t.tmux("capture-pane", "-p", "-t", pane);
  const type = (...keys: string[]): void => void t.tmux("send-keys", "-t", pane, ...keys);
  const sees = (text: string) =>
    eventually(`${text} on the screen`, () => screen().includes(text)).catch((cause: unknown) => {
      throw new Error(`${text} never came. The screen:\n${screen().trimEnd()}`, { cause });
    });
  // A deleted team left a recording.
  await done("create", "old", "--rec=casts");
  createCast(join(t.home, "casts"), "ben", { version: 2, width: 80, height: 24 });
  await done("delete", "old");
  writeFileSync(join(t.home, "script"), (await done("completion", shell)).out);
  type("-l", `${first}; source ./script; echo rea""dy`);
  type("Enter");
  await sees("ready");
  type("C-l");
  return { t, type, screen, sees };
}

describe.each(["bash", "zsh", "fish"] as const)("completion in %s", (shell) => {
  it.skipIf(!isInstalled(shell))("completes commands, options and live names, and runs no name", async () => {
    const { t, type, sees, screen } = await shellIn(shell);
    const line = async (text: string, expected: string): Promise<void> => {
      type("-l", text);
      type("Tab");
      await sees(expected);
      type("C-u");
      await eventually("the empty line", () => !screen().includes(expected));
    };
    await line("teams task cla", "teams task claim");
    await line("teams send --summ", "teams send --summary");
    await line("teams layout main-v", "teams layout main-vertical");
    await line("teams delete rev", "teams delete review");
    await line("teams send ad", "teams send ada");
    await line("teams send ada@r", "teams send ada@review");
    await line("teams task list --owner=ad", "teams task list --owner=ada");
    await line("teams task done ", "teams task done 1");
    await line("teams completion fi", "teams completion fish");
    await line("teams export -o scr", "teams export -o script");
    await line("teams replay b", "teams replay ben@old");
    await line("teams replay scr", "teams replay script");
    for (const [name, typed] of HOSTILE) {
      type("-l", `teams send ${typed}`);
      type("Tab");
      await sees(name.at(-1) ?? "");
      type("-l", "hello");
      type("Enter");
      const inbox = join(t.root, "teams/review/inboxes", `${agentFileName(name)}.json`);
      await eventually(`the message to ${name}`, () => existsSync(inbox)).catch((cause: unknown) => {
        throw new Error(`No message to ${name}. The screen:\n${screen().trimEnd()}`, { cause });
      });
      type("C-l");
    }
    expect(existsSync(join(t.home, "pwned"))).toBe(false);
  });
});

/** The startup file of each shell, and how the shell starts with it. */
const START = {
  bash:
    process.platform === "darwin"
      ? { file: ".bash_profile", argv: ["bash", "-l"] }
      : { file: ".bashrc", argv: ["bash", "-i"] },
  zsh: { file: ".zshrc", argv: ["zsh", "-d", "-i"] },
  fish: { file: ".config/fish/config.fish", argv: ["fish", "-i"] },
} as const;

describe.each(["bash", "zsh", "fish"] as const)("completion install for %s", (shell) => {
  it.skipIf(!isInstalled(shell))(
    "makes new shells complete, changes nothing the second time, and can be undone",
    async () => {
      const t = privateTmux();
      const env = { ...t.env, SHELL: `/somewhere/${shell}` };
      const bin = join(t.home, "bin");
      spawnSync("mkdir", ["-p", bin, join(t.home, ".config/fish")]);
      spawnSync("ln", ["-s", TEAMS, join(bin, "teams")]);
      const { file, argv } = START[shell];
      const own = join(t.home, file);
      const prompt = shell === "fish" ? "function fish_prompt; echo -n '$ '; end" : "PS1='$ '";
      writeFileSync(own, prompt);
      const done = doneIn(env, t.home);
      const printed = (await done("completion", "install", "--print")).out;
      expect(readFileSync(own, "utf8")).toBe(prompt);
      const first = await done("completion", "install");
      expect(first.out).toContain(`To undo: teams completion uninstall ${shell}`);
      for (const [, path = ""] of first.out.matchAll(/^ {2}\w+ {2}(\/\S+)/gm))
        expect(printed).toContain(path);
      const after = readFileSync(own, "utf8");
      expect(after.startsWith(prompt)).toBe(true);
      expect((await done("completion", "install")).out).toContain(`${shell} already completes teams.`);
      expect(readFileSync(own, "utf8")).toBe(after);
      const pane = t.tmux(
        ...[
          "new-session",
          "-d",
          "-s",
          "work",
          "-x",
          "120",
          "-y",
          "40",
          "-c",
          t.home,
          "-P",
          "-F",
          "#{pane_id}",
        ],
        ...["--", "env", `PATH=${bin}:${t.env.PATH}`, "LC_ALL=C.UTF-8", "TERM=screen", ...argv],
      );
      const sees = (text: RegExp) =>
        eventually(`${text}`, () => text.test(t.tmux("capture-pane", "-p", "-t", pane)));
      await sees(/^\$/m);
      t.tmux("send-keys", "-t", pane, "-l", "teams layout main-v");
      t.tmux("send-keys", "-t", pane, "Tab");
      await sees(/main-vertical/);
      const undone = await done("completion", "uninstall", "--json");
      const { files } = undone.json<{ files: { path: string; part: string; change: string }[] }>();
      expect(files.map(({ change }) => change)).toEqual(files.map(() => "removed"));
      const scripts = files.filter(({ part }) => part === "script").map(({ path }) => existsSync(path));
      expect(scripts).toEqual([false]);
      expect(readFileSync(own, "utf8").trimEnd()).toBe(prompt);
      expect((await done("completion", "uninstall")).out).toContain("nothing to remove");
    },
  );
});
