import * as z from "zod/mini";
import type { TeamEvent } from "../schema/event.ts";
import { splitAddress } from "../schema/names.ts";
import { tokenCount } from "../schema/status.ts";
import { sumOf } from "../schema/tokens.ts";
import type { Output } from "./output.ts";
import { line } from "./paint.ts";
import { compact } from "./status-text.ts";

/** What is said elsewhere in the line, or is the same in all. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  "ts",
  "type",
  "team",
  "agentId",
  "agentType",
  "parentSessionId",
]);

/** An event as a person reads it: when, who, what, and the facts by their names. */
export function eventText(event: TeamEvent, { paint }: Pick<Output, "paint">): string {
  const at = event.ts.replace("T", " ").replace(/Z$/, "");
  const who = event.agentId === undefined ? "-" : splitAddress(event.agentId).name;
  const facts = Object.entries(event).flatMap(([key, value]) =>
    NOT_SHOWN.has(key) || value === undefined ? [] : [factText(key, value)],
  );
  return line`${paint(at, "quiet")} ${paint(who, "bold")} ${event.type} ${facts.join(", ")}`.trimEnd();
}

function factText(key: string, value: unknown): string {
  const words = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  switch (key) {
    case "what":
      return String(value).replaceAll("_", " ");
    case "ms":
      return `${value} ms`;
    case "costUsd":
      return `$${Number(value).toFixed(4)}`;
    case "tokens": {
      const tokens = z.safeParse(tokenCount, value);
      return `${tokens.success ? compact(sumOf(tokens.data)) : "?"} tokens`;
    }
    default:
      return `${words} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`;
  }
}
