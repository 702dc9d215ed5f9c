import type { Env } from "../../os/env.ts";
import type { Playbook, PlaybookTurn } from "../../schema/playbook.ts";
import { withoutEnd } from "../../text/line-ends.ts";
import { messageText, toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, InputOrigin, ModelRequest, ToolResultBlock } from "../model/model.ts";
import type { Lookup } from "./placeholders.ts";

/** @param position `<agent list>/<index>`, as an assistant message records it */
export function turnAt(playbook: Playbook, position: string): PlaybookTurn | undefined {
  const slash = position.lastIndexOf("/");
  return playbook.agents[position.slice(0, slash)]?.[Number(position.slice(slash + 1))];
}

/** Returns the origin of the newest message; tool results have none. */
function newestOrigin(messages: readonly ConversationMessage[]): InputOrigin | undefined {
  const newest = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return newest?.role === "user" ? newest.origin : undefined;
}

/** Returns the values of a playbook's placeholders in this conversation (product.md, "The playbook"). */
export function playbookLookup(
  playbook: Playbook,
  request: ModelRequest,
  place: { readonly cwd: string; readonly env: Env },
): Lookup {
  const origin = newestOrigin(request.messages);
  return (name) => {
    const value = ownValue(name, origin, request, place) ?? resultValue(name, playbook, request.messages);
    if (value === undefined) throw new Error(`{{${name}}} has no value here`);
    // Like the shell's $(…): trailing line ends are not part of the value.
    return withoutEnd(typeof value === "string" ? value : JSON.stringify(value), "\n");
  };
}

function ownValue(
  name: string,
  origin: InputOrigin | undefined,
  request: ModelRequest,
  place: { readonly cwd: string; readonly env: Env },
): string | undefined {
  switch (name) {
    case "open":
      return "{{";
    case "input":
      return origin?.text;
    case "message.from":
      return origin?.from;
    case "request_id":
      return origin?.requestId ?? newestRequestId(request.messages);
    case "plan_file":
      return request.planFile;
    case "cwd":
      return place.cwd;
    default:
      if (name.startsWith("request_id."))
        return requestIdOf(name.slice("request_id.".length), request.messages);
      return name.startsWith("env.") ? place.env[name.slice("env.".length)] : undefined;
  }
}

/** Searches all messages: a plain message may follow the protocol message that asks for an answer. */
export function newestRequestId(messages: readonly ConversationMessage[]): string | undefined {
  for (const message of [...messages].reverse()) {
    if (message.role === "user" && message.origin?.requestId !== undefined) return message.origin.requestId;
  }
  return undefined;
}

/** The id of a plan, shutdown or question (protocol/request-ids.ts) of an agent whose name can be part of a placeholder. */
export const REQUEST_ID = /\b(?:plan_approval|shutdown|question)-[0-9]+@([A-Za-z0-9_-]+)(?:@[A-Za-z0-9-]+)?/g;

/** Returns the newest request id of an agent that the conversation mentions. */
function requestIdOf(agent: string, messages: readonly ConversationMessage[]): string | undefined {
  const ids = messages.flatMap((message) =>
    message.role === "user" ? [...messageText(message).matchAll(REQUEST_ID)] : [],
  );
  return ids.findLast(([, name]) => name === agent)?.[0];
}

/** Returns the newest result of the call that a turn named with `as`, or the part at a path. */
function resultValue(name: string, playbook: Playbook, messages: readonly ConversationMessage[]): unknown {
  const [label = "", ...path] = name.split(".");
  const result = newestResult(label, playbook, messages);
  if (result === undefined) return undefined;
  if (path.length === 0) return result.content;
  let value: unknown = result.data ?? parseJson(result.content);
  for (const key of path) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value ?? undefined;
}

function newestResult(
  label: string,
  playbook: Playbook,
  messages: readonly ConversationMessage[],
): ToolResultBlock | undefined {
  for (let i = messages.length - 1; i > 0; i -= 1) {
    const call = messages[i - 1];
    const answer = messages[i];
    if (call?.role !== "assistant" || call.turn === undefined || answer?.role !== "user") continue;
    const at = turnAt(playbook, call.turn)?.tools?.findLastIndex((tool) => tool.as === label) ?? -1;
    const use = at < 0 ? undefined : toolUsesOf(call)[at];
    const result = toolResultsOf(answer).find((block) => block.toolUseId === use?.id);
    if (result !== undefined) return result;
  }
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A plain text has no parts; the caller reports the placeholder as unknown.
    return undefined;
  }
}
