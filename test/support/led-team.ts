import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LeadContext } from "../../src/operations/context.ts";
import { createTeam } from "../../src/operations/create-team.ts";
import type { SpawnInput } from "../../src/operations/spawn/draft-member.ts";
import { type SpawnedTeammate, spawnTeammates } from "../../src/operations/spawn/spawn.ts";
import { systemClock } from "../../src/os/clock.ts";
import { LEAD_NAME } from "../../src/schema/names.ts";
import type { PlaybookTurn } from "../../src/schema/playbook.ts";
import { homeOf } from "../../src/team/home.ts";
import type { TeamRef } from "../../src/team/ref.ts";
import { type PrivateTmux, privateTmux } from "./tmux-server.ts";
import { contextOf } from "./worker.ts";

export interface LedTeam {
  readonly ref: TeamRef;
  readonly ctx: LeadContext;
  readonly place: PrivateTmux;
  /** Starts teammates that are the built program, each a child process, and plays them `play.json`. */
  spawn(...inputs: readonly (string | SpawnInput)[]): Promise<readonly SpawnedTeammate[]>;
}

/** A team whose lead is this test, in a home of its own; whatever it starts is ended with the test. */
export async function ledTeam(
  agents: Readonly<Record<string, readonly PlaybookTurn[]>> = {},
  name = "crew",
  place: PrivateTmux = privateTmux(),
): Promise<LedTeam> {
  const home = homeOf(place.env);
  const playbook = join(place.home, "play.json");
  writeFileSync(playbook, JSON.stringify({ version: 1, agents }));
  const { ref } = await createTeam(home, systemClock, {
    name,
    cwd: place.home,
    model: `scripted:${playbook}`,
    mode: "bypassPermissions",
  });
  const ctx = contextOf(ref, LEAD_NAME, { env: place.env, cwd: place.home });
  return {
    ref,
    ctx,
    place,
    async spawn(...inputs) {
      const behind: Promise<unknown>[] = [];
      const wanted = inputs.map((input) => (typeof input === "string" ? { name: input } : input));
      try {
        return await spawnTeammates(ctx, wanted, {
          mode: "process",
          background: (work) => behind.push(work),
        });
      } finally {
        await Promise.all(behind);
      }
    },
  };
}
