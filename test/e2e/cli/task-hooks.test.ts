import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";

const OWN = `${process.execPath} ${TEAMS}`;

/** Creates a team with two tasks, and then these hooks, which also write a line to `ran` each time. */
async function teamWith(hooks: Readonly<Record<string, string>>) {
  const base = temporaryDirectory();
  const [root, cwd] = [join(base, "root"), join(base, "repo")];
  for (const path of [root, cwd]) mkdirSync(path);
  const teams = teamsIn({ PATH: process.env.PATH, HOME: base, TEAMS_HOME: root }, cwd);
  await teams(["create", "crew"]);
  for (const subject of ["First", "Second"]) await teams(["task", "add", subject]);
  const all = Object.entries(hooks).map(([event, command]) => {
    const own = { type: "command", command: `echo ${event} >> ran; ${command}` };
    return [event, [{ hooks: [own] }]];
  });
  writeFileSync(join(root, "settings.json"), JSON.stringify({ hooks: Object.fromEntries(all) }));
  const tasks = async (): Promise<string[]> =>
    (await teams(["task", "list", "--json"]))
      .json<{ tasks: { subject: string; status: string }[] }>()
      .tasks.map(({ subject, status }) => `${subject}: ${status}`);
  const ran = (): string[] => readFileSync(join(cwd, "ran"), "utf8").trim().split("\n");
  return { cwd, teams, tasks, ran, records: join(root, "teams-hooks") };
}

describe("hooks of tasks", () => {
  it("do not run for a command of a hook of the same event, even if a hook of another event runs in between", async () => {
    const { teams, tasks, ran, records } = await teamWith({
      TaskCompleted: `${OWN} task add Added`,
      TaskCreated: `${OWN} task done 2`,
    });
    expect(await teams(["task", "done", "1"])).toMatchObject({ code: 0 });
    expect(ran()).toEqual(["TaskCompleted", "TaskCreated"]);
    expect(await tasks()).toEqual(["First: completed", "Second: completed", "Added: pending"]);
    expect(readdirSync(records)).toEqual([]);
  });

  it("do not run for a background command that a hook of the same event started", async () => {
    const { cwd, teams, tasks, ran } = await teamWith({
      TaskCreated: `(until [ -e go ]; do sleep 0.02; done; ${OWN} task add Later) >/dev/null 2>&1 &`,
    });
    await teams(["task", "add", "Third"]);
    writeFileSync(join(cwd, "go"), "");
    await eventually("the later task", async () => (await tasks()).includes("Later: pending"));
    expect(ran()).toEqual(["TaskCreated"]);
  });

  it("run for a command that only sets TEAMS_HOOK, while a hook of that event runs", async () => {
    const { cwd, teams } = await teamWith({
      TaskCompleted: "[ -e hold ] || exit 2; touch held; until [ -e go ]; do sleep 0.02; done",
    });
    writeFileSync(join(cwd, "hold"), "");
    const first = teams(["task", "done", "1"]);
    await eventually("the hook", () => existsSync(join(cwd, "held")));
    rmSync(join(cwd, "hold"));
    const env = { TEAMS_HOOK: "TaskCompleted" };
    expect((await teams(["task", "done", "2"], { env })).err).toContain("TaskCompleted hook refused");
    writeFileSync(join(cwd, "go"), "");
    expect(await first).toMatchObject({ code: 0 });
  });
});
