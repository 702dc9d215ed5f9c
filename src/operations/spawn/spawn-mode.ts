import type { AgentType } from "../../agent/prompts/agent-types.ts";
import { requestRefusal, TeamError } from "../../errors.ts";
import { PLAN_MODE_REQUIRED } from "../../launch/agent-environment.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { OperationContext } from "../context.ts";
import { exceedsMode } from "../permission-mode.ts";

/** The rights that a spawn requests, and their limits. */
interface RequestedRights {
  readonly name: string;
  readonly permissionMode?: PermissionMode | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** The limit for a lead's model: its own mode. A person has no limit (protocol.md section 6). */
  readonly maxMode?: PermissionMode | undefined;
  /** Why bypassPermissions is unavailable. */
  readonly bypassForbidden?: string | undefined;
}

/**
 * Splits plan mode from the other modes: a teammate that plans first has another mode once its plan is approved. The variable is
 * resolved here, so that config, arguments and status show it.
 */
export function startRights(
  { env }: OperationContext,
  { permissionMode, ...input }: RequestedRights & { readonly plan?: boolean },
  { permissionMode: typeMode }: AgentType,
): RequestedRights & { readonly plansFirst: boolean; readonly typeMode: PermissionMode | undefined } {
  const isGivenPlan = permissionMode === "plan";
  const isTypesPlan = permissionMode === undefined && typeMode === "plan";
  return {
    ...input,
    permissionMode: isGivenPlan ? undefined : permissionMode,
    typeMode: typeMode === "plan" ? undefined : typeMode,
    plansFirst: input.plan === true || isGivenPlan || isTypesPlan || env[PLAN_MODE_REQUIRED] === "true",
  };
}

/**
 * Selects the mode of a spawn: the requested one, else the type's, else the lead's. A type cannot exceed the spawner's limit.
 * @throws TeamError PERMISSION_DENIED if a lead's model requests more than its own rights, or if the mode is forbidden
 */
export function spawnMode(
  { name, permissionMode, allowedTools, maxMode, bypassForbidden }: RequestedRights,
  leadMode: PermissionMode,
  typeMode?: PermissionMode | undefined,
): PermissionMode {
  const isUnavailable = (mode: PermissionMode): boolean =>
    mode === "bypassPermissions" && bypassForbidden !== undefined;
  if (permissionMode !== undefined && isUnavailable(permissionMode)) {
    throw requestRefusal(
      "PERMISSION_DENIED",
      `bypassPermissions is forbidden by ${bypassForbidden}`,
      `${name} was not started`,
      { hint: "Choose another mode: --permission-mode acceptEdits" },
    );
  }
  const exceedsLimit = (mode: PermissionMode): boolean => maxMode !== undefined && exceedsMode(mode, maxMode);
  if (permissionMode !== undefined && exceedsLimit(permissionMode)) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${maxMode}, so you cannot start ${name} in mode ${permissionMode}; it was not started.`,
      { hint: "Leave out the mode; the teammate then gets yours." },
    );
  }
  if (allowedTools?.length && exceedsLimit("bypassPermissions")) {
    throw new TeamError(
      "PERMISSION_DENIED",
      `You work in mode ${maxMode}, so you cannot let ${name} use ${allowedTools.join(", ")} without asking; it was not started.`,
      { hint: "Leave out the allowed tools; the teammate then asks when you would be asked." },
    );
  }
  const mode =
    permissionMode ??
    (typeMode === undefined || exceedsLimit(typeMode) || isUnavailable(typeMode) ? leadMode : typeMode);
  return isUnavailable(mode) ? "default" : mode;
}
