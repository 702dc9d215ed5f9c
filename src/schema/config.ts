import * as z from "zod/mini";
import { migrateConfig } from "./migrate.ts";
import { PERMISSION_MODES } from "./permission-modes.ts";
import { processIdentity } from "./process-identity.ts";
import { worktreeRecord } from "./worktree.ts";
import { metadata, milliseconds, nullIsAbsent } from "./zod-helpers.ts";

/** Colours by order of joining; the lead has none. */
export const COLORS = ["blue", "green", "yellow", "purple", "orange", "pink", "cyan", "red"] as const;

export const permissionMode = z.enum(PERMISSION_MODES);

const BACKEND_TYPES = ["tmux", "in-process", "iterm2", "process"] as const;
export type BackendType = (typeof BACKEND_TYPES)[number];

const memberFields = z.looseObject({
  name: z.string().check(z.minLength(1)),
  agentId: z._default(z.string(), ""),
  agentType: z.optional(z.string()),
  model: z.optional(z.string()),
  prompt: z.optional(z.string()),
  color: z.optional(z.string()),
  planModeRequired: z.optional(z.boolean()),
  joinedAt: z._default(milliseconds, 0),
  tmuxPaneId: z._default(z.string(), ""),
  cwd: z._default(z.string(), ""),
  subscriptions: z._default(z.array(z.string()), []),
  backendType: z.optional(z.string()),
  isActive: z.optional(z.boolean()),
  mode: z.optional(z.string()),
  worktreePath: z.optional(z.string()),
  allowedTools: z.optional(z.array(z.string())),
  disallowedTools: z.optional(z.array(z.string())),
  metadata: z.optional(metadata),
});
/** Only `name` is required; other fields have defaults. Unknown fields stay. */
export const teamMember = nullIsAbsent(memberFields);
export type TeamMember = z.infer<typeof teamMember>;

const formerMember = z.looseObject({
  name: z.string(),
  agentId: z.string(),
  endedAt: z.number(),
  how: z.string(),
  /** Ours: the session id of its conversation. */
  sessionId: z.catch(z.optional(z.string()), undefined),
  /** Ours: its worktree, which may still exist. */
  worktree: z.catch(z.optional(worktreeRecord), undefined),
});

const configFields = z.looseObject({
  name: z.string().check(z.minLength(1)),
  // Before the growing lists, so that a truncated file still shows which program created it.
  schemaVersion: z.optional(z.string()),
  description: z.optional(z.string()),
  createdAt: z._default(milliseconds, 0),
  leadAgentId: z._default(z.string(), ""),
  leadSessionId: z._default(z.string(), ""),
  leadProcess: z.optional(
    z.looseObject({
      ...z.partial(processIdentity, { procStart: true }).shape,
      claimedAt: z.optional(z.number()),
    }),
  ),
  members: z._default(z.array(teamMember), []),
  hiddenPaneIds: z.optional(z.array(z.string())),
  metadata: z.optional(metadata),
  displayName: z.optional(z.string()),
  joinedCount: z.optional(z.int()),
  former: z.optional(z.array(formerMember)),
});
/** `config.json` of any program; an older version of our own is migrated. */
export const teamConfig = z.pipe(z.transform(migrateConfig), nullIsAbsent(configFields));
export type TeamConfig = z.infer<typeof teamConfig>;

/** Returns the display name with the directory's name, if they differ. */
export function teamTitle({ name, displayName = name }: Pick<TeamConfig, "name" | "displayName">): string {
  return displayName === name ? name : `${displayName} (${name})`;
}
