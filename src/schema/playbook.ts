import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
} from "jsonc-parser";
import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { nearestNames } from "./did-you-mean.ts";
import { parseInWords, pathText } from "./zod-helpers.ts";

/** By the number of jsonc-parser, whose own enumeration costs a load and is named for programmers. */
const JSON_PROBLEMS: Readonly<Record<ParseErrorCode, string>> = {
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
export function jsonProblem(code: ParseErrorCode): string {
  return JSON_PROBLEMS[code];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
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
      return `must be ${typeName(issue.expected)}, and is ${typeName(node.type)}`;
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
export function unknownName(what: string, name: string, names: readonly string[]): string {
  const [near] = nearestNames(name, names);
  const rest = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`;
  return `there is no ${what} ${JSON.stringify(name)}; ${rest}`;
}

function typeName(kind: string): string {
  return TYPE_NAMES[kind] ?? kind;
}

const toolCall = z.strictObject({
  name: z.string().check(z.minLength(1)),
  input: z.record(z.string(), z.unknown()),
  as: z.optional(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a word, to be named in {{…}}")),
  ),
});

const regexp = z.string().check(z.refine(isRegexp, "is not a regular expression"));

const condition = z.strictObject({
  /** The newest input is what a call of this tool gave. */
  tool: z.optional(z.string().check(z.minLength(1))),
  contains: z.optional(z.string()),
  matches: z.optional(regexp),
  /** Each fits another message that has come and that no turn has answered yet: in whatever order, and with whatever else. */
  heard: z.optional(z.array(regexp).check(z.minLength(1))),
});

const usage = z.strictObject({
  input: z.int().check(z.minimum(0)),
  output: z.int().check(z.minimum(0)),
});

const failure = z.strictObject({
  status: z.int(),
  type: z.string(),
  times: z.optional(z.int().check(z.minimum(1))),
});

export const turn = z.strictObject({
  on: z.optional(condition),
  say: z.optional(z.string()),
  tools: z.optional(z.array(toolCall)),
  delayMs: z.optional(z.number().check(z.minimum(0), z.maximum(600_000))),
  usage: z.optional(usage),
  error: z.optional(failure),
  repeat: z.optional(z.boolean()),
});

/** The script of a model that needs no network (product.md, "The playbook"). */
export const playbook = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.literal(1),
  agents: z.record(z.string().check(z.minLength(1)), z.array(turn)),
});
export type Playbook = z.infer<typeof playbook>;
export type PlaybookTurn = z.infer<typeof turn>;

/** JSON Schema of a playbook. */
export function playbookJsonSchema(): object {
  return z.toJSONSchema(playbook, { io: "input" });
}

function isRegexp(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    // The refinement's message says it to the user.
    return false;
  }
}

/** What a playbook is held against beyond its form. */
export interface PlaybookNames {
  /** The tools that there are. */
  readonly tools: readonly string[];
  /** Agents that are to play: each needs a list of its own, or `*`. */
  readonly agents?: readonly string[];
}

/**
 * Reads a playbook's text; a byte order mark in front of it is ignored.
 * @param file its name, for the message
 * @param known without it the names of tools and agents may be any
 * @throws TeamError INVALID_INPUT with the line and the field of the first mistake.
 */
export function parsePlaybook(source: string, file: string, known?: PlaybookNames): Playbook {
  const text = source.replace(/^\uFEFF/, "");
  const problems: ParseError[] = [];
  const tree = parseTree(text, problems, { disallowComments: true, allowTrailingComma: false });
  const problem = problems[0];
  if (tree === undefined || text.trim() === "") {
    throw playbookError(text, file, text.length, "", "is not JSON: it is empty");
  }
  if (problem !== undefined) {
    throw playbookError(text, file, problem.offset, "", `is not JSON: ${jsonProblem(problem.error)}`);
  }
  const parsed = parseInWords(playbook, getNodeValue(tree));
  const wrong = parsed.success ? nameProblem(parsed.data, known) : formProblem(parsed.error, tree);
  if (parsed.success && wrong === undefined) return parsed.data;
  const { at = [], field = [], what = "is not a playbook" } = wrong ?? {};
  throw playbookError(text, file, nearestNode(tree, at).offset, pathText(field), what);
}

interface Problem {
  readonly field: readonly PropertyKey[];
  /** Where to point; a field that should not be there is no part of `field`. */
  readonly at: readonly PropertyKey[];
  readonly what: string;
}

/** A field too many explains one that is missing, so it comes first. */
function formProblem({ issues }: z.core.$ZodError, tree: Node): Problem | undefined {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return undefined;
  const extra = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const node = findNodeAtLocation(tree, keysOf(issue.path));
  return {
    field: issue.path,
    at: [...issue.path, ...extra],
    what: fieldProblem(issue, node, fieldsAt(issue.path)),
  };
}

/** The fields that there are at a path: `agents`, a name, the turn's number, a part of the turn, the call's number. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  if (path.length < 3) return Object.keys(playbook.shape);
  const parts: Readonly<Record<PropertyKey, object>> = {
    on: condition.shape,
    tools: toolCall.shape,
    usage: usage.shape,
    error: failure.shape,
  };
  return Object.keys(parts[path[3] ?? ""] ?? turn.shape);
}

function nameProblem({ agents }: Playbook, known: PlaybookNames | undefined): Problem | undefined {
  if (known === undefined) return undefined;
  for (const [agent, turns] of Object.entries(agents)) {
    for (const [index, { tools = [] }] of turns.entries()) {
      // What a server of tools has is known once it runs.
      const call = tools.findIndex(({ name }) => !name.startsWith("mcp__") && !known.tools.includes(name));
      const field = ["agents", agent, index, "tools", call, "name"];
      const name = tools[call]?.name;
      if (name !== undefined) return { field, at: field, what: unknownName("tool", name, known.tools) };
    }
  }
  const idle = known.agents?.find((agent) => !Object.hasOwn(agents, agent) && !Object.hasOwn(agents, "*"));
  if (idle === undefined) return undefined;
  const what = `has a list neither for ${JSON.stringify(idle)} nor for "*", so there is nothing to play`;
  return { field: ["agents"], at: ["agents"], what };
}

/** The node at a path, or the deepest one on the way to it (a missing field has none of its own). */
function nearestNode(tree: Node, path: readonly PropertyKey[]): Node {
  const keys = keysOf(path);
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = findNodeAtLocation(tree, keys.slice(0, depth));
    if (node !== undefined) return node;
  }
  return tree;
}

function keysOf(path: readonly PropertyKey[]): (string | number)[] {
  return path.filter((key) => typeof key !== "symbol");
}

function playbookError(source: string, file: string, offset: number, field: string, what: string): TeamError {
  const line = source.slice(0, offset).split("\n").length;
  return new TeamError(
    "INVALID_INPUT",
    `${file}:${line}: ${field === "" ? "the playbook" : field}: ${what}`,
    {
      hint: "Fix that line; docs/playbooks.md describes the format.",
      details: { file, line, field },
    },
  );
}
