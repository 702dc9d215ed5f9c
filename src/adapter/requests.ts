import { cutText } from "../text/characters/cut-text.ts";
import { stripControls } from "../text/terminal-text.ts";

/** Longest summary of a call, in characters. */
const MAX_SUMMARY = 2_000;

/** Returns a hostile text as one line for a person. */
export function oneLine(text: string): string {
  return cutText(stripControls(text).replace(/\s+/g, " ").trim(), MAX_SUMMARY);
}

/** Returns the fields of a value of unknown form; none if it is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the deny rules that keep a CLI to the tools of its agent type, as far as it asks. @param tools undefined for all */
export function denialsFor(tools: readonly string[] | undefined): readonly string[] {
  if (tools === undefined) return [];
  return [["Bash"], ["Edit", "Write"], ["WebFetch"]].flatMap((names) =>
    names.some((name) => tools.includes(name)) ? [] : names,
  );
}
