import * as z from "zod/mini";
import type { TokenCount } from "./tokens.ts";

/** What the local events of a team tell of (protocol.md section 1). */
export const EVENT_TYPES = [
  "agent",
  "member",
  "mode_changed",
  "idle",
  "message",
  "task",
  "hook",
  "permission",
  "model",
  "memory_loaded",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A line of `events.jsonl` as a reader takes it: what it does not know is kept. */
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

/** Whose event it is, as far as whoever writes it knows. */
export interface EventSubject {
  readonly agentId?: string | undefined;
  readonly agentType?: string | undefined;
  readonly parentSessionId?: string | undefined;
}

/** What happened: ids, names and sizes, never a text of a message, a model or a tool. Times are milliseconds. */
export type EventFacts =
  | { readonly type: "agent"; readonly what: "started" }
  /** A budget is spent, and there is more of it. */
  | { readonly type: "agent"; readonly what: "paused" | "went_on" }
  | { readonly type: "agent"; readonly what: "ended"; readonly how: string }
  /** With so many messages of others; none where a person typed, or something in the background ended. */
  | { readonly type: "agent"; readonly what: "turn_started"; readonly messages: number }
  | {
      readonly type: "agent";
      readonly what: "turn_ended";
      readonly outcome: string;
      readonly toolCalls: number;
      readonly ms: number;
    }
  | { readonly type: "member"; readonly what: "joined"; readonly backend?: string | undefined }
  /** Its start failed, and it is as if it had never joined. */
  | { readonly type: "member"; readonly what: "taken_back" }
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
  | {
      readonly type: "task";
      readonly what: "created" | "changed" | "deleted";
      readonly taskId: string;
      readonly status: string;
      readonly owner?: string | undefined;
      /** What a change began with. */
      readonly statusBefore?: string | undefined;
      readonly ownerBefore?: string | undefined;
    }
  | { readonly type: "hook"; readonly event: string; readonly result: string; readonly ms: number }
  | {
      readonly type: "permission";
      readonly tool: string;
      readonly allowed: boolean;
      /** Whether somebody was asked, or rules and mode decided. */
      readonly asked: boolean;
    }
  | {
      readonly type: "model";
      readonly model: string;
      readonly outcome: string;
      readonly stopReason?: string | undefined;
      readonly tokens: TokenCount;
      /** US dollars, 0 where no price is known. */
      readonly costUsd: number;
      readonly ms: number;
    }
  | {
      readonly type: "memory_loaded";
      readonly files: readonly string[];
      /** Characters of all together. */
      readonly size: number;
      readonly skills: number;
    };

export type NewEvent = EventFacts & EventSubject;
