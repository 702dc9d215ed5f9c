import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { resumeTeam } from "../../../src/operations/resume/resume.ts";
import { teamStatus } from "../../../src/operations/status.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import { killAtEveryStep } from "../../support/kill/kill-at-every-step.ts";
import { agentsOf } from "../../support/processes/agent-processes.ts";
import { startTeams } from "../../support/processes/built-program.ts";
import { script } from "../../support/processes/script-process.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { type LedTeam, ledTeam } from "../../support/team/led-team.ts";
import { eventually } from "../../support/timing/eventually.ts";

const ECHO: PlaybookTurn[] = [{ say: "I heard {{input}}", repeat: true }];
const spawn = script("team/spawn-member");

describe("spawn killed at any step", () => {
  it("leaves a member that resume starts with its prompt, or a free name (S13)", async () => {
    const outcomes = new Set<string>();
    const steps = await killAtEveryStep(async (n) => {
      const team = await ledTeam({ dev: ECHO });
      const { ref, place } = team;
      return {
        child: spawn(JSON.stringify(place.env), ref.team, String(n)),
        check: async () => {
          const isMember = readTeam(ref).members.length > 1;
          const isSpawned = (n % 2 === 1 || !isMember) && (await spawnsAgain(team));
          outcomes.add(isSpawned ? (isMember ? "spawned again" : "spawned") : await resumed(team));
          const { members } = readTeam(ref);
          expect(
            members.map(({ name }) => name),
            `killed at ${n}`,
          ).toEqual([LEAD_NAME, "dev"]);
          expect(members[1]?.metadata?._restart, `killed at ${n}`).toBeUndefined();
          await eventually("dev's turn", () => isAtRest(ref, "dev"));
          expect(agentsOf(ref, "dev"), `killed at ${n}`).toEqual([readStatus(ref, "dev")?.process.pid]);
          const heard = (await history(ref, "dev")).map(({ text }) => text);
          expect(heard, `killed at ${n}`).toEqual(["begin"]);
        },
      };
    });
    expect(steps).toBeGreaterThan(8);
    expect([...outcomes].sort()).toEqual(["alive", "restarted", "spawned", "spawned again"]);
  });
});

/** Spawns the member again. @returns false if the killed spawn has started it meanwhile, so the name is taken */
async function spawnsAgain(team: LedTeam): Promise<boolean> {
  try {
    await team.spawn({ name: "dev", prompt: "begin" });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "DUPLICATE_NAME" });
    expect((await teamStatus(team.ctx)).members[1]?.alive).toBe(true);
    return false;
  }
}

async function resumed({ ctx }: LedTeam): Promise<string> {
  const background: Promise<unknown>[] = [];
  const { members } = await resumeTeam(ctx, { background: (work) => background.push(work) });
  await Promise.all(background);
  return members[0]?.outcome ?? "none";
}

describe("Ctrl-C during spawn", () => {
  it.each([
    ["once the teammate is a member", (team: LedTeam) => readTeam(team.ref).members.length > 1],
    ["once its pane exists", (team: LedTeam) => existsSync(team.ref.paths.agent("dev").place)],
    ["once it has written its status", (team: LedTeam) => readStatus(team.ref, "dev") !== undefined],
  ])("rolls back or reports the running teammate, and exits with 130 %s", async (_when, isReached) => {
    const team = await ledTeam({ dev: ECHO });
    const { ref, place } = team;
    place.session();
    const before = { config: readFileSync(ref.paths.config, "utf8"), panes: panesOf(team) };
    const { child, ended } = startTeams(["spawn", "dev", "--prompt", "begin"], place.env, place.home);
    const stderr = text(child.stderr as Readable);
    await eventually("the moment", () => isReached(team));
    child.kill("SIGINT");
    const [code, err] = await Promise.all([ended, stderr]);
    if (readTeam(ref).members.length > 1) {
      // The spawn may have finished before the signal came.
      if (code === 0) return expect(err).toBe("");
      expect(code, err).toBe(130);
      expect(err).toMatch(/Interrupted after dev was ready, so it keeps running.*teams kill dev/);
      expect(agentsOf(ref, "dev")).toEqual([readStatus(ref, "dev")?.process.pid]);
      return;
    }
    expect(code, err).toBe(130);
    expect(err).toMatch(/interrupted before it was ready.*INTERRUPTED/);
    expect(readFileSync(ref.paths.config, "utf8")).toBe(before.config);
    expect(readdirSync(join(ref.paths.dir, "inboxes"))).toEqual([]);
    expect(existsSync(ref.paths.agent("dev").run)).toBe(false);
    expect(existsSync(ref.paths.agent("dev").runtime)).toBe(false);
    await eventually("the pane's end", () => panesOf(team) === before.panes);
    expect(agentsOf(ref, "dev")).toEqual([]);
  });
});

function panesOf({ place }: LedTeam): string {
  return place.tmux("list-panes", "-a", "-F", "#{pane_id}");
}
