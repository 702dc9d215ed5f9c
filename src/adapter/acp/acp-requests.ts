import { resolve } from "node:path";
import type { ServerTool } from "../../agent/tool.ts";
import { TEAM_SERVER } from "../channel.ts";
import { type Fields, fieldsOf, oneLine } from "../reported-values.ts";
import {
  commandRequest,
  editRequest,
  fetchRequest,
  type RequestOfCall,
  readRequest,
} from "../request-shapes.ts";

/** The known facts of a tool call: fields of `tool_call`, of its updates and of its permission request, newer values win. */
export interface AcpCall {
  readonly toolCallId: string;
  readonly title?: string | null | undefined;
  readonly kind?: string | null | undefined;
  readonly rawInput?: unknown;
  readonly content?: readonly unknown[] | null | undefined;
  readonly locations?: readonly { readonly path: string }[] | null | undefined;
  readonly _meta?: unknown;
}

interface AcpOption {
  readonly optionId: string;
  readonly kind: string;
}

/** The working directory of a CLI's calls, and how to read their titles. */
interface AcpPlace {
  readonly cwd: string;
  /** Whether the title of a command is the command. */
  readonly commandInTitle: boolean;
}

const TEAM_TOOL = /^mcp__teams__\w+$/;
/** Titles that CLIs give to calls of the team's tools. */
const TEAM_TITLES = [TEAM_TOOL, /^teams_\w+$/, /^\w+ \(teams MCP Server\)$/];

/** Whether a call uses a tool of the team. Such tools act only on the team, and check what their caller may do. */
export function isTeamCall({ title, kind, rawInput, _meta }: AcpCall): boolean {
  const { toolName: name } = fieldsOf(_meta);
  // Qwen names the tool here; its title is the input, which its model wrote.
  if (typeof name === "string") return TEAM_TOOL.test(name);
  if (kind === "execute") return codexTool(fieldsOf(rawInput))?.server === TEAM_SERVER;
  // Titles of other kinds may be the name of a file, or a text of the model.
  return (kind ?? "other") === "other" && TEAM_TITLES.some((pattern) => pattern.test(title ?? ""));
}

/** Codex describes a tool of a server with exactly these fields. In other CLIs they are input of the model, which can contain anything. */
function codexTool({ server, tool, arguments: _, ...more }: Fields): ServerTool | undefined {
  const isTool = typeof server === "string" && typeof tool === "string" && Object.keys(more).length === 0;
  return isTool ? { server, tool } : undefined;
}

/** Maps a call to our permission rules. A call that they do not cover counts as external: it needs permission. */
export function requestOf(call: AcpCall, place: AcpPlace): RequestOfCall {
  const { cwd } = place;
  const title = oneLine(call.title ?? call.kind ?? "a tool");
  const fields = fieldsOf(call.rawInput);
  const [path, ...more] = pathsOf(call).map((one) => resolve(cwd, one));
  const command = call.kind === "execute" ? commandOf(call, fields, place) : undefined;
  if (command !== undefined) return command;
  if (path !== undefined && WRITES.has(call.kind ?? "")) {
    const diffs = diffsOf(call.content);
    const [diff] = diffs;
    const change =
      diffs.length === 1 && diff !== undefined
        ? { old_string: diff.oldText ?? "", new_string: diff.newText }
        : { changes: diffs };
    return editRequest([path, ...more], change);
  }
  if (path !== undefined && call.kind === "read") return readRequest([path, ...more]);
  const fetched = call.kind === "fetch" ? fetchRequest(fields.url) : undefined;
  return (
    fetched ?? { tool: toolName(call, fields), summary: title, input: fields, access: { kind: "external" } }
  );
}

/** Returns the request to run a command; undefined if the call names no command, or its directory is unclear. */
function commandOf(
  call: AcpCall,
  fields: Fields,
  { cwd, commandInTitle }: AcpPlace,
): RequestOfCall | undefined {
  // Gemini describes another directory in the content. Its path is text of the model, so it is not parsed.
  if (commandInTitle && contentText(call).startsWith("[in ")) return undefined;
  const command =
    typeof fields.command === "string" ? fields.command : commandInTitle ? call.title : undefined;
  const [at, ...others] = otherDirectories(fields, cwd);
  return typeof command === "string" && others.length === 0 ? commandRequest(command, at, cwd) : undefined;
}

/** Returns the directories other than `cwd` that a call names for its command: each CLI uses one of these fields. */
function otherDirectories({ cwd: at, workdir, directory, dir_path }: Fields, cwd: string): string[] {
  const named = [at, workdir, directory, dir_path].filter((one): one is string => typeof one === "string");
  return [...new Set(named.map((one) => resolve(cwd, one)))].filter((one) => one !== resolve(cwd));
}

const WRITES: ReadonlySet<string> = new Set(["edit", "delete", "move"]);

/** Returns the id of the option that allows or rejects once; undefined if there is none: a permanent option is never used instead. */
export function optionFor(options: readonly AcpOption[], isAllowed: boolean): string | undefined {
  const kind = isAllowed ? "allow_once" : "reject_once";
  return options.find((option) => option.kind === kind)?.optionId;
}

interface Diff {
  readonly path: string;
  readonly oldText?: string | null | undefined;
  readonly newText: string;
}

function diffsOf(content: AcpCall["content"]): Diff[] {
  return (content ?? []).flatMap((one) => {
    const { type, path, oldText, newText } = fieldsOf(one);
    if (type !== "diff" || typeof path !== "string" || typeof newText !== "string") return [];
    return [{ path, newText, ...(typeof oldText === "string" ? { oldText } : {}) }];
  });
}

/** Paths of a call: of its diffs, its locations and its input. A refusal of one of them refuses the call. */
function pathsOf({ content, locations, rawInput }: AcpCall): string[] {
  const { file_path, path, filePath } = fieldsOf(rawInput);
  const named = [file_path, path, filePath].filter((one): one is string => typeof one === "string");
  return [
    ...new Set([
      ...diffsOf(content).map((diff) => diff.path),
      ...(locations ?? []).map((location) => location.path),
      ...named,
    ]),
  ];
}

function toolName({ title, kind, _meta }: AcpCall, fields: Fields): string {
  const { toolName: name } = fieldsOf(_meta);
  const codex = kind === "execute" ? codexTool(fields) : undefined;
  // The title of a command is text of the model, which must not choose the rules that apply.
  if (kind === "execute" && codex === undefined) return "Bash";
  const known = codex === undefined ? name : `mcp.${codex.server}.${codex.tool}`;
  const word = /^[\w.-]{1,64}/.exec(typeof known === "string" ? known : (title ?? ""))?.[0];
  return word ?? kind ?? "tool";
}

/** Returns the text of a call's result. */
export function contentText({ content }: AcpCall): string {
  const texts = (content ?? []).flatMap((one) => {
    const { type, content: inner } = fieldsOf(one);
    const { text } = fieldsOf(inner);
    return type === "content" && typeof text === "string" ? [text] : [];
  });
  return texts.join("\n");
}
