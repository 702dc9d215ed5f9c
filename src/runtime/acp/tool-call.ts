import { isAbsolute, resolve } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { fieldsOf } from "../../adapter/reported-values.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { StartedCall } from "./facts.ts";
import { MAX_INPUT, MAX_TITLE } from "./limits.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: "read",
  Write: "edit",
  Edit: "edit",
  Glob: "search",
  Grep: "search",
  Bash: "execute",
  TaskOutput: "execute",
  TaskStop: "execute",
  WebFetch: "fetch",
  ExitPlanMode: "switch_mode",
};

/** A tool call as a client shows it. */
export interface ShownCall {
  readonly title: string;
  readonly name: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly content: ToolCallContent[];
  readonly rawInput?: unknown;
}

/**
 * Returns a call as a client shows it: with the member's name unless the lead makes it, and with the files that it touches.
 * @param cwd the directory of relative paths
 */
export function shownCall(call: StartedCall, cwd: string, lead: string): ShownCall {
  const { tool, member, summary, input } = call;
  const fields = fieldsOf(input);
  const path = typeof fields.file_path === "string" ? fields.file_path : fields.path;
  const file = typeof path === "string" && path !== "" ? absolute(path, cwd) : undefined;
  const who = member === lead ? "" : `${member}: `;
  const what = summary === "" ? tool : `${tool} ${summary}`;
  return {
    title: shortened(oneLine(`${who}${what}`), MAX_TITLE),
    name: tool,
    kind: KINDS[tool] ?? "other",
    locations: file === undefined ? [] : [{ path: file }],
    content: file === undefined ? [] : diffOf(tool, file, fields),
    ...(isShort(input) ? { rawInput: input } : {}),
  };
}

/** Returns the change that a call asks for; none if the change is too long for a client. */
function diffOf(tool: string, path: string, fields: Readonly<Record<string, unknown>>): ToolCallContent[] {
  const { old_string: before, new_string: after, content } = fields;
  const oldText = tool === "Edit" && typeof before === "string" ? before : null;
  const newText = tool === "Edit" ? after : tool === "Write" ? content : undefined;
  if (typeof newText !== "string" || newText.length + (oldText?.length ?? 0) > MAX_INPUT) return [];
  return [{ type: "diff", path, oldText, newText }];
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function isShort(input: unknown): boolean {
  return input !== undefined && (JSON.stringify(input)?.length ?? 0) <= MAX_INPUT;
}

/** Returns a text as one line without control characters. */
export function oneLine(text: string): string {
  return stripControls(text).replace(/\s+/g, " ").trim();
}
