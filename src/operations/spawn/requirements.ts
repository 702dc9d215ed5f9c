import { withoutScreen } from "../../adapter/adapters.ts";
import type { AgentType } from "../../agent/prompts/agent-types.ts";
import { requestRefusal, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import {
  modeOfMember,
  type PermissionMode,
  type SandboxMode,
  stricterMode,
} from "../../schema/permission-modes.ts";
import { limitsOf } from "../../team/members/budget.ts";
import type { NewMember } from "../../team/members/members.ts";
import { type IsPriced, requirePrice } from "../budget.ts";
import type { OperationContext } from "../context.ts";
import { requireSocket } from "../processes/require-socket.ts";

/** @throws TeamError INVALID_MODEL if a cost limit applies to a model without a known price */
export function requirePrices(
  config: TeamConfig,
  drafts: readonly NewMember[],
  isPriced: IsPriced | undefined,
): void {
  if (isPriced === undefined) return;
  for (const draft of drafts) {
    const isLimited = [config, draft].some((one) => limitsOf(one)?.maxCostUsd !== undefined);
    // A third-party CLI reports its cost itself, if it can.
    const isOwn = readMetadata(draft, "cli") === undefined;
    if (isLimited && isOwn && draft.model !== undefined) requirePrice(draft.model, isPriced);
  }
}

/**
 * @param setting the sandbox mode of the settings
 * @throws TeamError SPAWN_FAILED if a member requires a sandbox that this machine lacks
 */
export async function requireSandboxes(
  drafts: readonly NewMember[],
  setting: SandboxMode = "off",
  env: Env,
): Promise<void> {
  const first = drafts.find((draft) => modeOfMember(setting, readMetadata(draft, "sandbox")) === "required");
  if (first === undefined) return;
  const { requireSandbox } = await import("../../agent/sandbox/require-sandbox.ts");
  await requireSandbox(first.name, env);
}

/**
 * Selects the sandbox mode of a spawn: the requested one, else the type's, if that is stricter than the settings' mode.
 * @returns undefined for the mode of the settings
 * @throws TeamError PERMISSION_DENIED for a weaker mode than `required` in the settings, or than a lead's model may choose
 */
export function spawnSandbox(
  {
    name,
    sandbox,
    maxMode,
  }: {
    readonly name: string;
    readonly sandbox?: SandboxMode;
    readonly maxMode?: PermissionMode;
  },
  setting: SandboxMode,
  typeMode: SandboxMode = "off",
): SandboxMode | undefined {
  const isWeaker = sandbox !== undefined && stricterMode(sandbox, setting) !== sandbox;
  if (isWeaker && (setting === "required" || maxMode !== undefined)) {
    throw requestRefusal(
      "PERMISSION_DENIED",
      `teams.sandbox.mode is ${setting}, so ${name} cannot use sandbox mode ${sandbox}`,
      "it was not started",
      { hint: "Leave out --sandbox, or change the setting." },
    );
  }
  const mode = sandbox ?? stricterMode(setting, typeMode);
  return mode === setting ? undefined : mode;
}

/**
 * Checks that members can start in a place.
 * @throws TeamError as {@link requireScreens} and {@link requireSocket}
 */
export async function requirePlace(
  ctx: OperationContext,
  drafts: readonly NewMember[],
  backend: string,
): Promise<void> {
  requireScreens(drafts, backend);
  if (backend === "tmux") await requireSocket(ctx);
}

/** @throws TeamError INVALID_INPUT if the screen of a CLI needs a terminal, or its keyboard needs tmux, and its place has none */
export function requireScreens(drafts: readonly NewMember[], backend: string): void {
  const hasTerminal = backend !== "process" && backend !== "in-process";
  const misplaced = drafts.find(
    (draft) =>
      (!hasTerminal && readMetadata(draft, "ownScreen") === true) ||
      (backend !== "tmux" &&
        readMetadata(draft, "typed") === true &&
        readMetadata(draft, "adopted") === undefined),
  );
  if (misplaced === undefined) return;
  const cli = readMetadata(misplaced, "cli") ?? "";
  const isTyped = readMetadata(misplaced, "typed") === true;
  throw new TeamError(
    "INVALID_INPUT",
    `${cli} shows its own screen, which needs a ${isTyped ? "tmux " : ""}pane; ${misplaced.name} was not started.`,
    { hint: isTyped ? "Run it in tmux." : `Run it in tmux, or without a screen: ${withoutScreen(cli)}` },
  );
}

/** @throws TeamError INVALID_INPUT for a type with rules or tools, if the program is reached only by typing: its requests are not seen */
export function requireOpenType(
  member: string,
  { name, tools, disallowedTools, permissionMode }: AgentType,
): void {
  const own = { tools, disallowedTools, permissionMode };
  const [field] = Object.entries(own).find(([, value]) => value !== undefined) ?? [];
  if (field === undefined) return;
  throw requestRefusal(
    "INVALID_INPUT",
    `The agent type ${name} restricts its members (${field}), and teams cannot restrict a program that it only types to`,
    `${member} was not started`,
    { hint: "Choose another type, or leave the type out." },
  );
}
