import type { Env } from "../../os/env.ts";
import { redactText, secretsOf } from "../../os/redact.ts";
import { boundedLines } from "../../text/diff/bounded-lines.ts";
import { changeLines } from "../../text/diff/change-lines.ts";
import type { ToolResult } from "../tool.ts";

/**
 * Returns the change between two texts of a file as the lines of a unified diff, bounded and with secrets redacted.
 * @param before undefined for a new file
 */
export async function fileChange(before: string | undefined, after: string, env: Env): Promise<string[]> {
  return boundedLines(await changeOf(before ?? "", after, env));
}

/** A change as a person sees it instead of the result: a text with its size, and its lines. */
type ShownChange = Pick<ToolResult, "display" | "change">;

/** Returns the form in which a person sees a change of a tool. Never rejects, because the file is changed already. */
export async function shownChange(before: string | undefined, after: string, env: Env): Promise<ShownChange> {
  try {
    return describe(before, await changeOf(before ?? "", after, env));
  } catch {
    return {};
  }
}

function describe(before: string | undefined, lines: readonly string[]): ShownChange {
  const added = lines.filter((text) => text.startsWith("+")).length;
  const removed = lines.filter((text) => text.startsWith("-")).length;
  const counts = [
    ...(added === 0 ? [] : [`${counted(added)} added`]),
    ...(removed === 0 ? [] : [`${counted(removed)} removed`]),
  ];
  const isNew = before === undefined;
  const size = isNew ? (added === 0 ? "empty" : counted(added)) : counts.join(", ") || "no line changed";
  return { display: isNew ? `new file: ${size}` : size, change: boundedLines(lines) };
}

async function changeOf(before: string, after: string, env: Env): Promise<string[]> {
  const { shortestChange } = await import("../../text/diff/shortest-change.ts");
  // Redacted before the texts are split into lines, since a secret can have several lines.
  const secrets = secretsOf(env);
  return changeLines(redactText(before, secrets), redactText(after, secrets), { search: shortestChange });
}

function counted(lines: number): string {
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}
