import { basename } from "node:path";
import * as z from "zod/mini";
import { EVENT_TYPES, type EventType, type TeamEvent } from "../schema/event.ts";
import { splitAddress } from "../schema/names.ts";
import { tokenCount } from "../schema/status.ts";
import { sumOf } from "../schema/tokens.ts";
import { textStart } from "../text/characters/cut-text.ts";
import { compact } from "../text/compact-number.ts";
import { localTime } from "../text/local-time.ts";
import { line, type Output } from "./output.ts";

type Facts = Readonly<Record<string, unknown>>;

/** Returns an event as a line for a user: time, agent and facts, without ids that only programs need. */
export function eventText(event: TeamEvent, { styleText }: Pick<Output, "styleText">): string {
  const at = localTime(event.ts, "seconds");
  const who = event.agentId === undefined ? "-" : shortName(event.agentId, event.agentType);
  const known = EVENT_TYPES.find((type) => type === event.type);
  const facts = known === undefined ? otherFacts(event) : FACTS[known](printable(event));
  const shownFacts = facts.filter((fact) => fact !== "").join(", ");
  return line`${styleText(at, "quiet")} ${styleText(who, "bold")} ${shownFacts}`.trimEnd();
}

/** Returns a member's name; a subagent has only an id, so its type says more. */
function shortName(agentId: string, agentType = "subagent"): string {
  const { name, team } = splitAddress(agentId);
  return team === undefined ? `${agentType} ${textStart(name, 8)}` : name;
}

/** Replaces objects, which have no readable text: a person may have edited the file. */
function printable({ tokens, files, ...facts }: Facts): Facts {
  const plain = (value: unknown): unknown => (typeof value === "object" && value !== null ? "{…}" : value);
  const entries = Object.entries(facts).map(([key, value]) => [key, plain(value)]);
  return {
    ...Object.fromEntries(entries),
    tokens,
    files: Array.isArray(files) ? files.map(plain) : plain(files),
  };
}

/** The facts of each event type; empty ones are omitted. */
const FACTS: Readonly<Record<EventType, (event: Facts) => readonly string[]>> = {
  agent: ({ what, outcome, how, messages, toolCalls, ms }) => [
    phrase(what, outcome ?? how),
    counted(messages, "message"),
    counted(toolCalls, "tool call"),
    time(ms),
  ],
  member: ({ what, how, backend }) => [
    phrase(`${what === "joined" ? "" : "member "}${what}`, how),
    text(backend),
  ],
  mode_changed: ({ mode, before }) => [`mode ${before} → ${mode}`],
  idle: ({ reason }) => [phrase("idle", reason === "available" ? undefined : reason)],
  message: ({ to, size, protocol }) => [phrase(`message to ${to}`, protocol), counted(size, "character")],
  inbox: ({ what, owner }) => [`inbox of ${owner} ${what}`],
  task: ({ what, taskId, status, owner, statusBefore = status, ownerBefore }) => [
    phrase(`task #${taskId} ${what}`, changed(statusBefore, status)),
    owner === undefined && ownerBefore === undefined
      ? ""
      : `owner ${changed(what === "changed" ? ownerBefore : owner, owner)}`,
  ],
  hook: ({ event, result, ms }) => [phrase(`hook ${event}`, result), time(ms)],
  permission: ({ tool, allowed, asked }) => [
    `${tool} ${allowed ? "allowed" : "refused"}`,
    asked ? "when asked" : "by rules and mode",
  ],
  model: ({ model, outcome, stopReason, tokens, costUsd, ms }) => [
    phrase(`model ${model}`, stopReason ?? outcome),
    tokensText(tokens),
    costUsd === 0 ? "" : `$${Number(costUsd).toFixed(4)}`,
    time(ms),
  ],
  memory_loaded: ({ files, size, skills }) => [
    phrase(
      "memory loaded",
      Array.isArray(files) ? files.map((file) => basename(String(file))).join(" ") : files,
    ),
    counted(size, "character"),
    counted(skills, "skill"),
  ],
  question: ({ what, requestId }) => [phrase(`question ${what}`, requestId)],
};

/** For a type that only a newer version knows. */
function otherFacts({ ts: _ts, type, team: _team, ...facts }: TeamEvent): string[] {
  return [type, ...Object.entries(facts).map(([key, value]) => `${key} ${JSON.stringify(value)}`)];
}

function phrase(what: unknown, how: unknown): string {
  const subject = String(what).replaceAll("_", " ");
  return how === undefined || how === "" ? subject : `${subject}: ${String(how).replaceAll("_", " ")}`;
}

function changed(before: unknown, after: unknown): string {
  return before === after ? text(after) : `${before ?? "none"} → ${after ?? "none"}`;
}

function counted(count: unknown, what: string): string {
  if (typeof count !== "number") return "";
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}

function time(ms: unknown): string {
  return typeof ms === "number" ? `${ms} ms` : "";
}

function text(value: unknown): string {
  return value === undefined ? "" : String(value);
}

function tokensText(value: unknown): string {
  const tokens = z.safeParse(tokenCount, value);
  return tokens.success ? `${compact(sumOf(tokens.data))} tokens` : "";
}
