import { cutText } from "../text/characters/cut-text.ts";
import { stripControls } from "../text/terminal-text.ts";

/** Maximum length of a call's summary, in characters. */
const MAX_SUMMARY = 2_000;
/** Maximum length of a call's result in the pane and the log, in characters. */
const MAX_RESULT = 20_000;

/** Returns a hostile text as one line without control characters. */
export function cleaned(text: string): string {
  return stripControls(text).replace(/\s+/g, " ").trim();
}

/** Returns a hostile text as one line for a person; a very long one is cut. */
export function oneLine(text: string): string {
  return cutText(cleaned(text), MAX_SUMMARY);
}

/** Returns the result of a call; a very long one is cut. */
export function cutResult(text: string): string {
  return cutText(text, MAX_RESULT);
}

/** The fields of a value of unknown form. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of a value of unknown form; none if it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
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
export function fieldsIn(text: string): Fields {
  return fieldsOf(parsedJson(text));
}

/** Returns a number of tokens; 0 for any other value. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
