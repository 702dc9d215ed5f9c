import { resolve } from "node:path";
import { plainHost } from "../agent/permissions/host-rules.ts";
import { parsedUrl } from "../text/parsed-url.ts";
import { shellQuote } from "../text/shell-quote.ts";
import type { ChannelRequest } from "./channel.ts";
import { oneLine } from "./reported-values.ts";

/** A request without its id, in the form that our permission rules take. */
export type RequestOfCall = Omit<ChannelRequest, "id">;

/**
 * Returns the request to run a command.
 * @param at its directory. If that is not `cwd`, its relative paths name other files, so `cd` becomes part of the command
 */
export function commandRequest(command: string, at: unknown, cwd: string): RequestOfCall {
  const isHere = typeof at !== "string" || resolve(cwd, at) === resolve(cwd);
  // No directory has a NUL in its name: such a command does not start.
  const whole = isHere ? command : `cd ${shellQuote(at.replaceAll("\0", ""))} && ${command}`;
  return {
    tool: "Bash",
    summary: oneLine(whole),
    input: { command: whole },
    access: { kind: "command", command: whole },
  };
}

/** Returns the request to write files. @param change `old_string` and `new_string`, or `changes` */
export function editRequest(
  paths: readonly [string, ...string[]],
  change: Readonly<Record<string, unknown>>,
): RequestOfCall {
  return {
    tool: "Edit",
    summary: paths.map(oneLine).join(", "),
    input: { file_path: paths[0], ...change },
    access: { kind: "write", paths: [...paths] },
  };
}

export function readRequest(paths: readonly [string, ...string[]]): RequestOfCall {
  return {
    tool: "Read",
    summary: oneLine(paths[0]),
    input: { file_path: paths[0] },
    access: { kind: "read", paths: [...paths] },
  };
}

/** Returns the request to fetch a URL; undefined if it is not an HTTP URL. The host of a rule has no port: it covers every port. */
export function fetchRequest(url: unknown): RequestOfCall | undefined {
  const address = typeof url === "string" ? parsedUrl(url) : undefined;
  if (typeof url !== "string" || address === undefined || !/^https?:$/.test(address.protocol))
    return undefined;
  const host = plainHost(address.hostname);
  return { tool: "WebFetch", summary: oneLine(url), input: { url }, access: { kind: "host", host } };
}

/** Returns deny rules for the tools that its agent type lacks; a CLI obeys them only where it asks. @param tools undefined for all */
export function denialsFor(tools: readonly string[] | undefined): readonly string[] {
  if (tools === undefined) return [];
  return [["Bash"], ["Edit", "Write"], ["WebFetch"]].flatMap((names) =>
    names.some((name) => tools.includes(name)) ? [] : names,
  );
}
