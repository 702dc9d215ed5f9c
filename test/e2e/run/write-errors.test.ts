import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { unfinishedEndings } from "../../../src/team/members/ending-claims.ts";
import { livenessOfAgent, readStatus } from "../../../src/team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

const bash = (command: string) => ({ name: "Bash", input: { command } });
const waitsFor = (name: string) => bash(`touch ${name}-works; until [ -e ${name}-goes ]; do sleep 0.1; done`);
const PLAYBOOK = {
  version: 1,
  agents: {
    [LEAD_NAME]: [
      {
        tools: ["ann", "bob"].map((name) => ({ name: "Agent", input: { name, prompt: "Begin." } })),
      },
      { say: "They work." },
      { on: { contains: "ann crashed" }, tools: [bash("touch bob-goes")] },
      { on: { contains: "Look too" }, tools: [waitsFor("lead")] },
      { say: "Over.", repeat: true },
    ],
    ann: [{ tools: [waitsFor("ann")] }],
    bob: [{ tools: [waitsFor("bob")] }, { say: "Done." }],
  },
};

interface World {
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
  readonly lead: number;
  readonly ended: Promise<number | null>;
  /** The lead's output. */
  out(): string;
  /** Kills one teammate. */
  killAnn(): void;
}

/** Collects the text of a stream. */
function textOf(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return () => text;
}

/** Starts a run, and waits until its lead is idle and both of its teammates work. */
async function world(): Promise<World> {
  const t = privateTmux();
  const ref = teamRef(teamsHome(t.env), "crew");
  writeFileSync(join(t.home, "book.json"), JSON.stringify(PLAYBOOK));
  const words = ["run", "--team", "crew", "--playbook", "book.json", "--teammate-mode", "process"];
  const { child, ended } = startTeams(
    [...words, "--permission-mode", "bypassPermissions", "Go."],
    t.env,
    t.home,
  );
  const out = textOf(child.stdout);
  for (const name of ["ann", "bob"])
    await eventually(`${name}'s command`, () => existsSync(join(t.home, `${name}-works`)));
  await eventually("the lead to be idle", () => readStatus(ref, LEAD_NAME)?.state === "idle");
  return {
    t,
    ref,
    lead: child.pid ?? 0,
    ended,
    out,
    killAnn: () => signalProcess(readStatus(ref, "ann")?.process.pid ?? 0, "SIGKILL"),
  };
}

/** Expects that the run lost nothing by the error: the lead is notified, and the work ends as usual. */
async function expectCompleted({ ref, ended, out }: World): Promise<void> {
  expect(await ended, out()).toBe(0);
  expect(out()).toContain("ann crashed");
  expect(out()).toMatch(/Over\.\s*$/);
  expect(existsSync(ref.paths.dir)).toBe(false);
}

describe("a run during a write error", () => {
  it("tries again and does not end a teammate when another program locks the lead's inbox while a teammate dies", async () => {
    const w = await world();
    const lock = `${w.ref.paths.inbox(LEAD_NAME)}.lock`;
    mkdirSync(lock);
    // The lock counts as renewed for an hour.
    const renewedAt = new Date(Date.now() + 3_600_000);
    utimesSync(lock, renewedAt, renewedAt);
    w.killAnn();
    // At least one of three consecutive attempts is made by the idle lead, which checks whether its run is over.
    const tries = () => unfinishedEndings(readTeam(w.ref))[0]?.tries;
    const third = await eventually("the third attempt", () => ((tries() ?? 0) >= 3 ? tries() : undefined));
    await eventually("the next attempt", () => tries() !== third);
    expect(livenessOfAgent(w.ref, LEAD_NAME)).toBe("alive");
    expect(livenessOfAgent(w.ref, "bob")).toBe("alive");
    rmdirSync(lock);
    writeFileSync(join(w.t.home, "bob-goes"), "");
    expect(await w.ended, w.out()).toBe(0);
    expect(w.out()).toMatch(/was\s+locked\s+for\s+\d+\s+s\s+by/);
    expect(existsSync(w.ref.paths.dir)).toBe(false);
  });

  it.skipIf(!hasPrlimit)(
    "tries again and does not end a teammate when no file can be written while a teammate dies",
    async () => {
      const w = await world();
      limitFiles(w, "0");
      w.killAnn();
      await eventually("the report", () => w.out().includes("EFBIG"));
      expect(livenessOfAgent(w.ref, LEAD_NAME)).toBe("alive");
      expect(livenessOfAgent(w.ref, "bob")).toBe("alive");
      limitFiles(w, "unlimited");
      await expectCompleted(w);
    },
  );

  it.skipIf(!hasPrlimit)(
    "waits in the turn while the lead's conversation cannot be written, and then continues",
    async () => {
      const w = await world();
      const teams = teamsIn(w.t.env, w.t.home);
      expect((await teams(["send", LEAD_NAME, "Look too."])).code).toBe(0);
      await eventually("the lead's command", () => existsSync(join(w.t.home, "lead-works")));
      limitFiles(w, "0");
      writeFileSync(join(w.t.home, "lead-goes"), "");
      await eventually("the report", () => /the conversation cannot be saved[\s\S]*EFBIG/.test(w.out()));
      for (const name of [LEAD_NAME, "ann", "bob"]) expect(livenessOfAgent(w.ref, name), name).toBe("alive");
      limitFiles(w, "unlimited");
      await eventually("the lead to be idle", () => readStatus(w.ref, LEAD_NAME)?.state === "idle");
      w.killAnn();
      await expectCompleted(w);
    },
  );
});

/** Sets the maximum size of a file, in bytes, that the lead's process may write. */
function limitFiles({ lead }: World, bytes: string): void {
  expect(spawnSync("prlimit", ["--pid", `${lead}`, `--fsize=${bytes}:`]).status).toBe(0);
}
