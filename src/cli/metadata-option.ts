import { TeamError } from "../errors.ts";

/** The option of a command that attaches the user's metadata to a team, a member or a task. */
export const METADATA_OPTION = {
  value: "key=value",
  summary: "attach metadata, which --json shows",
  many: true,
} as const;

/**
 * Parses `key=value` words; undefined if there are none.
 * @throws TeamError INVALID_INPUT
 */
export function metadataOption(words: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (words.length === 0) return undefined;
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      const key = word.slice(0, Math.max(at, 0)).trim();
      if (key !== "" && !key.startsWith("_")) return [key, word.slice(at + 1)];
      throw new TeamError(
        "INVALID_INPUT",
        `--metadata cannot be ${JSON.stringify(word)}; nothing was done.`,
        {
          hint: key.startsWith("_")
            ? "Keys that begin with _ are reserved for programs. Use another key."
            : "Give a key and a value: --metadata ticket=42",
        },
      );
    }),
  );
}
