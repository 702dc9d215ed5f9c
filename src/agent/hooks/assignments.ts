import {
  type Assignment as AssignmentNode,
  type Command,
  parse,
  type Script,
  type Statement,
  type WordPart,
} from "unbash";
import { withoutMark } from "../../text/characters/byte-order-mark.ts";

/** A variable and its new value. */
export interface Assignment {
  readonly name: string;
  /** Never has two adjacent texts. */
  readonly parts: readonly ValuePart[];
}

/** A text without NUL, or the value of a variable. */
type ValuePart = string | { readonly variable: string };

export interface ReadAssignments {
  readonly assignments: readonly Assignment[];
  /** The texts of all other statements, and the text after a syntax error. */
  readonly others: readonly string[];
}

/** Maximum parses of one text: after each syntax error, it is parsed again without the broken statement. */
const MAX_PARSES = 10;

const NAME = /^[A-Za-z_]\w*$/;

/**
 * Reads the assignments in a text of shell syntax: `export NAME=value`, or with `declare -x` and `typeset -x`, as shells print it.
 * Runs nothing: neither a value with a command substitution nor any other command counts. Expands only `$NAME`, `${NAME}`,
 * `${NAME:-}` and `~/`. Like a shell, it reads nothing after a syntax error: the rest could be inside a quoted value.
 */
export function readAssignments(text: string): ReadAssignments {
  const plain = withoutMark(text).replaceAll("\r\n", "\n");
  const { commands, end } = validStart(plain);
  const read = commands.map((one) => assignmentsOf(one) ?? plain.slice(one.pos, one.end));
  const rest = plain.slice(end).trim();
  return {
    assignments: read.flatMap((one) => (typeof one === "string" ? [] : one)),
    others: [...read.filter((one) => typeof one === "string"), ...(rest === "" ? [] : [rest])],
  };
}

/** Returns the statements before the line of the first syntax error, and where they end. */
function validStart(text: string): { readonly commands: Script["commands"]; readonly end: number } {
  let end = text.length;
  try {
    for (let parses = 0; parses < MAX_PARSES && end > 0; parses += 1) {
      const part = text.slice(0, end);
      const { commands, errors = [] } = parse(part);
      if (errors.length === 0) return { commands, end };
      const at = errors.reduce((first, { pos }) => Math.min(first, pos), end - 1);
      const isUnfinished = at >= part.trimEnd().length - 1;
      const broken = isUnfinished ? commands.at(-1) : commands.find((one) => one.pos <= at && at < one.end);
      const from = Math.min(broken?.pos ?? at, at);
      end = from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1;
    }
  } catch (error) {
    // The parser is recursive: deeply nested text overflows the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  return { commands: [], end: 0 };
}

/** @returns undefined if the statement does anything else */
function assignmentsOf({ command, background }: Statement): readonly Assignment[] | undefined {
  if (command.type !== "Command" || background || command.redirects.length > 0) return undefined;
  const assignments = assignmentNodes(command)?.map(assignmentOf);
  return assignments?.every((one) => one !== undefined) ? assignments : undefined;
}

function assignmentNodes({ name, prefix, args }: Command): readonly AssignmentNode[] | undefined {
  const before = prefix.filter((one) => one.type === "Assignment");
  if (name === undefined) return before;
  const [first, ...rest] = args;
  // Other options change the value: `declare -xi A=1+1`.
  const isExported = first?.type === "Word" && /^-[gr]*x[gr]*$/.test(first.text);
  const isDeclaration = /^(?:declare|typeset)$/.test(name.text) && isExported;
  if (before.length > 0 || !(name.text === "export" || isDeclaration)) return undefined;
  const words = isDeclaration ? rest : args;
  // A name alone is exported without a new value.
  const isPlain = words.every((one) => one.type === "Assignment" || NAME.test(one.text));
  return isPlain ? words.filter((one) => one.type === "Assignment") : undefined;
}

function assignmentOf({ name, value, append, index }: AssignmentNode): Assignment | undefined {
  if (index !== undefined || value.type !== "Word" || !NAME.test(name)) return undefined;
  const inner = value.parts?.map((part, i, all) =>
    part.type === "Literal" ? unquoted(part.text, i === 0, i === all.length - 1) : partsOf(part),
  ) ?? [unquoted(value.text, true, true)];
  if (!inner.every((one) => one !== undefined)) return undefined;
  const parts = joined([...(append ? [{ variable: name }] : []), ...inner.flat()]);
  return parts.some((part) => typeof part === "string" && part.includes("\0")) ? undefined : { name, parts };
}

/** Joins adjacent texts. */
function joined(parts: readonly ValuePart[]): readonly ValuePart[] {
  const result: ValuePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (typeof part === "string" && typeof last === "string") result[result.length - 1] = last + part;
    else if (part !== "") result.push(part);
  }
  return result;
}

/**
 * Returns a text without quotes. A `~` at the start of a value, and after a colon, is the home directory.
 * @returns undefined for the home directory of another user
 */
function unquoted(text: string, isStart: boolean, isEnd: boolean): readonly ValuePart[] | undefined {
  const [first = "", ...homes] = text.split(isStart ? /(?<=^|(?<!\\):)~/ : /(?<=(?<!\\):)~/);
  if (!homes.every((rest, i) => (rest === "" ? isEnd && i === homes.length - 1 : /^[/:]/.test(rest))))
    return undefined;
  return [unescaped(first), ...homes.flatMap((rest) => [{ variable: "HOME" }, unescaped(rest)])];
}

function unescaped(text: string): string {
  return text.replace(/\\(\n|.)/gs, (_, escaped: string) => (escaped === "\n" ? "" : escaped));
}

/** @returns undefined if the value of the part is unknown without a shell */
function partsOf(part: WordPart): readonly ValuePart[] | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    // A shell does not expand a glob in a value.
    case "Glob":
      return /["'\\$`]/.test(part.text) ? undefined : [part.text];
    case "DoubleQuoted": {
      const inner = part.parts.map(partsOf);
      return inner.every((one) => one !== undefined) ? inner.flat() : undefined;
    }
    case "SimpleExpansion":
      return variableNamed(part.text.slice(1));
    case "ParameterExpansion": {
      const { parameter, prefix, index, operation } = part;
      const isPlain =
        operation === undefined ||
        (operation.type === "Default" && /^:?-$/.test(operation.operator) && operation.operand.text === "");
      return isPlain && prefix === undefined && index === undefined ? variableNamed(parameter) : undefined;
    }
    default:
      return undefined;
  }
}

function variableNamed(name: string): readonly ValuePart[] | undefined {
  return NAME.test(name) ? [{ variable: name }] : undefined;
}
