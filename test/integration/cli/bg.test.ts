import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentTask } from "../../../src/operations/background.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { writeStatus } from "../../../src/team/records/write-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { type Cli, cliIn } from "../../support/processes/in-process-cli.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { stopSteadyClock } from "../../support/timing/steady-clock.ts";
import type { RunningWorker } from "../../support/worker/start-worker.ts";
import { workerOfTest } from "../../support/worker/test-worker.ts";

interface Stage {
  readonly teams: Cli;
  readonly ref: TeamRef;
  readonly dev: RunningWorker;
  /** The id of dev's background work, and the pid of its command's shell. */
  readonly id: string;
  readonly pid: number;
}

const COMMAND = "echo hello; echo $$ > pid; sleep 600";
/** An agent's call that starts the command in the background. */
const BASH = { name: "Bash", input: { command: COMMAND, run_in_background: true } };

/** An agent's call that starts a subagent in the background, which runs the command. */
const SUBAGENT = {
  name: "Agent",
  input: { description: "look around", prompt: "Look.", run_in_background: true },
};

/** Starts an agent, and waits until it has work in the background and is idle. */
async function withBackground(call: typeof BASH | typeof SUBAGENT = BASH): Promise<Stage> {
  const teams = cliIn();
  await teams(["create", "crew"]);
  const ref = teamRef(teamsHome(teams.env), "crew");
  await addMembers(ref, [{ name: "dev", cwd: teams.directory }]);
  const turns = [{ tools: [call] }, { say: "begun" }, { say: "heard of the end" }];
  const subagents = { "general-purpose": [{ tools: [{ name: "Bash", input: { command: COMMAND } }] }] };
  const dev = await workerOfTest(ref, { turns, subagents });
  await sendMessage(ref, { from: "team-lead", to: "dev", text: "begin" });
  const path = join(dev.cwd, "pid");
  const pid = await eventually(
    "the command",
    () => existsSync(path) && Number(readFileSync(path, "utf8")) > 0 && Number(readFileSync(path, "utf8")),
  );
  await eventually("the agent's idle state", () => readStatus(ref, "dev")?.state === "idle");
  const [task] = await listed(teams);
  return { teams, ref, dev, pid: Number(pid), id: task?.id ?? "" };
}

async function listed(teams: Cli, ...words: readonly string[]): Promise<readonly AgentTask[]> {
  return (await teams(["bg", ...words, "--json"])).json<{ tasks: AgentTask[] }>().tasks;
}

describe("teams bg", () => {
  it("lists the background work of all members or of one, and prints its output", async () => {
    const { teams, id } = await withBackground();
    expect(await listed(teams, "dev")).toMatchObject([{ agent: "dev", id, kind: "bash", status: "running" }]);
    expect(await listed(teams, "team-lead")).toEqual([]);
    expect((await teams(["bg"])).out).toMatch(new RegExp(`dev +${id} +running +\\d+ s +echo hello`));
    await eventually("its output", async () => (await teams(["bg", "dev", id])).out === "hello\n");
  });

  it("--kill ends a command with all its processes, and its agent is notified", async () => {
    const { teams, dev, id, pid } = await withBackground();
    stopSteadyClock();
    const ended = await teams(["bg", "dev", id, "--kill"]);
    expect(ended).toMatchObject({ code: 0, out: `${id} of dev has ended.\n` });
    expect(startTimeOf(pid)).toBeUndefined();
    await eventually("the notice", () => dev.inputs.some((input) => input.includes("ended by the user")));
    expect((await teams(["bg"])).out).toBe("Nothing runs in the background.\n");
    expect(await listed(teams, "--all")).toMatchObject([{ id, status: "killed", how: "ended by the user" }]);
    expect((await teams(["bg", "dev", id, "--kill"])).out).toContain("had already ended");
  });

  it("lists, shows and ends a subagent with its command", async () => {
    const { teams, dev, id, pid } = await withBackground(SUBAGENT);
    const work = { agent: "dev", id, kind: "agent", status: "running", what: "look around" };
    expect(await listed(teams, "dev")).toMatchObject([work]);
    expect(await teams(["bg", "dev", id])).toMatchObject({
      code: 0,
      err: `${id} of dev has no output yet: the text of a subagent comes at its end.\n`,
    });
    stopSteadyClock();
    expect((await teams(["bg", "dev", id, "--kill"])).out).toBe(`${id} of dev has ended.\n`);
    await eventually("the end of its command", () => startTimeOf(pid) === undefined);
    await eventually("the notice", () => dev.inputs.some((input) => input.includes("ended by the user")));
    expect((await teams(["bg"])).out).toBe("Nothing runs in the background.\n");
  });

  it("shows the work of a killed agent as ended with it", async () => {
    const { teams, ref, id, dev } = await withBackground();
    await dev.stop();
    const path = ref.paths.agent("dev").background;
    const record = JSON.parse(readFileSync(path, "utf8"));
    expect(record.tasks).toMatchObject([{ id, status: "killed" }]);
    record.tasks[0].status = "running";
    writeFileSync(path, JSON.stringify(record));
    writeStatus(ref, "dev", statusOf({ process: deadProcess() }));
    expect(await listed(teams)).toEqual([]);
    expect(await listed(teams, "--all")).toMatchObject([{ id, how: "ended with its agent" }]);
  });

  it("refuses an unknown id, --kill without an id, and a teammate that ends another's work", async () => {
    const { teams, ref, id, pid } = await withBackground();
    const codeOf = async (words: readonly string[], env = {}): Promise<unknown> =>
      (await teams(["bg", ...words, "--json"], { env })).error().code;
    expect(await codeOf(["dev", "bash-0"])).toBe("TASK_NOT_FOUND");
    expect(await codeOf(["dev", "--kill"])).toBe("INVALID_INPUT");
    await addMembers(ref, [{ name: "rev", cwd: "/" }]);
    expect(await codeOf(["dev", id, "--kill"], { TEAMS_AGENT: "rev@crew" })).toBe("NOT_LEAD");
    expect(startTimeOf(pid)).toBeDefined();
  });
});
