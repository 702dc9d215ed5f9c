import { isShortened } from "../../text/diff/left-out.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { RequestRecord } from "./requests.ts";

/** Maximum length of a command that the summary shows in one row of most terminals. */
const SHORT_COMMAND = 60;

/**
 * Returns the change that a saved request contains, as lines.
 * @returns undefined if it has none, or only a part of one although `whole` is set
 */
export function savedChange(saved: unknown, whole: boolean): readonly string[] | undefined {
  if (!Array.isArray(saved) || saved.length === 0 || !saved.every((line) => typeof line === "string"))
    return undefined;
  return whole && isShortened(saved) ? undefined : saved;
}

/** Whether the summary of a request without a saved change says less than the call does. */
export function needsChange({ tool, input }: RequestRecord["payload"], summary: string): boolean {
  const command = tool === "Bash" && typeof input === "object" && input !== null && "command" in input;
  if (command) return !isShortCommand(String(input.command));
  return tool === "Edit" || tool === "Write" || !saysInput(summary, input);
}

/** Whether a summary shows a command as it is: it is one line, with single spaces. */
export function isShortCommand(command: string): boolean {
  return command.length <= SHORT_COMMAND && !/ {2}|[^\S ]/.test(command.trim());
}

/** Whether a summary contains every value of a call's input. */
export function saysInput(summary: string, input: unknown): boolean {
  const said = flat(summary);
  const isSaid = (value: unknown): boolean => {
    if (value === undefined || value === null) return true;
    if (typeof value === "object") return Object.values(value).every(isSaid);
    const text = String(value);
    return said.includes(flat(text)) || said.includes(flat(JSON.stringify(text).slice(1, -1)));
  };
  return isSaid(input);
}

/** A summary is one line without hidden characters. */
function flat(text: string): string {
  return revealHidden(text).replace(/\s+/g, " ").trim();
}
