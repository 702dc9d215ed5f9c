import { boundedLines } from "../../text/diff/bounded-lines.ts";
import { changeLines, type LineSearch } from "../../text/diff/change-lines.ts";
import { printableJson, revealHiddenInCommand } from "../../text/terminal-text.ts";
import { isShortCommand, saysInput } from "./saved-change.ts";

interface Options {
  /** Keeps all lines; by default, only enough for a first view. */
  readonly whole?: boolean;
  /** Finds the shortest change of an edit. */
  readonly search?: LineSearch;
  /** The summary of the call. For other tools, the whole input is listed if the summary leaves out a part of it. */
  readonly summary?: string;
}

/**
 * Returns the lines that show what a tool call would do, for the person who allows it, from its input alone. For a file: the
 * lines of a unified diff. For a command with several lines, or a long one: each line with `$ `.
 * @returns no lines if the summary is complete, or if it is not given and the input does not fit the tool
 */
export function changePreview(tool: string, input: unknown, options: Options = {}): readonly string[] {
  const lines = linesOf(tool, fieldsOf(input), options) ?? inputLines(input, options);
  return options.whole === true ? lines : boundedLines(lines);
}

function linesOf(
  tool: string,
  { content, old_string, new_string, replace_all, command }: Readonly<Record<string, unknown>>,
  { search }: Options,
): readonly string[] | undefined {
  if (tool === "Bash" && typeof command === "string") {
    if (isShortCommand(command)) return [];
    const lines = revealHiddenInCommand(command).trim().split("\n");
    return lines.map((line) => `$ ${line}`);
  }
  if (tool === "Write" && typeof content === "string") return changeLines("", content);
  if (tool !== "Edit" || typeof old_string !== "string" || typeof new_string !== "string") return undefined;
  const where = replace_all === true ? ["(every occurrence)"] : [];
  const searched = search === undefined ? {} : { search };
  return [...where, ...changeLines(old_string, new_string, { isPart: true, ...searched })];
}

/** Returns the lines of an input, in the form of unchanged lines. */
function inputLines(input: unknown, { summary }: Options): readonly string[] {
  if (input === undefined || summary === undefined || saysInput(summary, input)) return [];
  return printableJson(input, 2)
    .split("\n")
    .map((line) => ` ${line}`);
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
}
