import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { teamsIn } from "../processes/built-program.ts";
import type { PrivateTmux } from "../tmux/private-tmux.ts";
import { type PaneUser, userAt } from "../tmux/terminal-user.ts";

/** Spawns the teammate `dev` with a playbook from a person's shell in tmux. @returns the shell's `teams`, and a user at dev's pane */
export async function teammatePane(
  t: PrivateTmux,
  playbook: object,
  ...options: readonly string[]
): Promise<{ readonly teams: ReturnType<typeof teamsIn>; readonly dev: PaneUser }> {
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const { pane } = t.session();
  const teams = teamsIn(t.inside(pane), t.home);
  await teams(["create", "crew"]);
  const words = ["--model", "scripted:play.json", "--prompt", "hello", "--json", ...options];
  const spawned = await teams(["spawn", "dev", ...words]);
  return { teams, dev: userAt(t, spawned.json<{ paneId: string }>().paneId) };
}
