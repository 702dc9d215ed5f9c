import type { LandReport } from "../operations/landing/land.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { stripControls } from "../text/terminal-text.ts";
import { line, type Output } from "./output.ts";

/** Maximum lines to show from the end of an output. */
const MAX_ROWS = 20;

/** Returns the outcome for one agent's work, with the end of the output of a failed step. */
export function landText(report: LandReport, { styleText }: Pick<Output, "styleText">): string {
  const { agent, outcome, target, commits, commit, checkout, reason, hint, output } = report;
  const on = target ?? "its branch";
  const name = styleText(agent, "bold");
  if (outcome === "nothing") return line`${name}: nothing to land; ${on} has all its commits.`;
  if (outcome === "landed") {
    const count = `${commits} ${commits === 1 ? "commit" : "commits"}`;
    const files = checkout === null ? "" : `, and updated the files of ${checkout}`;
    return line`${name}: ${styleText("landed", "good")} ${count} on ${on} (${textStart(commit ?? "", 10)})${files}.`;
  }
  const failed = styleText("not landed", "bad");
  return [
    line`${name}: ${failed}: ${reason ?? ""}`,
    ...outputRows(output),
    ...(hint === null ? [] : [line`  hint: ${hint}`]),
    ...followUp(report),
  ].join("\n");
}

function outputRows(output: string | null): readonly string[] {
  if (output === null || output === "") return [];
  const rows = stripControls(output).split("\n");
  const shown = rows.slice(-MAX_ROWS).map((row) => `  | ${row}`);
  return rows.length > MAX_ROWS ? ["  | …", ...shown] : shown;
}

function followUp({ agent, taskId, notified }: LandReport): readonly string[] {
  const parts = [
    ...(notified ? [line`${agent} was notified`] : []),
    ...(taskId === null ? [] : [`task #${taskId} is open`]),
  ];
  return parts.length === 0 ? [] : [`  ${parts.join("; ")}.`];
}
