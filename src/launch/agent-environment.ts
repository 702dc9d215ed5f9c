import type { Env } from "../os/env.ts";

/** What belongs to the pane or terminal and not to the caller, as shell patterns (protocol.md section 6). */
export const PANE_VARIABLES = [
  "TERM*",
  "COLORTERM",
  "TMUX*",
  "COLUMNS",
  "LINES",
  "PWD",
  "OLDPWD",
  "SHLVL",
  "SSH_TTY",
  "WINDOWID",
] as const;

const PANE_PATTERN = new RegExp(`^(${PANE_VARIABLES.join("|").replaceAll("*", ".*")})$`);

/** Marks of an agent that the caller may itself run in, and of one start of it; nothing of them leaks. */
const STALE =
  /^(CLAUDECODE|CLAUDE_CODE_CHILD_SESSION|CLAUDE_CODE_ENTRYPOINT|CLAUDE_CODE_SSE_PORT|TEAMS_AGENT|TEAMS_INSTANCE|TEAMS_COMMAND|TEAMS_BELL_FD|TEAMS_TEAM|_)$/;

/** What a tmux server must not have of the agent that starts it: it would hand that on to every later pane of the user. */
const AGENT_PATTERN = /^(CLAUDECODE|CLAUDE_CODE_.*|TEAMS_AGENT|TEAMS_INSTANCE|TEAMS_COMMAND|TEAMS_BELL_FD)$/;

/** What every teammate's process finds, ours and `claude` alike (protocol.md section 6). */
const AGENT_TEAMS: Env = {
  CLAUDECODE: "1",
  CLAUDE_CODE_ENTRYPOINT: "cli",
  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1",
};

/**
 * The environment of a teammate: the spawning caller's without what belongs to the caller's pane and without the
 * marks of an agent around it, then the fixed ones, then `extra`. Pure.
 */
export function childEnvironment(caller: Env, extra: Env = {}): Record<string, string> {
  const kept = Object.entries(caller).filter(([name]) => !PANE_PATTERN.test(name) && !STALE.test(name));
  const merged = [...kept, ...Object.entries(AGENT_TEAMS), ...Object.entries(extra)];
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => entry[1] !== undefined && isName(entry[0])),
  );
}

/** The environment for what outlives an agent and is not its own. */
export function withoutAgent(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !AGENT_PATTERN.test(name)));
}

/** Whether the launch script must leave a variable alone although it is not among the caller's. */
export function belongsToPane(name: string): boolean {
  return PANE_PATTERN.test(name);
}

/** A name that `-e NAME=value` carries whole. Other shells' function exports (`BASH_FUNC_x%%`) pass too. */
function isName(name: string): boolean {
  return name !== "" && !name.includes("=");
}
