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

/** The modes for carrying out a plan: all in which an agent works itself. */
export const WORKING_MODES = PERMISSION_MODES.filter((mode) => mode !== "plan" && mode !== "delegate");

/** Whether an agent's commands run in the sandbox, from the weakest to the strictest. Plain values without zod, like the permission modes. */
export const SANDBOX_MODES = ["off", "auto", "required"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** Returns the stricter one of two modes. */
export function stricterMode(one: SandboxMode, other: SandboxMode): SandboxMode {
  return SANDBOX_MODES.indexOf(one) < SANDBOX_MODES.indexOf(other) ? other : one;
}

/**
 * Returns the mode of an agent: `required` in the settings always wins, because it is a rule; otherwise the member's own
 * mode, which a person chose at its spawn, wins.
 */
export function modeOfMember(setting: SandboxMode, own: SandboxMode | undefined): SandboxMode {
  return setting === "required" ? setting : (own ?? setting);
}
