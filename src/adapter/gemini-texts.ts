import { textStart } from "../text/characters/cut-text.ts";
import { withoutSpaces } from "../text/without-spaces.ts";

/** Number of characters that identify a text. */
const MATCHED_LENGTH = 400;

/** Returns a text in which no word begins with `@`: Gemini and Qwen would read the file that it names without asking. */
export function withoutFileMarks(text: string): string {
  return text.replace(/(^|\s)@/g, "$1\\@");
}

/** Whether the text of a turn contains the submitted text. Gemini and Qwen may trim that, or join it with others. */
export function isSubmission(text: string, submitted: string): boolean {
  return withoutSpaces(text).includes(textStart(withoutSpaces(submitted), MATCHED_LENGTH));
}

/** Returns the error that Gemini and Qwen show in place of an answer; undefined if the answer is a model's. */
export function failureIn(text: string): string | undefined {
  return /^\s*\[(API Error: [\s\S]*)\]\s*$/.exec(text)?.[1];
}
