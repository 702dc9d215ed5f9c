import { ownParent, parentOf, psText, readProc } from "./process-table.ts";

/** Maximum ancestors to visit: more than any real session has. */
const MAX_DEPTH = 200;

/** Returns a variable of the environment that a process was started with; undefined if it is not set or not visible. */
export type StartVariable = (name: string) => string | undefined;

/**
 * Returns the start environment of the nearest living ancestor of this process whose environment satisfies `isWanted`.
 * @param from the first process to check; default: the parent of this process
 */
export function ancestorEnv(
  isWanted: (variable: StartVariable) => boolean,
  from?: number,
): StartVariable | undefined {
  const processes = process.platform === "linux" ? fromProc() : fromPs();
  const pid = findAbove(processes, (one) => isWanted((name) => processes.variable(one, name)), from);
  return pid === undefined ? undefined : (name) => processes.variable(pid, name);
}

/**
 * Returns the nearest living ancestor of this process that satisfies `isWanted`.
 * @param from the first process to check; default: the parent of this process
 */
export function ancestorThat(isWanted: (pid: number) => boolean, from?: number): number | undefined {
  return findAbove(process.platform === "linux" ? fromProc() : fromPs(), isWanted, from);
}

function findAbove(
  processes: Ancestry,
  isWanted: (pid: number) => boolean,
  from: number = ownParent,
): number | undefined {
  let pid: number | undefined = from;
  for (let depth = 0; pid !== undefined && pid > 1 && depth < MAX_DEPTH; depth += 1) {
    if (isWanted(pid)) return pid;
    pid = processes.parentOf(pid);
  }
  return undefined;
}

interface Ancestry {
  variable(pid: number, name: string): string | undefined;
  parentOf(pid: number): number | undefined;
}

function fromProc(): Ancestry {
  return {
    variable: (pid, name) =>
      (readProc(`${pid}/environ`) ?? "")
        .split("\0")
        .find((entry) => entry.startsWith(`${name}=`))
        ?.slice(name.length + 1),
    parentOf,
  };
}

/** Without /proc, one fork serves all: `ps -E` prints the environment after the arguments. */
function fromPs(): Ancestry {
  const rows = new Map(
    psText(["-axwwE", "-o", "pid=,ppid=,command="])
      .split("\n")
      .flatMap((line) => {
        const [, pid, parent, rest = ""] = /^\s*(\d+)\s+(\d+)\s(.*)$/.exec(line) ?? [];
        return pid === undefined ? [] : [[Number(pid), { parent: Number(parent), rest }] as const];
      }),
  );
  return {
    variable: (pid, name) =>
      rows
        .get(pid)
        ?.rest.split(` ${name}=`)[1]
        ?.split(/ (?=[A-Za-z_]\w*=)/)[0],
    parentOf: (pid) => rows.get(pid)?.parent,
  };
}
