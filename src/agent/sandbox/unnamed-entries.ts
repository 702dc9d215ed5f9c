import { nearestNamed } from "../../os/files/walk.ts";
import { shellBytes } from "../../text/shell-quote.ts";

/** An entry to close whose path is not UTF-8: no argument of a program can name it. The nearest directory is closed instead. */
export interface UnnamedEntry {
  readonly path: Buffer;
  /** The access that commands still have. */
  readonly access: "none" | "read";
}

/** Maximum number of entries that one report names. */
const MAX_REPORTED = 3;

/** Returns the directories to close instead. A working directory stays open, because commands must work there. */
export function placesInstead(
  entries: readonly UnnamedEntry[],
  workingDirs: readonly string[],
): readonly { readonly path: string; readonly access: UnnamedEntry["access"] }[] {
  return entries
    .map(({ path, access }) => ({ path: nearestNamed(path), access }))
    .filter(({ path }) => !workingDirs.includes(path));
}

/** Returns one line for a person: how the sandbox treats such entries. */
export function unnamedReport(entries: readonly UnnamedEntry[], workingDirs: readonly string[]): string {
  const named = entries.slice(0, MAX_REPORTED).map((entry) => outcomeOf(entry, workingDirs));
  const rest = entries.length - named.length;
  const all = [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
  return `the sandbox cannot close a path that is not UTF-8: ${all}. Rename such a path so that it can be closed.`;
}

function outcomeOf({ path, access }: UnnamedEntry, workingDirs: readonly string[]): string {
  const [verb, state] = access === "none" ? ["read", "hidden from"] : ["change", "read-only for"];
  const [directory, shown] = [nearestNamed(path), shellBytes(path)];
  return workingDirs.includes(directory)
    ? `commands can ${verb} ${shown}`
    : `${directory} is ${state} commands because of ${shown}`;
}
