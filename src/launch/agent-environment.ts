import type { Env } from "../os/env.ts";

/** Variables that belong to the pane or terminal instead of the caller, as shell patterns (protocol.md section 6). */
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

/** The variable that makes every new teammate plan first. A spawn resolves it; agents started by other programs read it. */
export const PLAN_MODE_REQUIRED = "CLAUDE_CODE_PLAN_MODE_REQUIRED";

/** Markers of the agent that the caller may run in, and of its start; they must not leak into another agent. */
const STALE =
  /^(CLAUDECODE|CLAUDE_CODE_CHILD_SESSION|CLAUDE_CODE_ENTRYPOINT|CLAUDE_CODE_SSE_PORT|TEAMS_AGENT|TEAMS_INSTANCE|TEAMS_COMMAND|TEAMS_BELL_FD|TEAMS_HOOK|TEAMS_SNAPSHOT|TEAMS_TEAM|_)$/;

/** Variables of an agent that a tmux server must not inherit: it would pass them on to every later pane of the user. */
const AGENT_PATTERN =
  /^(CLAUDECODE|CLAUDE_CODE_.*|TEAMS_AGENT|TEAMS_INSTANCE|TEAMS_COMMAND|TEAMS_BELL_FD|TEAMS_HOOK|TEAMS_SNAPSHOT)$/;

/** The variable that marks a process of an agent team, and turns the team tools of a lead off (protocol.md section 6). */
const AGENT_TEAMS_VARIABLE = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";

/** Returns whether the user has turned agent teams off: a lead then works alone. A spawned teammate always has its team. */
export function areTeamsOff(env: Env): boolean {
  return ["0", "false"].includes(env[AGENT_TEAMS_VARIABLE]?.toLowerCase() ?? "");
}

/** Variables of every agent, including `claude` (protocol.md section 6). */
const AGENT_TEAMS: Env = {
  CLAUDECODE: "1",
  CLAUDE_CODE_ENTRYPOINT: "cli",
  [AGENT_TEAMS_VARIABLE]: "1",
};

/**
 * Returns the environment of a teammate: the caller's without the variables of its pane, the markers of its agent and what the
 * arguments already say, then the fixed variables, then `extra`. Pure.
 */
export function childEnvironment(caller: Env, extra: Env = {}): Record<string, string> {
  const kept = Object.entries(caller).filter(
    ([name]) => !PANE_PATTERN.test(name) && !STALE.test(name) && name !== PLAN_MODE_REQUIRED,
  );
  const merged = [...kept, ...Object.entries(AGENT_TEAMS), ...Object.entries(extra)];
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => entry[1] !== undefined && isName(entry[0])),
  );
}

/**
 * Returns the environment for the commands of a lead: the caller's without the markers of the agent that it may run in, then the
 * fixed variables. A lead has no launch script that does this. Agent teams that are off stay off. Pure.
 */
export function leadEnvironment(caller: Env): Env {
  const kept = Object.entries(caller).filter(([name]) => !STALE.test(name));
  const off = areTeamsOff(caller) ? { [AGENT_TEAMS_VARIABLE]: caller[AGENT_TEAMS_VARIABLE] } : {};
  return { ...Object.fromEntries(kept), ...AGENT_TEAMS, ...off };
}

/** Returns the environment for a process that outlives the agent that starts it, such as a tmux server. */
export function withoutAgent(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !AGENT_PATTERN.test(name)));
}

/** True if the launch script must keep a variable of the pane although the caller did not pass it. */
export function belongsToPane(name: string): boolean {
  return PANE_PATTERN.test(name);
}

/** True if tmux's `-e NAME=value` can pass the name. Function exports of shells (`BASH_FUNC_x%%`) can be passed too. */
function isName(name: string): boolean {
  return name !== "" && !name.includes("=");
}
