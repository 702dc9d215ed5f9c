import { findNodeAtLocation, type Node, type ParseErrorCode } from "jsonc-parser";
import type * as z from "zod/mini";
import { nearestNames } from "./did-you-mean.ts";

/** By error code of jsonc-parser. Its own enumeration would be another import, and its names are for programmers. */
const JSON_PROBLEMS: Readonly<Record<ParseErrorCode, string>> = {
  1: "a value here is neither a string in quotes nor a number, true, false or null",
  2: "a number is invalid",
  3: 'a field\'s name is expected, in "quotes"; perhaps there is an extra comma',
  4: "a value is expected; perhaps there is an extra comma",
  5: "a : is missing",
  6: "a , is missing",
  7: "a } is missing",
  8: "a ] is missing",
  9: "there is text after its end",
  10: "comments are not allowed",
  11: "a comment does not end",
  12: 'a string does not end; a " is missing',
  13: "a number does not end",
  14: "a \\u in a string is invalid",
  15: "a \\ in a string is followed by a character that it cannot escape",
  16: "a string contains a line break or another control character; write \\n",
};

/** Describes a JSON syntax error in plain words. */
export function jsonProblem(code: ParseErrorCode): string {
  return JSON_PROBLEMS[code];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "a list",
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  null: "null",
};

/**
 * Describes a problem with a field in plain words.
 * @param node the value of the field; undefined if it is missing
 * @param fields the known fields, to report an unknown one
 */
export function fieldProblem(
  issue: z.core.$ZodIssue,
  node: Node | undefined,
  fields: readonly string[],
): string {
  if (issue.code === "unrecognized_keys") {
    return unknownName("field", issue.keys[0] ?? "", fields);
  }
  if (node === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}, but is ${typeName(node.type)}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "too_small":
      return issue.origin === "string" ? "is empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string"
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** Reports an unknown name, with the nearest known name or else all of them. */
export function unknownName(what: string, name: string, names: readonly string[]): string {
  const [near] = nearestNames(name, names);
  const rest = near === undefined ? `the ${what}s are ${names.join(", ")}` : `did you mean ${near}?`;
  return `there is no ${what} ${JSON.stringify(name)}; ${rest}`;
}

function typeName(kind: string): string {
  return TYPE_NAMES[kind] ?? kind;
}

/** Returns the node at a path, or its nearest ancestor (a missing field has no node). */
export function nearestNode(tree: Node, path: readonly PropertyKey[]): Node {
  const keys = keysOf(path);
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = findNodeAtLocation(tree, keys.slice(0, depth));
    if (node !== undefined) return node;
  }
  return tree;
}

/** Returns the keys of a path without symbols, which no JSON has. */
export function keysOf(path: readonly PropertyKey[]): (string | number)[] {
  return path.filter((key) => typeof key !== "symbol");
}
