/** Tests and actions of find that neither write nor run anything, and have no value. Source: findutils' and BSD's manuals. */
export const FIND_WITHOUT_VALUE: ReadonlySet<string> = new Set(
  "-H -P ! ( ) , -a -and -o -or -not -depth -d -daystart -empty -executable -false -true -ls -mount -xdev -x -nogroup -nouser -print -print0 -prune -quit -readable -writable -warn -nowarn -noleaf".split(
    " ",
  ),
);
/** The same with a value in the next word. */
export const FIND_WITH_VALUE: ReadonlySet<string> = new Set(
  "-amin -atime -cmin -ctime -mmin -mtime -fstype -gid -group -inum -iname -name -ipath -path -iwholename -wholename -iregex -regex -regextype -links -maxdepth -mindepth -newermt -newerat -newerct -perm -printf -size -type -xtype -uid -used -user".split(
    " ",
  ),
);

/** Returns the words of find that may run a program, or write or remove a file: unlisted tests and actions. */
export function riskyInFind(args: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (FIND_WITH_VALUE.has(word) || /^-[ac]?newer$/.test(word)) at += 1;
    else if (!word.startsWith("-") || FIND_WITHOUT_VALUE.has(word) || /^-(?:L|follow)$/.test(word)) continue;
    else found.push(word);
    // The words of the program that it runs.
    const end = RUNS_PROGRAM.test(word) ? args.findIndex((one, i) => i > at && /^[;+]$/.test(one)) : -1;
    if (end > at) at = end;
  }
  return found;
}

const RUNS_PROGRAM = /^-(?:exec|ok)(?:dir)?$/;
