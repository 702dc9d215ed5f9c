import type { Env } from "../../os/env.ts";
import type { Playbook, Turn } from "../../schema/playbook.ts";
import { messageText, toolResultsOf, toolUsesOf } from "../model/messages.ts";
import type { ConversationMessage, InputOrigin, ModelRequest, ToolResultBlock } from "../model/model.ts";
import type { Lookup } from "./placeholders.ts";

/** `<agent list>/<index>`, as an assistant message keeps it. */
export function turnAt(playbook: Playbook, position: string): Turn | undefined {
  const slash = position.lastIndexOf("/");
  return playbook.agents[position.slice(0, slash)]?.[Number(position.slice(slash + 1))];
}

/** Facts of the newest message, not of a tool's result. */
function newestOrigin(messages: readonly ConversationMessage[]): InputOrigin | undefined {
  const newest = messages.findLast((message) => message.role === "user" && message.origin !== undefined);
  return newest?.role === "user" ? newest.origin : undefined;
}

/** What a playbook's placeholders stand for in this conversation (product.md, "The playbook"). */
export function playbookLookup(
  playbook: Playbook,
  request: ModelRequest,
  place: { readonly cwd: string; readonly env: Env },
): Lookup {
  const origin = newestOrigin(request.messages);
  return (name) => {
    const value = ownValue(name, origin, request, place) ?? resultValue(name, playbook, request.messages);
    if (value === undefined) throw new Error(`{{${name}}} stands for nothing here`);
    // As a shell's own $(…) does: a line's end behind a value is no part of it.
    return (typeof value === "string" ? value : JSON.stringify(value)).replace(/\n+$/, "");
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

/** A plain message may have come behind the protocol message that asks for an answer. */
export function newestRequestId(messages: readonly ConversationMessage[]): string | undefined {
  for (const message of [...messages].reverse()) {
    if (message.role === "user" && message.origin?.requestId !== undefined) return message.origin.requestId;
  }
  return undefined;
}

/** The id of a plan, a shutdown or a question (protocol/request-ids.ts), whose agent has a name that a placeholder can hold. */
export const REQUEST_ID = /\b(?:plan_approval|shutdown|question)-[0-9]+@([A-Za-z0-9_-]+)(?:@[A-Za-z0-9-]+)?/g;

/** The newest that an agent's model was told of. */
function requestIdOf(agent: string, messages: readonly ConversationMessage[]): string | undefined {
  const told = messages.flatMap((message) =>
    message.role === "user" ? [...messageText(message).matchAll(REQUEST_ID)] : [],
  );
  return told.findLast(([, name]) => name === agent)?.[0];
}

/** The newest result of the call that a turn named with `as`, or a part of it by its path. */
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
    // A result in plain words has no parts; the placeholder is then unknown, which is said.
    return undefined;
  }
}
