import { MAX_DIRS } from "./commands/line-limits.ts";
import { absolute } from "./commands/path-list.ts";
import type { ShellLine } from "./shell-line.ts";
import { commandStarts } from "./simple-command.ts";

/** Commands that change the directory of the shell. */
const ENTERS: ReadonlySet<string> = new Set(["cd", "chdir", "pushd", "popd"]);

/** Returns where a command changes the directory of the shell; undefined if it does not. */
export function enteringAt(words: readonly string[]): number | undefined {
  for (const at of commandStarts(words)) if (ENTERS.has(words[at] ?? "")) return at;
  return undefined;
}

/** `cd x`, `command cd x`. */
export function onlyEnters([first = "", second = ""]: readonly string[]): boolean {
  return ENTERS.has(first) || (/^(?:command|builtin)$/.test(first) && ENTERS.has(second));
}

/** Returns the directories that a line may be in; undefined if they are too many. */
export function directoriesOf(
  { anywhere }: ShellLine,
  cwd: string,
  home: string,
): readonly string[] | undefined {
  const dirs = new Set([cwd]);
  for (const command of anywhere.mentioned) {
    const at = enteringAt(command);
    if (at === undefined) continue;
    const words = command.slice(at + 1);
    // Only the shell knows which word is the directory: `cd -P x`, `cd -- x`, `pushd -n x`.
    for (const to of words.length === 0 ? ["~"] : words) {
      for (const dir of [...dirs]) dirs.add(absolute(to, dir, home));
      if (dirs.size > MAX_DIRS) return undefined;
    }
  }
  return [...dirs];
}
