import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** Creates a team with one teammate; `run` runs commands with another runtime directory. */
async function moved(runtime: (home: string) => string) {
  const { ref, place, spawn } = await ledTeam();
  await spawn("dev");
  const env = { ...place.env, XDG_RUNTIME_DIR: runtime(place.home) };
  return { ref, place, run: teamsIn(env, place.home), fifos: ref.paths.agent("dev").runtime };
}

describe("a runtime directory that changed after the start", () => {
  it("kill still removes the FIFOs in the earlier directory", async () => {
    const { run, fifos } = await moved((home) => join(home, "elsewhere"));
    expect(readdirSync(fifos).sort()).toEqual(["bell", "life", "ready"]);
    expect((await run(["kill", "dev", "--force"])).code).toBe(0);
    expect(existsSync(fifos)).toBe(false);
  });

  it("kill leaves recorded FIFOs alone if their path leads through a link", async () => {
    const { run, place, ref, fifos } = await moved((home) => join(home, "elsewhere"));
    const elsewhere = join(place.home, "linked");
    const team = dirname(fifos);
    mkdirSync(join(elsewhere, "teams"), { recursive: true, mode: 0o700 });
    symlinkSync(dirname(team), join(elsewhere, "teams", dirname(team).split("/").at(-1) ?? ""));
    const { status } = ref.paths.agent("dev");
    // A live agent would record the true path again.
    const pid = readStatus(ref, "dev")?.process.pid ?? 0;
    signalProcess(pid, "SIGKILL");
    await eventually("the end of dev", () => startTimeOf(pid) === undefined);
    const link = fifos.replace(place.runtime, elsewhere);
    const edited = readFileSync(status, "utf8").replaceAll(`${fifos}/`, `${link}/`);
    expect(edited).toContain(link);
    writeFileSync(status, edited);
    expect((await run(["kill", "dev", "--force"])).code).toBe(0);
    expect(readdirSync(fifos).sort()).toEqual(["bell", "life", "ready"]);
  });
});

describe("a runtime directory that is a file", () => {
  it("blocks only commands that need a FIFO, and the hint of spawn names XDG_RUNTIME_DIR", async () => {
    const { ref, run } = await moved((home) => {
      writeFileSync(join(home, "file"), "");
      return join(home, "file");
    });
    for (const words of [["status"], ["peek", "dev"], ["doctor"]]) {
      expect((await run(words)).err, words.join(" ")).not.toContain("PERMISSION_DENIED");
    }
    expect((await run(["status"])).code).toBe(0);
    const refused = await run(["spawn", "ada", "--teammate-mode", "process", "--json"]);
    expect(refused.error()).toMatchObject({
      code: "PERMISSION_DENIED",
      hint: expect.stringContaining("Set XDG_RUNTIME_DIR"),
    });
    expect((await run(["kill", "dev", "--force"])).code).toBe(0);
    expect((await run(["delete", ref.team])).code).toBe(0);
    expect(existsSync(ref.paths.dir)).toBe(false);
  });
});

describe("a relative TEAMS_HOME", () => {
  it("is the same root for a teammate in another directory", async () => {
    const { place, ref } = await ledTeam();
    const other = join(place.home, "other");
    mkdirSync(other);
    const run = teamsIn({ ...place.env, TEAMS_HOME: relative(place.home, ref.home.root) }, place.home);
    const play = {
      version: 1,
      agents: { dev: [{ tools: [{ name: "Bash", input: { command: "echo $TEAMS_HOME >root" } }] }] },
    };
    writeFileSync(join(place.home, "play.json"), JSON.stringify(play));
    const words = ["dev", "--prompt", "Begin.", "--cwd", "other", "--teammate-mode", "process", "--json"];
    const mode = ["--permission-mode", "bypassPermissions"];
    const spawned = await run(["spawn", ...words, ...mode]);
    expect(spawned.code, spawned.err).toBe(0);
    await eventually("dev's command", () => existsSync(join(other, "root")));
    await eventually("the end of dev's turn", () => isAtRest(ref, "dev"));
    expect(readFileSync(join(other, "root"), "utf8").trim()).toBe(ref.home.root);
    expect((await run(["kill", "dev", "--force"])).code).toBe(0);
  });
});
