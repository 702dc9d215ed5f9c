import { spawnSync } from "node:child_process";
import { loadavg } from "node:os";
import { descendants, processTable } from "../../../src/os/process/process-table.ts";
import { leaksOf } from "../assertions/leaks.ts";

/** Maximum characters of a process's row. */
const MAX_CHARACTERS = 200;

/** Describes the load of the machine, and every process that names a directory in its arguments or environment, with its descendants. */
export function processReport(directory: string): string {
  const load = loadavg().map((one) => one.toFixed(1));
  return [`load ${load.join(" ")}`, "-- processes: pid, parent, arguments", ...rowsOf(directory)].join("\n");
}

function rowsOf(directory: string): readonly string[] {
  const named = new Set(leaksOf(directory).flatMap(({ pid }) => pid ?? []));
  const table = processTable();
  const all = descendants(
    table,
    table.filter(({ pid }) => named.has(pid)),
  );
  if (all.size === 0) return ["none"];
  const pids = [...all].map(({ pid }) => pid).sort((a, b) => a - b);
  const { stdout } = spawnSync("ps", ["-ww", "-o", "pid=,ppid=,args=", "-p", pids.join(",")], {
    encoding: "utf8",
  });
  // null if ps could not be started; "" if all the processes have ended.
  if (!stdout) return ["ps printed nothing"];
  return stdout
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .trim()
        .replace(/^(\d+) +(\d+) +/, "$1 $2 ")
        .slice(0, MAX_CHARACTERS),
    );
}
