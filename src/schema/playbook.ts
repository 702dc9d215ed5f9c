import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import * as z from "zod";
import { TeamError } from "../errors.ts";
import { firstIssue } from "./json.ts";

const toolCall = z.strictObject({
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  as: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be a word, to be named in {{…}}")
    .optional(),
});

const regexp = z.string().refine(isRegexp, "is not a regular expression");

const turn = z.strictObject({
  on: z.strictObject({ contains: z.string().optional(), matches: regexp.optional() }).optional(),
  say: z.string().optional(),
  tools: z.array(toolCall).optional(),
  delayMs: z.number().min(0).max(600_000).optional(),
  usage: z.strictObject({ input: z.number().int().min(0), output: z.number().int().min(0) }).optional(),
  error: z
    .strictObject({ status: z.number().int(), type: z.string(), times: z.number().int().min(1).optional() })
    .optional(),
  repeat: z.boolean().optional(),
});

/** The script of a model that needs no network (product.md, "The playbook"). */
export const playbook = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  agents: z.record(z.string().min(1), z.array(turn)),
});
export type Playbook = z.infer<typeof playbook>;
export type Turn = z.infer<typeof turn>;

function isRegexp(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    // The refinement's message says it to the user.
    return false;
  }
}

/**
 * Reads a playbook's text.
 * @param file its name, for the message
 * @throws TeamError INVALID_INPUT with the line and the field of the first mistake.
 */
export function parsePlaybook(source: string, file: string): Playbook {
  const flaws: ParseError[] = [];
  const tree = parseTree(source, flaws, { disallowComments: true, allowTrailingComma: false });
  const flaw = flaws[0];
  if (tree === undefined || flaw !== undefined) {
    const offset = flaw?.offset ?? source.length;
    const what = flaw === undefined ? "it is empty" : printParseErrorCode(flaw.error);
    throw mistake(source, file, offset, "", `is not JSON (${what})`);
  }
  const parsed = playbook.safeParse(getNodeValue(tree));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const { path, message } = firstIssue(parsed.error);
  const extra = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const at = nearestNode(tree, [...(issue?.path ?? []), ...extra]);
  throw mistake(source, file, at.offset, path, message);
}

/** The node at a path, or the deepest one on the way to it (a missing field has none of its own). */
function nearestNode(tree: Node, path: readonly PropertyKey[]): Node {
  const keys = path.filter((key) => typeof key !== "symbol");
  for (let depth = keys.length; depth > 0; depth -= 1) {
    const node = findNodeAtLocation(tree, keys.slice(0, depth));
    if (node !== undefined) return node;
  }
  return tree;
}

function mistake(source: string, file: string, offset: number, field: string, what: string): TeamError {
  const line = source.slice(0, offset).split("\n").length;
  return new TeamError(
    "INVALID_INPUT",
    `${file}:${line}: ${field === "" ? "the playbook" : field}: ${what}`,
    {
      hint: "Mend that line; docs/playbooks.md describes the format.",
      details: { file, line, field },
    },
  );
}
