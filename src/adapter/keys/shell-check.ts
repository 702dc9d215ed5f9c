import { descendants, type ProcessRow, processTable } from "../../os/process/process-table.ts";
import { isShellFile } from "../../os/process/shells.ts";
import { type Inspect, inspectProcesses } from "../../os/process/started-with.ts";
import { readsTerminal } from "../../os/process/terminal-input.ts";
import { isBareShell, programName } from "./program-words.ts";

/** A shell that would run each message as a command. */
export interface FoundShell {
  readonly pid: number;
  readonly name: string;
}

/**
 * Returns the shell that reads what is typed into a program; undefined if there is none. It is the program itself, whatever its name, or
 * a shell at its prompt among its descendants. Such a descendant is in the foreground of a terminal (`script`, `sudo`), or has the
 * terminal open in a sandbox, where no process is in the foreground. A shell that reads a pipe does not count. Shells on other machines
 * and servers (`ssh`, `tmux`) are not found, nor programs that run their input as a command.
 * @param pid the process of the program; undefined if it has not started
 */
export function shellIn(
  pid: number | undefined,
  table: readonly ProcessRow[] = processTable(),
): FoundShell | undefined {
  const own = table.find((row) => row.pid === pid);
  if (own === undefined) return undefined;
  const inspect = inspectProcesses();
  const below = [...descendants(table, [own])].filter(
    (row) => row !== own && (row.foreground === true || row.withoutTerminal === true),
  );
  const shell = [own, ...below].find(
    (row) => isShell(row, inspect) && (row === own || readsTerminal(row, own)),
  );
  return shell && { pid: shell.pid, name: programName(inspect(shell.pid)?.words.slice(0, 1) ?? []) };
}

function isShell({ pid, name }: ProcessRow, inspect: Inspect): boolean {
  const started = inspect(pid);
  if (started === undefined) return false;
  const { words, program } = started;
  if (isBareShell(words)) return true;
  // A process keeps its file when the file is renamed or deleted. Without /proc, ps names the file.
  const file = program === undefined ? name : `/proc/${pid}/exe`;
  return isBareShell(words, true) && isShellFile(file);
}
