import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { listTeams, readTeam } from "../../../src/team/config/config.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { teammatePane } from "../../support/team/teammate-pane.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

/** A command that creates one file when it starts, and ends when the test creates another file. */
const until = (started: string, end: string) => ({
  name: "Bash",
  input: { command: `touch ${started}; while [ ! -e ${end} ]; do sleep 0.05; done` },
});

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      { tools: [{ name: "Agent", input: { name: "ada", prompt: "Begin." } }] },
      { on: { contains: "It was found." }, tools: [until("heard", "end")] },
      { say: "All is done.", repeat: true },
    ],
    ada: [{ tools: [until("working", "go")] }, { say: "It was found." }],
  },
};

it("an empty config.json › does not end an agent or delay a message, and is restored by doctor --fix", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const words = ["run", "--team", "crew", "--playbook", "play.json"];
  const run = startTeams([...words, "--permission-mode", "bypassPermissions"], t.env, t.home);
  let output = "";
  run.child.stdout?.on("data", (bytes) => {
    output += String(bytes);
  });
  const made = (name: string) => eventually(name, () => existsSync(join(t.home, name)));
  const ref = teamRef(teamsHome(t.env), "crew");
  await made("working");
  const before = readTeam(ref);
  truncateSync(ref.paths.config, 0);
  await eventually("the lead's report", () => output.includes("continues with the last config"));
  writeFileSync(join(t.home, "go"), "");
  // The teammate ends its turn and reports; the lead starts another turn.
  await made("heard");
  expect(listTeams(teamsHome(t.env))).toMatchObject([
    { team: "crew", ours: true, problem: expect.any(String) },
  ]);
  const doctor = await teamsIn(t.env, t.home)(["doctor", "--fix"]);
  expect(doctor.out).toContain("repaired config.json from config.json.last; its members are team-lead, ada");
  expect(readTeam(ref).members.map(({ name }) => name)).toEqual(before.members.map(({ name }) => name));
  writeFileSync(join(t.home, "end"), "");
  expect(await run.ended, output).toBe(0);
  await leaves(t, nothing());
});

it("an empty config.json › does not end a starting agent, which waits and then uses the last good copy", async () => {
  const t = privateTmux();
  const { teams, dev } = await teammatePane(t, {
    version: 1,
    agents: { "*": [{ say: "I heard {{input}}", repeat: true }] },
  });
  const ref = teamRef(teamsHome(t.env), "crew");
  await dev.sees("I heard");
  const first = readStatus(ref, "dev")?.process.pid ?? 0;
  signalProcess(first, "SIGKILL");
  await dev.sees("r + Enter starts it again");
  const whole = readFileSync(ref.paths.config, "utf8");
  truncateSync(ref.paths.config, 0);
  dev.type("r", "Enter");
  await dev.sees(/continues with the last\s+config/);
  await eventually("the new process", () => {
    const now = readStatus(ref, "dev");
    return now?.state === "idle" && now.process.pid !== first;
  });
  writeFileSync(ref.paths.config, whole);
  expect((await teams(["send", "dev", "it is whole again"])).code).toBe(0);
  await dev.sees(/I heard[\s\S]*it is whole again/);
});
