import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OperationContext } from "../../../src/operations/context.ts";
import { createTeam } from "../../../src/operations/create-team.ts";
import type { SpawnInput } from "../../../src/operations/spawn/draft-member.ts";
import { type SpawnedTeammate, spawnTeammates } from "../../../src/operations/spawn/spawn.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import { type TeamRef, teamsHome } from "../../../src/team/ref.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { contextOf } from "../worker/start-worker.ts";

export interface LedTeam {
  readonly ref: TeamRef;
  readonly ctx: OperationContext;
  readonly place: PrivateTmux;
  /** Starts teammates as child processes of the built program, with `play.json` as their playbook. */
  spawn(...inputs: readonly (string | SpawnInput)[]): Promise<readonly SpawnedTeammate[]>;
}

/** Creates a team led by this test, in a private home; everything that it starts is ended after the test. */
export async function ledTeam(
  agents: Readonly<Record<string, readonly PlaybookTurn[]>> = {},
  name = "crew",
  place: PrivateTmux = privateTmux(),
): Promise<LedTeam> {
  const home = teamsHome(place.env);
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
      const pending: Promise<unknown>[] = [];
      const wanted = inputs.map((input) => (typeof input === "string" ? { name: input } : input));
      try {
        return await spawnTeammates(ctx, wanted, {
          mode: "process",
          background: (work) => pending.push(work),
        });
      } finally {
        await Promise.all(pending);
      }
    },
  };
}
