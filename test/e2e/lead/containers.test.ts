import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { livenessOf } from "../../../src/os/process/identity.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { getTask } from "../../../src/team/tasks/tasks.ts";
import { TEAMS } from "../../support/processes/built-program.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";
import type { PrivateTmux } from "../../support/tmux/private-tmux.ts";

/** Runs a command in its own pid namespace, as in another container that shares the home. */
const CONTAINER = [
  "--fork",
  "--pid",
  "--mount-proc",
  ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
];
const hasContainers = spawnSync("unshare", [...CONTAINER, "true"]).status === 0;

interface Result {
  readonly code: number;
  json<T>(): T;
  error(): { readonly code: string; readonly message: string };
}

function inContainer({ env, home }: PrivateTmux, ...words: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const argv = [...CONTAINER, process.execPath, TEAMS, ...words, "--json"];
    execFile("unshare", argv, { env, cwd: home }, (error, out, err) => {
      const code = typeof error?.code === "number" ? error.code : 0;
      resolve({ code, json: () => JSON.parse(out), error: () => JSON.parse(err).error });
    });
  });
}

describe.runIf(hasContainers)("from another container that shares the home (S77)", () => {
  it("a member is neither declared dead nor ended, keeps its task, and receives messages", async () => {
    const { ref, place, spawn } = await ledTeam({ dev: [{ say: "got it", repeat: true }] });
    await spawn("dev");
    const teams = (...words: string[]) => inContainer(place, ...words, "--team", "crew");
    expect((await teams("task", "add", "its own")).code).toBe(0);
    expect((await teams("task", "claim", "1", "--as", "dev")).code).toBe(0);

    const status = (await teams("status")).json<{ members: object[] }>();
    expect(status.members[1]).toMatchObject({ name: "dev", alive: null, state: "unknown" });
    expect((await teams("task", "claim", "1")).error().code).toBe("TASK_CLAIMED");
    expect((await inContainer(place, "delete", "crew")).error().code).toBe("ACTIVE_MEMBERS");
    expect((await inContainer(place, "doctor", "--fix")).code).toBe(0);

    expect((await teams("send", "dev", "from afar")).code).toBe(0);
    await eventually("the turn", async () =>
      (await history(ref, "dev", { all: true })).some(
        ({ text, state }) => text === "from afar" && state === "done",
      ),
    );
    const { process } = readStatus(ref, "dev") ?? {};
    expect(process && livenessOf(process)).toBe("alive");
    expect(getTask(ref, "1")).toMatchObject({ owner: "dev", status: "in_progress" });
  });

  it("a teammate that agrees to a shutdown ends; a busy teammate gets no signal", async () => {
    const { ref, place, spawn } = await ledTeam({
      busy: [{ tools: [{ name: "Bash", input: { command: "touch working; sleep 300" } }] }],
    });
    await spawn("calm", { name: "busy", prompt: "work" });
    await eventually("the command", () => existsSync(join(place.home, "working")));
    const kill = (...words: string[]) => inContainer(place, "kill", ...words, "--team", "crew");
    expect((await kill("calm", "--timeout", "180")).json()).toMatchObject({
      kills: [{ name: "calm", outcome: "shut-down" }],
    });
    const refused = await kill("busy", "--timeout", "0");
    expect([refused.code, refused.error().code]).toEqual([1, "PERMISSION_DENIED"]);
    const { process } = readStatus(ref, "busy") ?? {};
    expect(process && livenessOf(process)).toBe("alive");
  });
});
