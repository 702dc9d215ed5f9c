import { type ProcessIdentity, processIdentity } from "../process-identity.ts";
import type { WorktreeRecord } from "../worktree.ts";
import { type Form, type Guard, isCount, isFlag, isText, optional, plainObject } from "./guard.ts";

export const isIdentity = plainObject<ProcessIdentity>({
  pid: isCount,
  procStart: isText,
  pidSpace: optional(isText),
  bootId: optional(isText),
});

export const identityForm: Form<ProcessIdentity> = { guard: isIdentity, schema: () => processIdentity };

const isAbsolute: Guard<string> = (value): value is string => isText(value) && value.startsWith("/");

export const isWorktree = plainObject<WorktreeRecord>({
  path: isAbsolute,
  branch: isText,
  base: isText,
  startedFrom: optional(isText),
  madeBranch: isFlag,
  repository: optional(isText),
  discard: optional(isIdentity),
});
