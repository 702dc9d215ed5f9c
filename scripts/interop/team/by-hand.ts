import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Crew, TEAM } from "./crew.ts";
import { until } from "./wait.ts";

/** Milliseconds after which a typed text that the program does not show is typed again. */
const TYPE_AGAIN = 8_000;
/** Milliseconds between a text and its Enter: some programs treat both together as a paste. */
const BEFORE_ENTER = 500;

/** Maximum lines of a screen on which the program has not drawn yet; a long command line wraps. */
const MAX_SHELL_LINES = 4;

/** A person's pane: it runs a shell, in which a program was started by typing. */
export interface PersonsPane {
  readonly paneId: string;
  /** Types a command line into its shell. */
  start(line: string): Promise<void>;
  /** Types a line once the program shows typed text, and presses Enter. */
  type(text: string): Promise<void>;
  keys(...keys: readonly string[]): void;
  close(): void;
}

/** Opens a shell in a window of the person, and types a command line into it. */
export async function startByHand(crew: Crew, line: string): Promise<PersonsPane> {
  const pane = openShell(crew);
  await pane.start(line);
  return pane;
}

/** Opens a shell in a window of the person, without the variables that the team's commands have. */
export function openShell(crew: Crew): PersonsPane {
  const place = ["-d", "-t", "=person:", "-c", crew.repo, "-P", "-F", "#{pane_id}"];
  const paneId = crew.tmux("new-window", ...place, "--", "env", "-u", "TEAMS_TEAM", "PS1=$ ", "sh");
  return {
    paneId,
    async start(line) {
      await until("the prompt of a shell", () => crew.screen({ paneId }).includes("$"));
      crew.tmux("send-keys", "-t", paneId, "-l", "--", line);
      crew.tmux("send-keys", "-t", paneId, "Enter");
    },
    async type(text) {
      // The terminal shows typed text even before the program reads it.
      const front = (): string => crew.tmux("display-message", "-p", "-t", paneId, "#{pane_current_command}");
      await until("the program in the foreground", () => front() !== "sh");
      let last = "";
      await until("a steady screen", () => {
        const before = last;
        last = crew.screen({ paneId }).trim();
        return last === before && last.split("\n").length > MAX_SHELL_LINES;
      });
      const shown = text.slice(0, 24);
      const isShown = (): boolean => crew.screen({ paneId }).includes(shown);
      for (let attempts = 0; !isShown(); attempts += 1) {
        if (attempts === 5) throw new Error(`the program does not show what is typed: ${shown}`);
        crew.tmux("send-keys", "-t", paneId, "-l", "--", text);
        await until("the typed text", isShown, TYPE_AGAIN).catch(() => undefined);
      }
      await delay(BEFORE_ENTER);
      crew.tmux("send-keys", "-t", paneId, "Enter");
    },
    keys: (...keys) => void crew.tmux("send-keys", "-t", paneId, ...keys),
    close() {
      try {
        crew.tmux("kill-pane", "-t", paneId);
      } catch {
        // Its program has ended.
      }
    },
  };
}

/**
 * Adds a claude to the team as another program does, by an entry in the config, and types its start line into a shell.
 * @param options additional words of its start line
 */
export async function startTeammate(
  crew: Crew,
  name: string,
  options: readonly string[] = [],
): Promise<PersonsPane> {
  const pane = openShell(crew);
  addByHand(crew, name, pane);
  await pane.start([startLine(crew, name), ...options].join(" "));
  return pane;
}

/** Returns the words that give a claude the hooks of docs/mixed-company.md. */
export function hookOptions(crew: Crew, name: string): readonly string[] {
  const hook = (event: string): object => {
    const command = `teams hook --team ${TEAM} --as ${name} ${event}`;
    return { hooks: [{ type: "command", command }] };
  };
  const hooks = { PreToolUse: [hook("PreToolUse")], Stop: [hook("Stop")] };
  const file = join(crew.home, `hooks-of-${name}.json`);
  writeFileSync(file, JSON.stringify({ hooks }));
  return ["--settings", file];
}

/** Adds a member to the config as another program does. */
export function addByHand(crew: Crew, name: string, { paneId }: PersonsPane): void {
  changeConfig(crew, (config) => {
    const own = { agentId: `${name}@${config.name}`, name, agentType: "general-purpose", model: "opus" };
    const more = { color: "blue", joinedAt: Date.now(), tmuxPaneId: paneId, cwd: crew.repo };
    config.members.push({ ...own, ...more, subscriptions: [], backendType: "tmux" });
  });
}

/** Returns the command line of a claude that is a teammate. */
export function startLine(crew: Crew, name: string): string {
  const identity = ["--agent-id", `${name}@${TEAM}`, "--agent-name", name, "--team-name", TEAM];
  const session = ["--agent-color", "blue", "--parent-session-id", crew.config().leadSessionId];
  const choices = ["--permission-mode", "default", "--model", "opus"];
  const variables = ["CLAUDECODE=1", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"];
  return ["env", ...variables, "claude", ...identity, ...session, ...choices].join(" ");
}

// biome-ignore lint/suspicious/noExplicitAny: the config as another program sees it
type Config = any;

/** Changes the config in place, as 2.1.34 does: without a lock. */
export function changeConfig(crew: Crew, change: (config: Config) => void): void {
  const file = join(crew.home, ".claude/teams", TEAM, "config.json");
  const config = JSON.parse(readFileSync(file, "utf8")) as Config;
  change(config);
  writeFileSync(file, JSON.stringify(config, undefined, 2));
}
