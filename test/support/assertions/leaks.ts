import { existsSync, readdirSync, readFileSync } from "node:fs";
import { platform } from "../../../src/os/env.ts";
import { processTable, psText, readProc } from "../../../src/os/process/process-table.ts";

/** Something that a test file left on the machine. */
export interface Leak {
  /** One line for a person. */
  readonly text: string;
  /** Set for a process. */
  readonly pid?: number;
  /** Set for a mount. */
  readonly mount?: string;
}

/**
 * Finds processes whose arguments or environment name a directory (tmux servers too), mounts below it, and its entries. Processes
 * that the system hides are not found: on macOS its own programs, such as `/bin/sh`.
 */
export function leaksOf(directory: string): readonly Leak[] {
  const launchTextOf = launchTexts();
  const processes = processTable().flatMap(({ pid, name }): Leak[] => {
    const text = pid === process.pid ? "" : launchTextOf(pid);
    if (!text.includes(directory)) return [];
    return [{ text: `process ${pid} ${name}: ${argumentsOf(text)}`, pid }];
  });
  const mounts = mountsBelow(directory).map((mount): Leak => ({ text: `mount ${mount}`, mount }));
  const entries = existsSync(directory) ? readdirSync(directory) : [];
  return [...processes, ...mounts, ...entries.map((entry): Leak => ({ text: `${directory}/${entry}` }))];
}

/** Returns a function that gives a process's arguments and environment, separated by an empty string. */
function launchTexts(): (pid: number) => string {
  if (platform === "linux")
    return (pid) => `${readProc(`${pid}/cmdline`) ?? ""}\0${readProc(`${pid}/environ`) ?? ""}`;
  const lines = psText(["-axwwE", "-o", "pid=,command="]).split("\n");
  const texts = new Map(lines.map((line) => [Number.parseInt(line, 10), line.replace(/^\s*\d+ /, "")]));
  return (pid) => texts.get(pid) ?? "";
}

function argumentsOf(text: string): string {
  return (text.split("\0\0", 1)[0] ?? "").replaceAll("\0", " ").slice(0, 200);
}

function mountsBelow(directory: string): readonly string[] {
  if (platform !== "linux") return [];
  const lines = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return lines.map((line) => line.split(" ")[1] ?? "").filter((path) => path.startsWith(`${directory}/`));
}
