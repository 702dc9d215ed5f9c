import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const STARTUP = "sleep 0.3\ngreet() { echo \"hello $1\"; }\nalias shout='echo LOUD'\n";
const VARIABLES = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"];

it("the lead's Bash › has the user's functions and aliases and an agent's variables, and so does its subagent's Bash", async () => {
  const t = privateTmux({
    env: { SHELL: "/bin/bash", CLAUDE_CODE_CHILD_SESSION: "1", CLAUDE_CODE_ENTRYPOINT: "x" },
  });
  writeFileSync(join(t.home, ".bashrc"), STARTUP);
  const values = [...VARIABLES, "CLAUDE_CODE_CHILD_SESSION"].map((name) => `"${name}=$${name}"`).join(" ");
  const printTo = (file: string) => ({
    name: "Bash",
    input: { command: `{ greet ${file}; shout; printf '%s\\n' ${values}; } >${file} 2>&1` },
  });
  const subagent = { name: "Agent", input: { description: "prints", prompt: "Print." } };
  const agents = {
    "team-lead": [{ tools: [printTo("lead"), subagent] }, { say: "That was all." }],
    "general-purpose": [{ tools: [printTo("subagent")] }, { say: "printed" }],
  };
  writeFileSync(join(t.home, "book.json"), JSON.stringify({ version: 1, agents }));
  const words = ["run", "Go.", "--playbook", "book.json", "--permission-mode", "bypassPermissions"];
  const { code, err } = await teamsIn(t.env, t.home)(words);
  expect(code, err).toBe(0);
  for (const file of ["lead", "subagent"]) {
    expect(readFileSync(join(t.home, file), "utf8").split("\n")).toEqual([
      `hello ${file}`,
      "LOUD",
      "CLAUDECODE=1",
      "CLAUDE_CODE_ENTRYPOINT=cli",
      "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1",
      "CLAUDE_CODE_CHILD_SESSION=",
      "",
    ]);
  }
});
