import * as z from "zod";
import { metadata, milliseconds } from "./json.ts";
import { processIdentity } from "./process.ts";

/** What we write; absent reads as "1.0.0" (protocol.md section 2). */
export const SCHEMA_VERSION = "1.1.0";

/** Colours by order of joining; the lead has none. */
export const COLORS = ["blue", "green", "yellow", "purple", "orange", "pink", "cyan", "red"] as const;

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "bypassPermissions",
  "dontAsk",
  "delegate",
] as const;
export const permissionMode = z.enum(PERMISSION_MODES);
export type PermissionMode = z.infer<typeof permissionMode>;

export const BACKEND_TYPES = ["tmux", "in-process", "iterm2", "process"] as const;
export type BackendType = (typeof BACKEND_TYPES)[number];

/** A reader needs `name`; the rest defaults. Unknown fields stay. */
export const teamMember = z.looseObject({
  name: z.string().min(1),
  agentId: z.string().default(""),
  agentType: z.string().optional(),
  model: z.string().optional(),
  prompt: z.string().optional(),
  color: z.string().optional(),
  planModeRequired: z.boolean().optional(),
  joinedAt: milliseconds.default(0),
  tmuxPaneId: z.string().default(""),
  cwd: z.string().default(""),
  subscriptions: z.array(z.string()).default([]),
  backendType: z.string().optional(),
  isActive: z.boolean().optional(),
  mode: z.string().optional(),
  worktreePath: z.string().optional(),
  allowedTools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  metadata: metadata.optional(),
});
export type TeamMember = z.infer<typeof teamMember>;

export const formerMember = z.looseObject({
  name: z.string(),
  agentId: z.string(),
  endedAt: z.number(),
  how: z.string(),
});
export type FormerMember = z.infer<typeof formerMember>;

export const teamConfig = z.looseObject({
  name: z.string().min(1),
  description: z.string().optional(),
  createdAt: milliseconds.default(0),
  leadAgentId: z.string().default(""),
  leadSessionId: z.string().default(""),
  leadProcess: z
    .looseObject({ ...processIdentity.partial({ procStart: true }).shape, claimedAt: z.number().optional() })
    .optional(),
  members: z.array(teamMember).default([]),
  hiddenPaneIds: z.array(z.string()).optional(),
  metadata: metadata.optional(),
  schemaVersion: z.string().optional(),
  displayName: z.string().optional(),
  joinedCount: z.number().int().optional(),
  former: z.array(formerMember).optional(),
});
export type TeamConfig = z.infer<typeof teamConfig>;
