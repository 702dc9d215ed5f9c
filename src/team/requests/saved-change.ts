import { isShortened } from "../../text/diff/left-out.ts";
import type { RequestRecord } from "./requests.ts";

/** Length of a command that the summary shows in one row of most terminals. */
const SHORT_COMMAND = 60;

/**
 * Returns the change that a saved request holds, as lines.
 * @returns undefined if it has none, or one that is not all of it and `whole` is set
 */
export function savedChange(saved: unknown, whole: boolean): readonly string[] | undefined {
  if (!Array.isArray(saved) || saved.length === 0 || !saved.every((line) => typeof line === "string"))
    return undefined;
  return whole && isShortened(saved) ? undefined : saved;
}

/** Whether the summary of a request without a saved change says less than the call does. */
export function needsChange({ tool, input }: RequestRecord["payload"]): boolean {
  const command = tool === "Bash" && typeof input === "object" && input !== null && "command" in input;
  return tool === "Edit" || tool === "Write" || (command && !isShortCommand(String(input.command)));
}

export function isShortCommand(command: string): boolean {
  return command.length <= SHORT_COMMAND && !command.trim().includes("\n");
}
