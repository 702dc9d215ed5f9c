import { isAbsolute, resolve } from "node:path";
import { fieldsOf, oneLine } from "../reported-values.ts";
import {
  commandRequest,
  editRequest,
  fetchRequest,
  type RequestOfCall,
  readRequest,
} from "../request-shapes.ts";

/** A request for permission in OpenCode's HTTP interface. */
export interface AskedPermission {
  readonly id: string;
  readonly sessionID: string;
  /** `bash`, `edit`, `read`, or the name of another tool. */
  readonly permission: string;
  readonly patterns: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly messageID: string | undefined;
  readonly callID: string | undefined;
}

/** Reads a request. @returns undefined for any other value */
export function askedPermission(value: unknown): AskedPermission | undefined {
  const { id, sessionID, permission, patterns, metadata, tool } = fieldsOf(value);
  if (typeof id !== "string" || typeof sessionID !== "string" || typeof permission !== "string")
    return undefined;
  const { messageID, callID } = fieldsOf(tool);
  return {
    id,
    sessionID,
    permission,
    patterns: Array.isArray(patterns) ? patterns.filter((one) => typeof one === "string") : [],
    metadata: fieldsOf(metadata),
    messageID: textOf(messageID),
    callID: textOf(callID),
  };
}

/**
 * Maps a request to our permission rules. A request that they do not cover counts as external: it needs permission.
 * @param input of the tool call that asks; empty if it is not known
 */
export function requestOf(
  { permission, patterns, metadata }: AskedPermission,
  input: Readonly<Record<string, unknown>>,
  cwd: string,
): RequestOfCall {
  switch (permission) {
    case "bash": {
      // The patterns of a compound command are its parts, so they cannot replace the command.
      const command = textOf(metadata.command) ?? textOf(input.command);
      if (command !== undefined) return commandRequest(command, input.workdir, cwd);
      break;
    }
    case "edit": {
      const [path, ...more] = editedPaths(metadata, input);
      if (path !== undefined) return editRequest([path, ...more], changeOf(metadata, input));
      break;
    }
    case "read": {
      const path = textOf(input.filePath);
      if (path !== undefined) return readRequest([resolve(cwd, path)]);
      break;
    }
    case "glob":
    case "grep":
    case "list":
      return readRequest([resolve(cwd, textOf(input.path) ?? textOf(metadata.path) ?? ".")]);
    case "webfetch": {
      const fetched = fetchRequest(metadata.url ?? input.url);
      if (fetched !== undefined) return fetched;
      break;
    }
  }
  const tool = /^[\w.-]{1,64}/.exec(permission)?.[0] ?? "tool";
  const summary = oneLine([permission, ...patterns.filter((one) => one !== "*")].join(" "));
  return { tool, summary, input: { ...metadata, ...input }, access: { kind: "external" } };
}

/** Returns the edited paths; none if one of them is not absolute: a relative path may begin at another directory. */
function editedPaths(
  metadata: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
): string[] {
  const files = Array.isArray(metadata.files) ? metadata.files.map(fieldsOf) : undefined;
  const named = files?.flatMap(({ filePath, movePath }) =>
    movePath === undefined ? [filePath] : [filePath, movePath],
  ) ?? [textOf(metadata.filepath) ?? input.filePath];
  const paths = named.filter((one): one is string => typeof one === "string" && isAbsolute(one));
  return paths.length === named.length ? [...new Set(paths)] : [];
}

function changeOf(
  { diff }: Readonly<Record<string, unknown>>,
  { oldString, newString, content }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (typeof oldString === "string" && typeof newString === "string")
    return { old_string: oldString, new_string: newString };
  if (typeof content === "string") return { old_string: "", new_string: content };
  return { changes: diff ?? "" };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
