import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResumeReport } from "../../../src/operations/resume/resume.ts";
import type { TeamStatus } from "../../../src/operations/status.ts";
import type { Env } from "../../../src/os/env.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, leftoversOf, nothing } from "../../support/assertions/leftovers.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const AGENTS = {
  ada: [{ tools: [{ name: "Bash", input: { command: "touch working; sleep 300" } }] }, { say: "it is done" }],
  dev: [{ say: "I am there.", repeat: true }],
};

/** Creates a team in panes of the user's session, with ada in the middle of a turn. */
async function atWork() {
  const t = privateTmux();
  const { pane } = t.session();
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: AGENTS }));
  const teams = teamsIn(t.env, t.home);
  // Without a separate environment, a poll of eventually starts no process.
  const done = async (words: string, env?: Env) => {
    const ended = await teams(words.split(" "), env && { env });
    expect([words, ended.code, ended.err]).toEqual([words, 0, ""]);
    return ended;
  };
  const inside = t.inside(pane);
  await done("create crew", inside);
  await done("task add count", inside);
  const spawn = "--model scripted:play.json --permission-mode bypassPermissions --prompt begin";
  await done(`spawn ada ${spawn}`, inside);
  await done(`spawn dev ${spawn}`, inside);
  await done("task claim 1 --as dev");
  await eventually("ada's command", () => existsSync(join(t.home, "working")));
  return { t, done, teams, ref: teamRef(teamsHome(t.env), "crew") };
}

/** The ways to end the server, each with the command that removes the team afterwards. */
const WAYS: [string, string, (t: PrivateTmux) => Promise<unknown>][] = [
  ["ended by kill-server", "kill crew --purge", (t) => t.killServer()],
  [
    "killed with SIGKILL",
    "delete crew",
    async (t) => {
      const pid = Number(t.tmux("display-message", "-p", "#{pid}"));
      signalProcess(pid, "SIGKILL");
      await eventually("the server's end", () => startTimeOf(pid) === undefined);
    },
  ],
];

describe.each(WAYS)("a busy team whose tmux server is %s (S51)", (_, removal, end) => {
  it("is reported as exited, leaves no process, and continues its turn after resume", async () => {
    const { t, done, teams, ref } = await atWork();
    await end(t);
    const status = async () => (await done("status --json")).json<TeamStatus>();
    await eventually("both exit records", async () =>
      (await status()).members.slice(1).every(({ exit }) => exit !== null),
    );
    // A status that ran before an exit record unassigned no task: run it again.
    const { members, tasks } = await status();
    const ended = { state: "exited", alive: false, paneId: expect.any(String), exit: { signal: "SIGHUP" } };
    expect(members.slice(1)).toMatchObject([
      { name: "ada", ...ended },
      { name: "dev", ...ended },
    ]);
    expect(tasks.list).toMatchObject([{ id: "1", status: "pending" }]);
    await eventually("the end of all processes", () => leftoversOf(t).processes.length === 0);

    expect((await done("status")).out).toMatch(
      /ada, dev have ended, and their tmux server is gone\..*teams resume crew/,
    );
    for (const command of ["peek", "attach", "hide"]) {
      const { hint } = (await teams([command, "dev", "--json"])).error();
      expect(hint, command).toMatch(/^dev has ended, and its tmux server is gone\..*teams resume crew$/);
    }

    const { pane } = t.session();
    const { members: now } = (await done("resume crew --json", t.inside(pane))).json<ResumeReport>();
    expect(now).toMatchObject([
      { name: "ada", outcome: "restarted", taskIds: [] },
      { name: "dev", outcome: "restarted", taskIds: ["1"] },
    ]);
    // ada received no new message.
    const transcript = readStatus(ref, "ada")?.transcript ?? "";
    await eventually("the rest of ada's turn", () => readFileSync(transcript, "utf8").includes("it is done"));
    await done("kill crew --force --purge");
    await leaves(t, nothing(["work:cat"]));
  });

  it(`is removed by ${removal} without leftovers`, async () => {
    const { t, done } = await atWork();
    await end(t);
    await eventually("both ends", async () =>
      (await done("status --json")).json<TeamStatus>().members.every(({ alive }) => alive !== true),
    );
    await done(removal);
    await leaves(t, nothing());
  });
});
