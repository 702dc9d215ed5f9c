import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { type Launched, launched, SHELLS } from "../../support/backend/launched-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";

describe.each(SHELLS)("launch script run by %s as sh", (shell) => {
  test("refuses its own command line in a restored pane, as tmux-resurrect types it", async () => {
    const run = await launched(shell);
    const lines = { outer: commandLine(run.outer()), inner: commandLine(run.inner()) };
    const { program, exit } = await killed(run);
    for (const [role, line] of Object.entries(lines)) {
      expect(line).toContain(` ${role} ${run.instance} `);
      expect(again(run, line, run.t.env)).toEqual(REFUSED);
    }
    expect([run.program(), run.exit()]).toEqual([program, exit]);
  });

  test("refuses a respawned pane", async () => {
    const run = await launched(shell);
    run.tmux("set-option", "-w", "-t", run.pane, "remain-on-exit", "on");
    run.tmux("respawn-pane", "-k", "-t", run.pane);
    // tmux scrolls the first line away.
    await eventually("the refusal", () => run.screen().includes("teams resume audit"));
  });

  test("refuses to start in the environment of its agent if the place record names another process", async () => {
    const run = await launched(shell);
    const line = commandLine(run.outer());
    writePlace(run, { instance: run.instance, panePid: run.outer() });
    await killed(run);
    expect(again(run, line, { ...run.t.env, TEAMS_INSTANCE: run.instance })).toEqual(REFUSED);
  });

  test.each([
    ["starts", "its own", "own", 2],
    ["starts", "its own, on one line", "own", undefined],
    ["refuses", "that of another start", "another", 2],
  ])("%s if the place record is %s", async (what, _record, owner, indent) => {
    const run = await launched(shell);
    const line = commandLine(run.outer());
    const { program } = await killed(run);
    const instance = owner === "own" ? run.instance : "00000000-0000-4000-8000-000000000000";
    writePlace(run, { instance, panePid: 4_194_999, spawnedAt: 1 }, indent);
    const place = run.paths.place;
    // The shell's own process id is known only now.
    const start = `sed "s/4194999/$$/" ${place} >${place}.new && mv ${place}.new ${place} && exec ${line}`;
    const { status, stderr } = again(run, start, { ...run.t.env, TEAMS_INSTANCE: run.instance });
    expect(stderr.includes("was not started")).toBe(what === "refuses");
    expect(run.program() === program).toBe(what === "refuses");
    expect(status).toBe(what === "refuses" ? 1 : 0);
  });
});

const REFUSED = {
  status: 1,
  stderr: [
    "rev@audit was not started: only teams runs this command, once for each start. Nothing was changed.",
    "To restart it with its conversation: teams resume audit\n",
  ].join("\n"),
};

/** The command line as `ps` prints it: what tmux-resurrect saves. */
function commandLine(pid: number): string {
  return execFileSync("ps", ["-o", "args=", "-p", `${pid}`], { encoding: "utf8" }).trim();
}

/** Ends the server with its agent, and returns what the agent has recorded. */
async function killed(run: Launched) {
  const pid = run.program();
  await run.t.killServer();
  await eventually("the end of the agent", () => startTimeOf(pid) === undefined && run.exit() !== undefined);
  return { program: pid, exit: run.exit() };
}

/** Runs a command line in a shell of the user. */
function again(run: Launched, line: string, env: Env) {
  const { status, stderr } = spawnSync("/bin/sh", ["-c", line], {
    env: { ...env, PATH: `${run.t.home}/bin:${run.t.env.PATH}` },
    encoding: "utf8",
    input: "exit 0\n",
    timeout: 180_000,
  });
  return { status, stderr };
}

function writePlace({ paths }: Launched, record: object, indent: number | undefined = 2): void {
  writeFileSync(paths.place, JSON.stringify(record, undefined, indent));
  expect(JSON.parse(readFileSync(paths.place, "utf8"))).toEqual(record);
}
