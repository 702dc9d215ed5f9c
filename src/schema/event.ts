import * as z from "zod/mini";
import type { TokenCount } from "./tokens.ts";

/** Types of a team's local events (protocol.md section 1). */
export const EVENT_TYPES = [
  "agent",
  "member",
  "mode_changed",
  "idle",
  "message",
  "inbox",
  "task",
  "hook",
  "permission",
  "model",
  "memory_loaded",
  "question",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A line of `events.jsonl`; unknown fields are kept. */
export const teamEvent = z.looseObject({
  /** ISO. */
  ts: z.string(),
  type: z.string(),
  team: z._default(z.string(), ""),
  agentId: z.optional(z.string()),
  agentType: z.optional(z.string()),
  parentSessionId: z.optional(z.string()),
});
export type TeamEvent = z.infer<typeof teamEvent>;

/** The agent or team that an event is about, as far as the writer knows it. */
export interface EventSubject {
  readonly agentId?: string | undefined;
  readonly agentType?: string | undefined;
  readonly parentSessionId?: string | undefined;
}

/** What happened: ids, names and sizes, never the text of a message, a model or a tool. Times are in milliseconds. */
export type EventFacts =
  /** A new agent: a lead, a teammate or a subagent. Values that it does not choose itself come from its spawner. */
  | {
      readonly type: "agent";
      readonly what: "created";
      /** Where its type comes from; `flag` if its prompt comes from the flags of its start. */
      readonly source: "built-in" | "user" | "project" | "flag";
      /** The tools that it is limited to, besides those of its team. */
      readonly toolCount: number | "all";
      readonly hasCustomModel: boolean;
      readonly hasCustomColor: boolean;
      readonly hasMemory: boolean;
      readonly memoryScope?: "user" | "project" | "local" | undefined;
    }
  | { readonly type: "agent"; readonly what: "started" }
  /** Its budget, or a limit of its account, was reached; it works again. */
  | { readonly type: "agent"; readonly what: "paused" | "resumed" }
  | { readonly type: "agent"; readonly what: "ended"; readonly how: string }
  /** `messages` is the number of messages from others; 0 if a person typed, or a background command ended. */
  | { readonly type: "agent"; readonly what: "turn_started"; readonly messages: number }
  | {
      readonly type: "agent";
      readonly what: "turn_ended";
      readonly outcome: string;
      readonly toolCalls: number;
      readonly ms: number;
    }
  | { readonly type: "member"; readonly what: "joined"; readonly backend?: string | undefined }
  /** Its start failed, and it was removed as if it had never joined. */
  | { readonly type: "member"; readonly what: "start_failed" }
  /** Another program had dropped it from the config, and its agent registered itself again. */
  | { readonly type: "member"; readonly what: "rejoined" }
  | { readonly type: "member"; readonly what: "ended"; readonly how: string }
  | { readonly type: "mode_changed"; readonly mode: string; readonly before: string }
  | { readonly type: "idle"; readonly reason: string }
  | {
      readonly type: "message";
      readonly messageId: string;
      readonly from: string;
      readonly to: string;
      /** Characters. */
      readonly size: number;
      /** Type of a protocol message. */
      readonly protocol?: string | undefined;
    }
  /** Its inbox was broken, or contained entries that are not messages; they were moved to a file next to it. */
  | { readonly type: "inbox"; readonly what: "repaired"; readonly owner: string }
  | {
      readonly type: "task";
      readonly what: "created" | "changed" | "deleted";
      readonly taskId: string;
      readonly status: string;
      readonly owner?: string | undefined;
      /** The values before a change. */
      readonly statusBefore?: string | undefined;
      readonly ownerBefore?: string | undefined;
    }
  | { readonly type: "hook"; readonly event: string; readonly result: string; readonly ms: number }
  | {
      readonly type: "permission";
      readonly tool: string;
      readonly allowed: boolean;
      /** True if the lead or a person was asked; false if rules and mode decided. */
      readonly asked: boolean;
    }
  | {
      readonly type: "model";
      readonly model: string;
      readonly outcome: string;
      readonly stopReason?: string | undefined;
      readonly tokens: TokenCount;
      /** US dollars; 0 if no price is known. */
      readonly costUsd: number;
      readonly ms: number;
    }
  | {
      readonly type: "memory_loaded";
      readonly files: readonly string[];
      /** Total number of characters. */
      readonly size: number;
      readonly skills: number;
    }
  /** The deadline has passed: the default is the answer. */
  | { readonly type: "question"; readonly what: "defaulted"; readonly requestId: string };

export type NewEvent = EventFacts & EventSubject;
