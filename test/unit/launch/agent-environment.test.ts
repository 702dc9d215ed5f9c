import { expect, test } from "vitest";
import {
  belongsToPane,
  childEnvironment,
  leadEnvironment,
  withoutAgent,
} from "../../../src/launch/agent-environment.ts";

test("childEnvironment drops the caller's pane and markers of an outer agent (S11, S12)", () => {
  const caller = {
    PATH: "/bin",
    HOME: "/home/u",
    KEY: "k",
    UNSET: undefined,
    TERM: "xterm",
    TERM_PROGRAM: "x",
    COLORTERM: "truecolor",
    TMUX: "/s,1,0",
    TMUX_PANE: "%1",
    PWD: "/x",
    SHLVL: "3",
    COLUMNS: "80",
    CLAUDE_CODE_CHILD_SESSION: "1",
    CLAUDE_CODE_USE_BEDROCK: "1",
    TEAMS_AGENT: "rev@audit",
    TEAMS_INSTANCE: "old",
    TEAMS_COMMAND: "old",
    TEAMS_HOOK: "PreToolUse",
    TEAMS_SNAPSHOT: "/snapshot",
    TEAMS_HOME: "/root",
  };
  expect(childEnvironment(caller, { TEAMS_TEAM: "audit" })).toEqual({
    PATH: "/bin",
    HOME: "/home/u",
    KEY: "k",
    CLAUDE_CODE_USE_BEDROCK: "1",
    TEAMS_HOME: "/root",
    CLAUDECODE: "1",
    CLAUDE_CODE_ENTRYPOINT: "cli",
    CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1",
    TEAMS_TEAM: "audit",
  });
});

test("leadEnvironment keeps the pane, drops the markers of an outer agent and adds the markers of an agent", () => {
  const caller = {
    TMUX_PANE: "%1",
    CLAUDE_CODE_CHILD_SESSION: "1",
    CLAUDE_CODE_ENTRYPOINT: "x",
    TEAMS_AGENT: "a@b",
    TEAMS_HOOK: "PreToolUse",
    TEAMS_SNAPSHOT: "/snapshot",
  };
  expect(leadEnvironment(caller)).toEqual({
    TMUX_PANE: "%1",
    CLAUDECODE: "1",
    CLAUDE_CODE_ENTRYPOINT: "cli",
    CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1",
  });
});

test.each([
  ["0", "0"],
  ["False", "False"],
  ["1", "1"],
  ["", "1"],
])("leadEnvironment maps the agent-teams switch %j to %j; childEnvironment turns it on", (given, kept) => {
  const caller = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: given };
  expect(leadEnvironment(caller).CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS).toBe(kept);
  expect(childEnvironment(caller).CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS).toBe("1");
});

test.each(["TERM", "TERMINFO", "TMUX_TMPDIR", "LINES", "SSH_TTY"])("belongsToPane is true for %s", (name) => {
  expect(belongsToPane(name)).toBe(true);
});

test.each(["XTERM", "MY_PWD", "SHLVL2", "PATH"])("belongsToPane is false for %s", (name) => {
  expect(belongsToPane(name)).toBe(false);
});

test("withoutAgent keeps the user's variables and drops the agent's", () => {
  const user = { PATH: "/bin", TEAMS_HOME: "/r", TERM: "xterm" };
  const agent = {
    TEAMS_INSTANCE: "u",
    TEAMS_COMMAND: "c",
    TEAMS_AGENT: "a@b",
    TEAMS_BELL_FD: "3",
    TEAMS_HOOK: "PreToolUse",
    TEAMS_SNAPSHOT: "/snapshot",
    CLAUDE_CODE_X: "1",
  };
  expect(withoutAgent({ ...user, ...agent, CLAUDECODE: "1" })).toEqual(user);
});
