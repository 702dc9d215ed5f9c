import { TeamError } from "../../errors.ts";

/**
 * Returns the id of a task that a person or a program names: `3` or `#3`.
 * @param hint how the caller names a task
 * @throws TeamError INVALID_INPUT
 */
export function taskNumber(word: string, hint: string): string {
  const id = word.replace(/^#/, "");
  if (/^[1-9]\d{0,14}$/.test(id)) return id;
  throw new TeamError("INVALID_INPUT", `${JSON.stringify(word)} is not a task number.`, { hint });
}
