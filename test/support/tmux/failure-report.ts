import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PrivateTmux } from "./private-tmux.ts";

/** Lines of each screen and of each event log: enough for the moments before a failure. */
const MAX_LINES = 40;

/** Describes the screens and last events of a failed test's teams, before the clean-up. `setup/failed-test.ts` prints its processes. */
export function failureReport(place: Pick<PrivateTmux, "env" | "root">): string {
  return [...screensOf(place), ...eventsBelow(place.root)].join("\n");
}

function screensOf({ env }: Pick<PrivateTmux, "env">): readonly string[] {
  const tmux = (...words: readonly string[]): readonly string[] => {
    const all = ["-L", env.TEAMS_TMUX_SOCKET ?? "", ...words];
    const { status, stdout } = spawnSync("tmux", all, { env, encoding: "utf8" });
    return status === 0 ? stdout.trimEnd().split("\n") : [];
  };
  const panes = tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}:#{window_index} #{pane_title}");
  return panes.flatMap((pane) => [
    `-- pane ${pane}`,
    ...tmux("capture-pane", "-p", "-t", pane.split(" ", 1)[0] ?? "").slice(-MAX_LINES),
  ]);
}

function eventsBelow(root: string): readonly string[] {
  const teams = join(root, "teams");
  if (!existsSync(teams)) return [];
  return readdirSync(teams).flatMap((team) => {
    const file = join(teams, team, "events.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    return [`-- last events of ${team}`, ...lines.slice(-MAX_LINES).map((line) => line.slice(0, 300))];
  });
}
