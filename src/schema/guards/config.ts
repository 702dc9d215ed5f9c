import { type TeamConfig, type TeamMember, teamConfig } from "../config.ts";
import { isMigrated } from "../migrate.ts";
import {
  allOf,
  type Form,
  isCount,
  isFilled,
  isFlag,
  isInteger,
  isNumber,
  isRecord,
  isText,
  isTextList,
  listOf,
  looseObject,
  optional,
} from "./guard.ts";
import { isWorktree } from "./identity.ts";

const isMember = looseObject<TeamMember>({
  name: isFilled,
  agentId: isText,
  agentType: optional(isText),
  model: optional(isText),
  prompt: optional(isText),
  color: optional(isText),
  planModeRequired: optional(isFlag),
  joinedAt: isNumber,
  tmuxPaneId: isText,
  cwd: isText,
  subscriptions: isTextList,
  backendType: optional(isText),
  isActive: optional(isFlag),
  mode: optional(isText),
  worktreePath: optional(isText),
  allowedTools: optional(isTextList),
  disallowedTools: optional(isTextList),
  metadata: optional(isRecord),
});

const isFormer = looseObject<NonNullable<TeamConfig["former"]>[number]>({
  name: isText,
  agentId: isText,
  endedAt: isNumber,
  how: isText,
  sessionId: optional(isText),
  worktree: optional(isWorktree),
});

const isConfig = looseObject<TeamConfig>({
  name: isFilled,
  schemaVersion: optional(isText),
  description: optional(isText),
  createdAt: isNumber,
  leadAgentId: isText,
  leadSessionId: isText,
  leadProcess: optional(
    looseObject<NonNullable<TeamConfig["leadProcess"]>>({
      pid: isCount,
      procStart: optional(isText),
      pidSpace: optional(isText),
      bootId: optional(isText),
      claimedAt: optional(isNumber),
    }),
  ),
  members: listOf(isMember),
  hiddenPaneIds: optional(isTextList),
  metadata: optional(isRecord),
  displayName: optional(isText),
  joinedCount: optional(isInteger),
  former: optional(listOf(isFormer)),
});

export const configForm: Form<TeamConfig> = {
  guard: allOf(isMigrated, isConfig),
  schema: () => teamConfig,
};
