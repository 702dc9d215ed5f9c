import type { RequestRecord } from "./requests.ts";

/** The answers that a question offers; none of what is no question, or offers none. */
export function choicesOf({ kind, payload }: Pick<RequestRecord, "kind" | "payload">): readonly string[] {
  const given = kind === "question" && Array.isArray(payload.choices) ? payload.choices : [];
  return given.filter((choice): choice is string => typeof choice === "string");
}

/** What somebody answers to a question with these choices: one of them by its number, unless that is itself one of them. */
export function chosen(choices: readonly string[], said: string): string {
  const text = said.trim();
  if (!/^[0-9]{1,2}$/.test(text) || choices.includes(text)) return said;
  return choices[Number(text) - 1] ?? said;
}
