import { type ProvenTask, runText } from "../team/tasks/task-proof.ts";
import { joinedLines } from "../text/line-ends.ts";
import { revealHidden, stripControls } from "../text/terminal-text.ts";
import { line, type StyledText } from "./output.ts";

/** Returns the facts of a task, safe to print, one per line: its state, owner, dependencies and proof. */
export function taskFacts(task: ProvenTask, state: string | StyledText): string[] {
  const { owner, blockedBy, blocks } = task;
  const list = (ids: readonly string[]): string => ids.map((id) => `#${id}`).join(", ");
  return [
    line`state:      ${state}`,
    line`owner:      ${owner ?? "none"}`,
    ...(blockedBy.length === 0 ? [] : [line`blocked by: ${list(blockedBy)}`]),
    ...(blocks.length === 0 ? [] : [line`blocks:     ${list(blocks)}`]),
    ...proofLines(task),
  ];
}

/** Returns the lines of a task's details about its verify command, reviewer and files; empty if it has none of them. */
function proofLines({
  verify,
  proposedVerify,
  reviewer,
  touches,
  said,
  shown,
  verifyRun,
}: ProvenTask): string[] {
  const hasProof = verify !== null || proposedVerify !== undefined;
  return [
    ...(reviewer === null ? [] : [line`reviewer:   ${reviewer}`]),
    ...(touches.length === 0 ? [] : [line`touches:    ${touches.join(", ")}`]),
    ...(verify === null ? [] : [line`verify:     ${wholeCommand(verify)}`]),
    ...(proposedVerify === undefined
      ? []
      : [line`proposed:   ${wholeCommand(proposedVerify)} (not confirmed by a person, so it never runs)`]),
    ...(hasProof ? [line`said:       ${said ? "done" : "not done"}`, line`shown:      ${shown}`] : []),
    ...(verifyRun === null
      ? []
      : [line`last run:   ${runText(verifyRun)}`, line`in:         ${verifyRun.directory}`]),
    ...(verifyRun === null || verifyRun.tail === "" ? [] : ["", ...quoted(verifyRun.tail)]),
  ];
}

/** Returns a command as one line that hides nothing: after a line end, the rest could look like a comment. */
function wholeCommand(command: string): string {
  return joinedLines(revealHidden(command), "\\n");
}

/** Indents an output, so that it cannot look like our own lines. */
function quoted(output: string): string[] {
  return stripControls(output)
    .split("\n")
    .map((row) => line`  | ${row}`);
}
