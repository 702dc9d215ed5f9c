import { cutText } from "../text/characters/cut-text.ts";
import { stripControls } from "../text/terminal-text.ts";

/** Maximum length of a call's summary, in characters. */
const MAX_SUMMARY = 2_000;

/** Returns a hostile text as one line for a person. */
export function oneLine(text: string): string {
  return cutText(stripControls(text).replace(/\s+/g, " ").trim(), MAX_SUMMARY);
}

/** Returns the fields of a value of unknown form; none if it is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the value of a JSON text; undefined if it is not JSON, for example because it is cut off. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the fields of a JSON object in a text; none if the text is not one. */
export function fieldsIn(text: string): ReturnType<typeof fieldsOf> {
  return fieldsOf(parsedJson(text));
}

/** Returns deny rules for the tools that its agent type lacks; a CLI obeys them only where it asks. @param tools undefined for all */
export function denialsFor(tools: readonly string[] | undefined): readonly string[] {
  if (tools === undefined) return [];
  return [["Bash"], ["Edit", "Write"], ["WebFetch"]].flatMap((names) =>
    names.some((name) => tools.includes(name)) ? [] : names,
  );
}
