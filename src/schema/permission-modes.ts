export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "bypassPermissions",
  "dontAsk",
  "delegate",
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];
