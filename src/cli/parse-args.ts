import { parseArgs } from "node:util";
import { TeamError } from "../errors.ts";
import { longName } from "../terminal/call.ts";
import { type Command, type OptionInput, optionsOf, type RawCall } from "./define-command.ts";

/** A command line taken apart: options by their key, the rest in order. */
export interface ParsedLine {
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, OptionInput>>;
}

/**
 * Takes apart a command line that is in order, without loading a parser: a cold command may cost little more than
 * Node's own start. What is not in order, and `--help`, it leaves to {@link file://./explain.ts}, which takes the same lines
 * to mean the same.
 * @returns undefined for a line that needs an explanation
 */
export function parseQuickly(command: Command, words: readonly string[]): ParsedLine | undefined {
  const specs = optionsOf(command);
  const options = Object.fromEntries(
    Object.entries(specs).map(([key, spec]) => [
      longName(key),
      {
        type: spec.value === undefined ? ("boolean" as const) : ("string" as const),
        ...(spec.short === undefined ? {} : { short: spec.short }),
        ...(spec.many ? { multiple: true } : {}),
      },
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...words], options, allowPositionals: true });
    const values = parsed.values as Record<string, OptionInput>;
    return {
      operands: parsed.positionals,
      options: Object.fromEntries(Object.keys(specs).map((key) => [key, values[longName(key)]])),
    };
  } catch {
    // What is wrong with it is said by the slow way, with the nearest option and the help.
    return undefined;
  }
}

/**
 * Holds a taken-apart line against the declaration: how many operands, which values.
 * @throws TeamError INVALID_INPUT
 */
export function bind(command: Command, line: ParsedLine): Pick<RawCall, "args" | "options"> {
  return { args: bindOperands(command, line), options: bindOptions(command, line.options) };
}

function bindOperands(command: Command, line: ParsedLine): RawCall["args"] {
  const rest = [...line.operands];
  const args: Record<string, string | readonly string[] | undefined> = {};
  for (const spec of command.args) {
    const taken = spec.many ? rest.splice(0) : rest.splice(0, 1);
    if (taken.length === 0 && !spec.optional) {
      throw usageError(command, `needs <${spec.name}>: ${spec.summary}.`, takenFor(command, line.options));
    }
    args[spec.name] = spec.many ? taken : taken[0];
  }
  const extra = rest[0];
  if (extra === undefined) return args;
  const many = manyIn(command, line.options);
  const hint = many && `Give ${many} again before each further value.`;
  throw usageError(command, `takes no ${JSON.stringify(extra)}: it is one word too many.`, hint);
}

/** An option that was given and may be given again: a word too many may have been meant for it. */
function manyIn(command: Command, given: ParsedLine["options"]): string | undefined {
  const key = Object.keys(command.options).find(
    (name) => command.options[name]?.many && given[name] !== undefined,
  );
  return key && `--${longName(key)}`;
}

/** Where a word is missing, an option that may stand without a value may have taken it. */
function takenFor(command: Command, given: ParsedLine["options"]): string | undefined {
  for (const [key, spec] of Object.entries(command.options)) {
    const value = given[key];
    if (spec.valueOptional && typeof value === "string")
      return `${JSON.stringify(value)} was taken for the ${spec.value} of --${longName(key)}; write the option last.`;
  }
  return undefined;
}

function bindOptions(command: Command, given: ParsedLine["options"]): RawCall["options"] {
  const bound: Record<string, OptionInput> = {};
  for (const [key, spec] of Object.entries(optionsOf(command))) {
    const value = given[key];
    if (spec.value === undefined) bound[key] = value === true;
    else bound[key] = spec.many ? (value ?? []) : value;
    const wrong = [value]
      .flat()
      .find((word) => typeof word === "string" && spec.choices?.includes(word) === false);
    if (wrong !== undefined) {
      const choices = spec.choices?.join(", ") ?? "";
      throw usageError(
        command,
        `takes no --${longName(key)} ${JSON.stringify(wrong)}; it is one of: ${choices}.`,
      );
    }
  }
  return bound;
}

/** A mistake on the command line: what it is, as the rest of a sentence that the command begins, and how it is used. */
export function usageError(
  command: Pick<Command, "name" | "args">,
  message: string,
  hint?: string,
): TeamError {
  const usage = `Usage: ${usageOf(command)} (more: teams ${command.name} --help)`;
  return new TeamError("INVALID_INPUT", `${command.name} ${message}`, {
    hint: hint === undefined ? usage : `${hint} ${usage}`,
  });
}

/** `teams send <agent> <text...> [options]` */
export function usageOf(command: Pick<Command, "name" | "args">): string {
  const operands = command.args.map((spec) => {
    const name = spec.many ? `${spec.name}...` : spec.name;
    return spec.optional ? `[${name}]` : `<${name}>`;
  });
  return ["teams", command.name, ...operands, "[options]"].join(" ");
}
