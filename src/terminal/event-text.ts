import { basename } from "node:path";
import * as z from "zod/mini";
import { EVENT_TYPES, type EventType, type TeamEvent } from "../schema/event.ts";
import { splitAddress } from "../schema/names.ts";
import { tokenCount } from "../schema/status.ts";
import { sumOf } from "../schema/tokens.ts";
import type { Output } from "./output.ts";
import { line } from "./paint.ts";
import { compact } from "./status-text.ts";

type Facts = Readonly<Record<string, unknown>>;

/** An event as a person reads it: when, who, and what, without the ids that only a program looks up. */
export function eventText(event: TeamEvent, { paint }: Pick<Output, "paint">): string {
  const at = event.ts.replace("T", " ").replace(/Z$/, "");
  const who = event.agentId === undefined ? "-" : splitAddress(event.agentId).name;
  const known = EVENT_TYPES.find((type) => type === event.type);
  const facts = known === undefined ? otherFacts(event) : FACTS[known](event);
  const said = facts.filter((fact) => fact !== "").join(", ");
  return line`${paint(at, "quiet")} ${paint(who, "bold")} ${said}`.trimEnd();
}

/** What each type says, part by part; an empty part is left out. */
const FACTS: Readonly<Record<EventType, (event: Facts) => readonly string[]>> = {
  agent: ({ what, outcome, how, messages, toolCalls, ms }) => [
    words(what, outcome ?? how),
    counted(messages, "message"),
    counted(toolCalls, "tool call"),
    time(ms),
  ],
  member: ({ what, how, backend }) => [
    words(`${what === "joined" ? "" : "member "}${what}`, how),
    text(backend),
  ],
  mode_changed: ({ mode, before }) => [`mode ${before} → ${mode}`],
  idle: ({ reason }) => [words("idle", reason === "available" ? undefined : reason)],
  message: ({ to, size, protocol }) => [words(`message to ${to}`, protocol), counted(size, "character")],
  task: ({ what, taskId, status, owner, statusBefore = status, ownerBefore }) => [
    words(`task #${taskId} ${what}`, changed(statusBefore, status)),
    owner === undefined && ownerBefore === undefined
      ? ""
      : `of ${changed(what === "changed" ? ownerBefore : owner, owner)}`,
  ],
  hook: ({ event, result, ms }) => [words(`hook ${event}`, result), time(ms)],
  permission: ({ tool, allowed, asked }) => [
    `${tool} ${allowed ? "allowed" : "refused"}`,
    asked ? "when asked" : "by rules and mode",
  ],
  model: ({ model, outcome, stopReason, tokens, costUsd, ms }) => [
    words(`model ${model}`, stopReason ?? outcome),
    tokensText(tokens),
    costUsd === 0 ? "" : `$${Number(costUsd).toFixed(4)}`,
    time(ms),
  ],
  memory_loaded: ({ files, size, skills }) => [
    words(
      "memory loaded",
      Array.isArray(files) ? files.map((file) => basename(String(file))).join(" ") : files,
    ),
    counted(size, "character"),
    counted(skills, "skill"),
  ],
};

/** Of a type that only a newer program knows. */
function otherFacts({ ts: _ts, type, team: _team, ...facts }: TeamEvent): string[] {
  return [type, ...Object.entries(facts).map(([key, value]) => `${key} ${JSON.stringify(value)}`)];
}

function words(what: unknown, how: unknown): string {
  const said = String(what).replaceAll("_", " ");
  return how === undefined || how === "" ? said : `${said}: ${String(how).replaceAll("_", " ")}`;
}

function changed(before: unknown, after: unknown): string {
  return before === after ? text(after) : `${before ?? "nobody"} → ${after ?? "nobody"}`;
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
