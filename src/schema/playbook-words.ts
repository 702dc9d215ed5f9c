import type { Node, ParseErrorCode } from "jsonc-parser";
import type * as z from "zod/mini";
import { nearestNames } from "./nearest.ts";

/** By the number of jsonc-parser, whose own enumeration costs a load and is named for programmers. */
const JSON_FLAWS: Readonly<Record<ParseErrorCode, string>> = {
  1: "something here is neither a text in quotes nor a number, true, false or null",
  2: "a number is broken",
  3: 'a field\'s name is expected, in "quotes"; perhaps there is a comma too many',
  4: "a value is expected; perhaps there is a comma too many",
  5: "a : is missing",
  6: "a , is missing",
  7: "a } is missing",
  8: "a ] is missing",
  9: "something comes after its end",
  10: "comments are not allowed",
  11: "a comment does not end",
  12: 'a text does not end; a " is missing',
  13: "a number does not end",
  14: "a \\u in a text is broken",
  15: "a \\ in a text is followed by nothing that it can escape",
  16: "a text holds a line's end or another control character; write \\n",
};

/** What is wrong with a text that is no JSON, in plain words. */
export function jsonFlaw(code: ParseErrorCode): string {
  return JSON_FLAWS[code];
}

const KINDS: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  null: "null",
};

/**
 * What is wrong with a field, in plain words.
 * @param node what stands there; undefined when nothing does
 * @param fields those that there are where an issue speaks of one too many
 */
export function fieldFlaw(
  issue: z.core.$ZodIssue,
  node: Node | undefined,
  fields: readonly string[],
): string {
  if (issue.code === "unrecognized_keys") {
    return notAmong("field", issue.keys[0] ?? "", fields);
  }
  if (node === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kindOf(issue.expected)}, and is ${kindOf(node.type)}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return issue.origin === "string" ? "is empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** That a name is none of those there are, with the one that was meant or else all of them. */
export function notAmong(what: string, name: string, names: readonly string[]): string {
  const [near] = nearestNames(name, names);
  const rest = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`;
  return `there is no ${what} ${JSON.stringify(name)}; ${rest}`;
}

function kindOf(kind: string): string {
  return KINDS[kind] ?? kind;
}
