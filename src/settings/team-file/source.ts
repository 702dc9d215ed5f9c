import { findNodeAtLocation, type Node, type ParseError, parseTree } from "jsonc-parser";
import type * as z from "zod/mini";
import { fileAccessError, isSystemError } from "../../errors.ts";
import type { FieldPlace, FieldProblem } from "../../operations/up/declared-team.ts";
import type { Env } from "../../os/env.ts";
import { readText } from "../../os/files/fs.ts";
import { encodingProblem, isShortFile } from "../../os/files/user-files.ts";
import { fieldProblem, jsonProblem, keysOf, nearestNode } from "../../schema/json-problems.ts";
import { parseWithMessages, pathText } from "../../schema/zod-helpers.ts";
import { fieldsAt, type TeamFileContent, teamFileSchema } from "./team-file-schema.ts";

/** One file of a team, parsed. */
export interface TeamSource {
  /** Absolute, with every link resolved. */
  readonly path: string;
  /** As the user named it. */
  readonly shown: string;
  /** The text of the file. */
  readonly text: string;
  readonly content: TeamFileContent;
  at(path: readonly PropertyKey[]): FieldPlace;
}

/** The result of reading a file: its content, or its problems. */
export type ReadSource =
  | { readonly source: TeamSource; readonly problems: readonly [] }
  | { readonly source: undefined; readonly problems: readonly FieldProblem[] };

/**
 * Reads and parses one team file, with the values of variables. Never throws for what the file contains.
 * @throws TeamError PERMISSION_DENIED if the system refuses to read it
 */
export function readSource(path: string, shown: string, env: Env): ReadSource {
  const text = textOf(path, shown);
  if (text === undefined)
    return failed([wholeFile(shown, "there is no such file, or it is not a regular file of at most 1 MB")]);
  if (text.trim() === "") return failed([wholeFile(shown, "it is empty")]);
  const encoding = encodingProblem(path, text);
  if (encoding !== undefined) return failed([wholeFile(shown, `it ${encoding}`)]);
  const errors: ParseError[] = [];
  const tree = treeOf(text, errors);
  if (tree === "too deep") return failed([wholeFile(shown, "it is nested too deeply")]);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  if (tree === undefined || errors.length > 0) return failed(syntaxProblems(shown, errors, lineAt));
  const at = (place: readonly PropertyKey[]): FieldPlace => ({
    file: shown,
    line: lineAt(nearestNode(tree, place).offset),
    field: pathText(place),
  });
  const problems: FieldProblem[] = [];
  const report = (node: Node, place: readonly PropertyKey[], message: string): void => {
    problems.push({ file: shown, line: lineAt(node.offset), field: pathText(place), message });
  };
  const parsed = parseWithMessages(teamFileSchema, nodeValue(tree, [], { env, report }));
  if (!parsed.success) {
    // A value with an unknown variable has its problem already.
    const reported = new Set(problems.map(({ field }) => field));
    problems.push(...formProblems(parsed.error, tree, at).filter(({ field }) => !reported.has(field)));
  }
  return parsed.success && problems.length === 0
    ? { source: { path, shown, text, content: parsed.data, at }, problems: [] }
    : failed(problems);
}

function failed(problems: readonly FieldProblem[]): ReadSource {
  return { source: undefined, problems };
}

function wholeFile(file: string, message: string): FieldProblem {
  return { file, line: 1, field: "", message };
}

function treeOf(text: string, errors: ParseError[]): Node | undefined | "too deep" {
  try {
    return parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) return "too deep";
    throw error;
  }
}

/** Reports one error for each line: the parser may report several of one mistake. */
function syntaxProblems(
  file: string,
  errors: readonly ParseError[],
  lineAt: (offset: number) => number,
): readonly FieldProblem[] {
  const byLine = new Map<number, FieldProblem>();
  for (const { error, offset } of errors) {
    const line = lineAt(offset);
    const message = `it is not JSON: ${jsonProblem(error)}`;
    if (!byLine.has(line)) byLine.set(line, { file, line, field: "", message });
  }
  return [...byLine.values()];
}

/** An unknown field has the line of its name. */
function formProblems({ issues }: z.core.$ZodError, tree: Node, at: TeamSource["at"]): FieldProblem[] {
  return issues.flatMap((issue) => {
    const node = findNodeAtLocation(tree, keysOf(issue.path));
    const field = pathText(issue.path);
    if (issue.code !== "unrecognized_keys")
      return [{ ...at(issue.path), field, message: fieldProblem(issue, node, []) }];
    return issue.keys.map((key) => ({
      ...at([...issue.path, key]),
      field,
      message: fieldProblem({ ...issue, keys: [key] }, node, fieldsAt(issue.path)),
    }));
  });
}

function textOf(path: string, shown: string): string | undefined {
  try {
    return isShortFile(path) ? readText(path) : undefined;
  } catch (error) {
    if (isSystemError(error)) throw fileAccessError(shown, "read", error, "; nothing was done");
    throw error;
  }
}

interface Reading {
  readonly env: Env;
  report(node: Node, path: readonly PropertyKey[], message: string): void;
}

/** Returns the value of a node, with variables replaced. Reports a field that is given twice: only the last would count. */
function nodeValue(node: Node, path: readonly PropertyKey[], reading: Reading): unknown {
  const { children = [] } = node;
  if (node.type === "array") return children.map((child, i) => nodeValue(child, [...path, i], reading));
  if (node.type === "string") return withVariables(node, path, reading);
  if (node.type !== "object") return node.value as unknown;
  const entries = new Map<string, unknown>();
  for (const property of children) {
    const [key, value] = property.children ?? [];
    const name = String(key?.value);
    const at = [...path, name];
    if (entries.has(name)) reading.report(property, at, "is given twice");
    if (value !== undefined) entries.set(name, nodeValue(value, at, reading));
  }
  return Object.fromEntries(entries);
}

/** `$${` stands for `${`. */
const VARIABLE = /\$\$\{|\$\{([^{}]*)\}/g;

/** Replaces `${NAME}` and `${NAME:-default}`. */
function withVariables(node: Node, path: readonly PropertyKey[], { env, report }: Reading): string {
  return String(node.value).replace(VARIABLE, (whole, inner: string | undefined) => {
    if (inner === undefined) return "${";
    const [, name, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inner) ?? [];
    if (name === undefined) {
      report(node, path, `${whole} names no variable; write $${whole} for the text itself`);
      return whole;
    }
    const value = env[name];
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value === undefined)
      report(node, path, `the variable ${name} is not set; set it, or write \${${name}:-default}`);
    return value ?? whole;
  });
}
