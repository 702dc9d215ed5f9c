import type { ParsedScript } from "unbash";
import { expandBraces } from "./commands/brace-expansion.ts";
import { changesDirectory } from "./commands/command-starts.ts";
import { MAX_REDIRECTIONS } from "./commands/line-limits.ts";
import { createdBy, ownFileReason } from "./files/own-programs.ts";
import { redefines, redefinesBuiltins } from "./syntax/line-words.ts";
import { READ_OTHERWISE } from "./syntax/other-shells.ts";
import type { LineParts } from "./syntax/parts.ts";
import { PartsCollector } from "./syntax/parts-collector.ts";

/** Collects the parts of a line. Throws a RangeError for syntax that is nested too deeply. */
export function partsOf(root: ParsedScript, line: string): LineParts {
  const first = collected(root, line, true);
  const collector = first.setsPlaces ? collected(root, line, false) : first;
  const numeric = /<\d{0,9}-\d{0,9}>/.exec(line)?.[0];
  // A pattern of numbers in zsh, two redirections in bash.
  if (numeric !== undefined) collector.hidden ??= `${JSON.stringify(numeric)} can be read in two ways`;
  const written = collector.files.flatMap(({ kind, path }) => (kind === "write" ? [path] : []));
  collector.hidden ??= ownFileReason(collector.mentioned, written);
  // Another shell may read the line differently: zsh's `>! file` and `for f (a) …`.
  if (collector.isUnread || READ_OTHERWISE.test(line)) collector.unread(line);
  const excess = collector.excess ?? excessOfWords(collector, line);
  const { mentioned, flows, inputs, items, isUnread } = collector;
  const isForBuiltins = collector.redefinesBuiltins || mentioned.some(redefinesBuiltins);
  const isRedefining = isForBuiltins || collector.isRedefining || mentioned.some(redefines);
  const isLinked =
    collector.isLinked || written.length > 0 || mentioned.some((command) => createdBy(command).length > 0);
  return {
    ...{ mentioned, flows, inputs, isLinked, isUnread },
    isRedefining: isRedefining || collector.functions.size > 0,
    functions: isRedefining || isUnread ? undefined : collector.functions,
    builtins: isForBuiltins || isUnread ? undefined : collector.functions,
    files: collector.files,
    setsPlaces: first.setsPlaces,
    // Other shells have loops that this grammar does not know.
    entersRepeatedly: collector.entersRepeatedly || (isUnread && mentioned.some(changesDirectory)),
    searchesDirectories:
      collector.searchesDirectories || mentioned.flat().some((word) => /^CDPATH=/.test(word)),
    matchesHidden: collector.matchesHidden,
    loose: [...new Set(collector.loose)],
    assigned: new Set(collector.loose.filter((text) => !items.has(text))),
    globs: collector.values.globs,
    ...(collector.hidden === undefined ? {} : { hidden: collector.hidden }),
    ...(excess === undefined ? {} : { excess }),
  };
}

function collected(root: ParsedScript, line: string, knowsPlaces: boolean): PartsCollector {
  const collector = new PartsCollector(knowsPlaces);
  collector.collect(root, line);
  return collector;
}

/** Returns why a line has too many redirections or words to check, as a clause; undefined if it does not. */
function excessOfWords({ files, values }: PartsCollector, line: string): string | undefined {
  if (new Set(files.map(({ kind, path }) => `${kind} ${path}`)).size > MAX_REDIRECTIONS)
    return "it redirects too many files";
  return values.expandsBraces && !expandBraces(line).isWhole ? "its braces make too many words" : undefined;
}
