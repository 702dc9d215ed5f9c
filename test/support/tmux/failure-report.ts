import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { descendants, hasEnvEntry, processTable } from "../../../src/os/process/process-table.ts";
import type { PrivateTmux } from "./private-tmux.ts";

/** Lines of each screen and of each event log: enough for the moments before a failure. */
const MOST_LINES = 40;

/**
 * Describes the place of a failed test before the clean-up, so that it need not run again: load, processes, screens and the
 * last events of each team.
 */
export function failureReport(place: Pick<PrivateTmux, "env" | "root">): string {
  return [
    `load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(" ")}`,
    ...processesOf(place),
    ...screensOf(place),
    ...eventsBelow(place.root),
  ].join("\n");
}

function processesOf({ env }: Pick<PrivateTmux, "env">): readonly string[] {
  const table = processTable();
  const own = table.filter(
    ({ pid }) => pid !== process.pid && hasEnvEntry(pid, `TEAMS_TEST=${env.TEAMS_TEST}`),
  );
  const rows = [...descendants(table, own)].sort((a, b) => a.pid - b.pid);
  return [
    "-- processes: pid, parent, arguments",
    ...rows.map(({ pid, ppid, name }) => `${pid} ${ppid} ${argumentsOf(pid) || name}`.slice(0, 200)),
  ];
}

function argumentsOf(pid: number): string {
  const { stdout } = spawnSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim();
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
    ...tmux("capture-pane", "-p", "-t", pane.split(" ", 1)[0] ?? "").slice(-MOST_LINES),
  ]);
}

function eventsBelow(root: string): readonly string[] {
  const teams = join(root, "teams");
  if (!existsSync(teams)) return [];
  return readdirSync(teams).flatMap((team) => {
    const file = join(teams, team, "events.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    return [`-- last events of ${team}`, ...lines.slice(-MOST_LINES).map((line) => line.slice(0, 300))];
  });
}
