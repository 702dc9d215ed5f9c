/** In its own file so that a command which only lists the modes need not load zod. */
export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "bypassPermissions",
  "dontAsk",
  "delegate",
] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];
