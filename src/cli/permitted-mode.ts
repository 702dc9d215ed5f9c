import { TeamError } from "../errors.ts";
import type { Env } from "../os/env.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { bypassForbidden, type LoadedSettings } from "./settings.ts";

/** The mode of a lead that wants this one, or none of its own. @throws TeamError PERMISSION_DENIED where a setting forbids the mode */
export function permittedMode(
  wanted: PermissionMode | undefined,
  settings: LoadedSettings,
  env: Env,
): PermissionMode {
  const mode = wanted ?? settings.permissions.defaultMode ?? "default";
  const forbidden = bypassForbidden(settings, { ...env, ...settings.env });
  if (mode === "bypassPermissions" && forbidden !== undefined) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `bypassPermissions mode is forbidden by ${forbidden}; nothing was started.`,
      {
        hint: "Name another: --permission-mode acceptEdits",
      },
    );
  }
  return mode;
}
