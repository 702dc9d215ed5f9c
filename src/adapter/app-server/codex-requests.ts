import { resolve } from "node:path";
import { TEAM_SERVER } from "../channel.ts";
import { type Fields, fieldsOf, oneLine } from "../reported-values.ts";
import { commandRequest, editRequest, type RequestOfCall } from "../request-shapes.ts";
import { wordsOf } from "./shell-words.ts";

/** A request of Codex for permission. */
interface CodexRequest {
  readonly request: RequestOfCall;
  /** Whether it is for a tool of the team. Such tools act only on the team, and check what their caller may do. */
  readonly isOwn: boolean;
  answer(isAllowed: boolean): Fields;
}

/**
 * Maps a request to our permission rules. A request that they do not cover counts as external: it needs permission.
 * @param item Codex's description of the call
 * @returns undefined for a request that only a person can answer in its screen
 */
export function codexRequest(
  method: string,
  params: Fields,
  item: unknown,
  cwd: string,
): CodexRequest | undefined {
  switch (method) {
    case "item/commandExecution/requestApproval":
      return { request: executionRequest(params, cwd), isOwn: false, answer: decision };
    case "item/fileChange/requestApproval":
      return { request: fileRequest(params, item, cwd), isOwn: false, answer: decision };
    case "item/permissions/requestApproval": {
      const { permissions } = params;
      const answer = (isAllowed: boolean): Fields => ({
        permissions: isAllowed ? permissions : {},
        scope: "turn",
      });
      return { request: external("permissions", params.reason, params), isOwn: false, answer };
    }
    case "mcpServer/elicitation/request": {
      const { codex_approval_kind: kind, tool_name: tool } = fieldsOf(params._meta);
      if (kind !== "mcp_tool_call") return undefined;
      const server = String(params.serverName);
      const name = typeof tool === "string" ? `mcp__${server}__${tool}` : `mcp__${server}`;
      const answer = (isAllowed: boolean): Fields =>
        isAllowed
          ? { action: "accept", content: {}, _meta: null }
          : { action: "decline", content: null, _meta: null };
      return { request: external(name, params.message, params), isOwn: server === TEAM_SERVER, answer };
    }
    default:
      return undefined;
  }
}

/** Only this one call is approved: Codex also offers approvals for the session and for similar commands. */
function decision(isAllowed: boolean): Fields {
  return { decision: isAllowed ? "accept" : "decline" };
}

function external(tool: string, summary: unknown, input: Fields): RequestOfCall {
  const text = typeof summary === "string" && summary !== "" ? summary : tool;
  return { tool: oneLine(tool), summary: oneLine(text), input, access: { kind: "external" } };
}

function executionRequest(params: Fields, cwd: string): RequestOfCall {
  const { command, kind, networkApprovalContext: network } = params;
  const isPlain = (kind === undefined || kind === "command") && (network ?? undefined) === undefined;
  if (typeof command !== "string" || !isPlain) return external("command", params.reason ?? command, params);
  return commandRequest(scriptOf(command), params.cwd, cwd);
}

/** Returns the script of `bash -lc SCRIPT`, in which Codex wraps each command; any other command unchanged. */
export function scriptOf(command: string): string {
  const [shell = "", flag, script, ...more] = wordsOf(command) ?? [];
  const isWrapped = SHELL.test(shell) && (flag === "-lc" || flag === "-c") && more.length === 0;
  return isWrapped && script !== undefined ? script : command;
}

/** Matches a shell of the system. Codex's model can name any program, including a file of the project named bash. */
const SHELL =
  /^(?:\/(?:usr\/(?:local\/)?)?bin\/|\/(?:opt\/homebrew|home\/linuxbrew\/\.linuxbrew|run\/current-system\/sw)\/bin\/)?(?:ba|z)?sh$/;

function fileRequest(params: Fields, item: unknown, cwd: string): RequestOfCall {
  const { changes } = fieldsOf(item);
  const all = (Array.isArray(changes) ? changes : []).map(fieldsOf);
  const paths = all.flatMap(({ path, kind }) =>
    [path, fieldsOf(kind).move_path]
      .filter((one): one is string => typeof one === "string")
      .map((one) => resolve(cwd, one)),
  );
  const [path, ...more] = paths;
  const isWide = (params.grantRoot ?? undefined) !== undefined;
  if (path === undefined || isWide) return external("Edit", params.reason ?? params.grantRoot, params);
  const texts = all.map(({ path: file, diff }) => ({ path: file, newText: diff }));
  const [only] = all;
  const isNew = all.length === 1 && fieldsOf(only?.kind).type === "add";
  const change = isNew ? { old_string: "", new_string: only?.diff } : { changes: texts };
  return editRequest([path, ...more], change);
}
