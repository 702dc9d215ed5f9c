import { normalize } from "node:path";
import { baseName, runnerOf } from "../commands/runners.ts";

/** Commands whose words may name a file that they create. */
const CREATES = /^(?:tee|cp|mv|ln|install|dd|curl|wget|sponge)$/;

/** Returns the words of a command that name files that it may create, and that a later command could run. */
export function createdBy(words: readonly string[]): readonly string[] {
  return CREATES.test(baseName(words[0] ?? ""))
    ? words.slice(1).map((word) => word.replace(/^(?:of|--\w+)=/, ""))
    : [];
}

/**
 * Returns the reason to ask if commands run a file that they create, because its text is not searched; undefined otherwise.
 * @param written files of redirections
 */
export function ownFileReason(
  commands: readonly (readonly string[])[],
  written: readonly string[],
): string | undefined {
  const created = new Set([...written, ...commands.flatMap(createdBy)].map((path) => normalize(path)));
  const run = commands.map(runFile).find((path) => path !== undefined && created.has(normalize(path)));
  return run === undefined ? undefined : `it creates and runs ${run}`;
}

/** Returns the file that a command runs: a program by its path, or the script of a shell or an interpreter. */
function runFile(words: readonly string[]): string | undefined {
  const [name = "", ...rest] = words;
  if (name === "." || name === "source") return rest[0];
  if (runnerOf(name)?.runsInput) return rest.find((word) => !word.startsWith("-"));
  return name.includes("/") ? name : undefined;
}
