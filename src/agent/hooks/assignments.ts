import {
  type Assignment as AssignmentNode,
  type Command,
  parse,
  type Statement,
  type WordPart,
} from "unbash";

/** A variable and its new value. */
export interface Assignment {
  readonly name: string;
  readonly parts: readonly ValuePart[];
}

/** A text, or the value of a variable. */
export type ValuePart = string | { readonly variable: string };

/** A statement that only sets variables. */
interface ReadStatement {
  readonly text: string;
  readonly assignments: readonly Assignment[];
}

export interface ReadAssignments {
  readonly statements: readonly ReadStatement[];
  /** The texts of all other statements. */
  readonly others: readonly string[];
}

/**
 * Reads the assignments in a text of shell syntax: `export NAME=value`, also as `declare -x` and `typeset -x`, which shells print.
 * Runs nothing: a value with a command substitution, and any other command, is none. Of expansions it knows `$NAME`, `${NAME}` and
 * `~/`.
 */
export function readAssignments(text: string): ReadAssignments {
  const whole = statementsOf(text);
  if (whole !== undefined) return whole;
  // A syntax error spoils only its line.
  const lines = text.split("\n").map((line) => statementsOf(line) ?? { statements: [], others: [line] });
  return {
    statements: lines.flatMap(({ statements }) => statements),
    others: lines.flatMap(({ others }) => others),
  };
}

/** @returns undefined for invalid syntax */
function statementsOf(text: string): ReadAssignments | undefined {
  try {
    const { commands, errors = [] } = parse(text);
    if (errors.length > 0) return undefined;
    const read = commands.map((statement) => ({
      text: text.slice(statement.pos, statement.end),
      assignments: assignmentsOf(statement),
    }));
    return {
      statements: read.flatMap(({ assignments, ...one }) =>
        assignments === undefined ? [] : [{ ...one, assignments }],
      ),
      others: read.flatMap((one) => (one.assignments === undefined ? [one.text] : [])),
    };
  } catch (error) {
    // The parser descends into what is nested: a stack overflow.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @returns undefined if the statement does anything else */
function assignmentsOf({ command, background }: Statement): readonly Assignment[] | undefined {
  if (command.type !== "Command" || background || command.redirects.length > 0) return undefined;
  const nodes = assignmentNodes(command);
  const assignments = nodes?.map(assignmentOf);
  return assignments?.every((one) => one !== undefined) ? assignments : undefined;
}

function assignmentNodes({ name, prefix, args }: Command): readonly AssignmentNode[] | undefined {
  const before = prefix.filter((one) => one.type === "Assignment");
  if (name === undefined) return before;
  const [first, ...rest] = args;
  const option = first?.type === "Word" && /^-[a-z]*x[a-z]*$/i.test(first.value);
  const isExport = name.value === "export" && name.parts === undefined;
  const isDeclaration = /^(?:declare|typeset)$/.test(name.text) && option;
  if (before.length > 0 || !(isExport || isDeclaration)) return undefined;
  const words = isDeclaration ? rest : args;
  // A name alone has no value.
  const isPlain = words.every((one) => one.type === "Assignment" || /^[A-Za-z_]\w*$/.test(one.text));
  return isPlain ? words.filter((one) => one.type === "Assignment") : undefined;
}

function assignmentOf({ name, value, append, index }: AssignmentNode): Assignment | undefined {
  if (index !== undefined || value.type !== "Word" || !/^[A-Za-z_]\w*$/.test(name)) return undefined;
  const [, home, rest = ""] = /^(~)(?=\/|$)(.*)$/s.exec(value.parts?.[0]?.text ?? value.text) ?? [];
  const after = home === undefined ? value.parts : value.parts?.slice(1);
  const given = after?.map(partsOf) ?? (home === undefined ? [[value.value]] : []);
  if (!given.every((one) => one !== undefined)) return undefined;
  const parts = [
    ...(append ? [{ variable: name }] : []),
    ...(home === undefined ? [] : [{ variable: "HOME" }, rest]),
    ...given.flat(),
  ];
  return parts.some((part) => typeof part === "string" && part.includes("\0")) ? undefined : { name, parts };
}

/** @returns undefined if the value of the part is unknown without a shell */
function partsOf(part: WordPart): readonly ValuePart[] | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    // A value is not expanded to names of files.
    case "Glob":
      return [part.text];
    case "DoubleQuoted": {
      const inner = part.parts.map(partsOf);
      return inner.every((one) => one !== undefined) ? inner.flat() : undefined;
    }
    case "SimpleExpansion":
      return /^\$[A-Za-z_]\w*$/.test(part.text) ? [{ variable: part.text.slice(1) }] : undefined;
    case "ParameterExpansion": {
      const { parameter, prefix, index, operation } = part;
      const isPlain = prefix === undefined && index === undefined && operation === undefined;
      return isPlain && /^[A-Za-z_]\w*$/.test(parameter) ? [{ variable: parameter }] : undefined;
    }
    default:
      return undefined;
  }
}
