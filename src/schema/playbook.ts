import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import * as z from "zod/mini";
import { TeamError } from "../errors.ts";
import { fieldProblem, jsonProblem, keysOf, nearestNode, unknownName } from "./json-problems.ts";
import { withoutAlias } from "./tool-names.ts";
import { parseWithMessages, pathText } from "./zod-helpers.ts";

const toolCall = z.strictObject({
  name: z.string().check(z.minLength(1)),
  input: z.record(z.string(), z.unknown()),
  as: z.optional(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a word, to be named in {{…}}")),
  ),
});

const regexp = z.string().check(z.refine(isRegexp, "is not a regular expression"));

const condition = z.strictObject({
  /** The newest input is the result of this tool. */
  tool: z.optional(z.string().check(z.minLength(1))),
  contains: z.optional(z.string()),
  matches: z.optional(regexp),
  /** Each pattern matches a different unanswered message, in any order; there may be other messages too. */
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

/** The script of a model without network (product.md, "The playbook"). */
export const playbook = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.literal(1),
  agents: z.record(z.string().check(z.minLength(1)), z.array(turn)),
});
export type Playbook = z.infer<typeof playbook>;
export type PlaybookTurn = z.infer<typeof turn>;

/** Returns the JSON Schema of a playbook. */
export function playbookJsonSchema(): object {
  return z.toJSONSchema(playbook, { io: "input" });
}

function isRegexp(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    // The message of the refinement tells the user.
    return false;
  }
}

/** The names that a playbook may use. */
interface PlaybookNames {
  /** All known tools. */
  readonly tools: readonly string[];
  /** Agents that will play: each needs its own list, or `*`. */
  readonly agents?: readonly string[];
}

/**
 * Parses the text of a playbook; a leading byte order mark is ignored.
 * @param file its name, for the message
 * @param known if omitted, names of tools and agents are not checked
 * @throws TeamError INVALID_INPUT with the line and the field of the first problem
 */
export function parsePlaybook(source: string, file: string, known?: PlaybookNames): Playbook {
  const text = source.replace(/^\uFEFF/, "");
  const problems: ParseError[] = [];
  const tree = parsedTree(text, file, problems);
  const problem = problems[0];
  if (tree === undefined || text.trim() === "") {
    throw playbookError(text, file, text.length, "", "is empty");
  }
  if (problem !== undefined) {
    throw playbookError(text, file, problem.offset, "", `is not JSON: ${jsonProblem(problem.error)}`);
  }
  const parsed = parseWithMessages(playbook, getNodeValue(tree));
  const wrong = parsed.success ? nameProblem(parsed.data, known) : formProblem(parsed.error, tree);
  if (parsed.success && wrong === undefined) return parsed.data;
  const { at = [], field = [], what = "is not a playbook" } = wrong ?? {};
  throw playbookError(text, file, nearestNode(tree, at).offset, pathText(field), what);
}

/** @throws TeamError INVALID_INPUT if it is nested so deeply that the parser overflows the stack */
function parsedTree(text: string, file: string, problems: ParseError[]): Node | undefined {
  try {
    return parseTree(text, problems, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    if (error instanceof RangeError) throw playbookError(text, file, 0, "", "is nested too deeply");
    throw error;
  }
}

interface Problem {
  readonly field: readonly PropertyKey[];
  /** The place that the line number is for; an unknown field is not part of `field`. */
  readonly at: readonly PropertyKey[];
  readonly what: string;
}

/** An unknown field is reported first: it often explains a missing one. */
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

/** Returns the known fields at a path: `agents`, a name, the index of a turn, a part of the turn, the index of a call. */
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
      // The tools of an MCP server are known only once it runs.
      const call = tools.findIndex(
        ({ name }) => !name.startsWith("mcp__") && !known.tools.includes(withoutAlias(name)),
      );
      const field = ["agents", agent, index, "tools", call, "name"];
      const name = tools[call]?.name;
      if (name !== undefined) return { field, at: field, what: unknownName("tool", name, known.tools) };
    }
  }
  const idle = known.agents?.find((agent) => !Object.hasOwn(agents, agent) && !Object.hasOwn(agents, "*"));
  if (idle === undefined) return undefined;
  const what = `has no list for ${JSON.stringify(idle)} or for "*", so there is nothing to play`;
  return { field: ["agents"], at: ["agents"], what };
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
