import type { PermissionRules } from "../agent/permission-rules.ts";
import { decide, type PermissionDecision } from "../agent/permissions.ts";
import { builtinTools } from "../agent/tools/registry.ts";
import type { ToolAccess } from "../agent/tools/tool.ts";
import { TeamError } from "../errors.ts";
import type { MessageOf } from "../protocol/messages.ts";
import { rulesAdded } from "../protocol/permission-updates.ts";
import { sameName } from "../schema/names.ts";
import type { PermissionMode } from "../schema/permission-modes.ts";
import { readTeam } from "../team/config.ts";
import { openRequest } from "../team/requests.ts";
import { answerApproval } from "./approvals.ts";
import type { LeadContext } from "./context.ts";

/** What a lead's own side lets a teammate do. */
export interface LeadRights {
  readonly mode: PermissionMode;
  readonly rules: PermissionRules;
  /** Besides the teammate's own. */
  readonly directories: readonly string[];
}

type Request = MessageOf<"permission_request">;

/**
 * The lead's side of a teammate's permission request: its own mode and rules decide where they can, else a person does; a
 * lead's model never (protocol.md section 4).
 * @returns `person` when it waits for one
 */
export async function answerPermission(
  ctx: LeadContext,
  from: string,
  message: Request,
  rights: LeadRights,
): Promise<"answered" | "person"> {
  recordForeign(ctx, from, message);
  const { behavior, reason } = await decideFor(ctx, from, message, rights);
  if (behavior === "ask") return "person";
  try {
    await answerApproval(ctx, message.request_id, {
      approve: behavior === "allow",
      note: `Decided by the lead's own rights: ${reason}`,
    });
  } catch (error) {
    // The person at the agent's own pane may have been first: that answer stands.
    const late =
      error instanceof TeamError && (error.code === "ALREADY_ANSWERED" || error.code === "REQUEST_NOT_FOUND");
    if (!late) throw error;
  }
  return "answered";
}

/** As if the lead made the call itself, where the teammate is. */
async function decideFor(
  ctx: LeadContext,
  from: string,
  { tool_name: tool, input }: Request,
  { mode, rules, directories }: LeadRights,
): Promise<PermissionDecision> {
  const { cwd = ctx.cwd } = readTeam(ctx.ref).members.find(({ name }) => sameName(name, from)) ?? {};
  const access = accessOf(tool, input, { cwd, env: ctx.env });
  const { readShellLine } = await import("../agent/shell-line.ts");
  return decide({
    // A lead that plans has nothing against the work of others.
    mode: mode === "plan" ? "default" : mode,
    tool,
    access,
    line: access.kind === "command" ? readShellLine(access.command) : undefined,
    rules,
    workingDirs: [cwd, ...directories],
    protectedDirs: [ctx.home.root],
    home: ctx.env.HOME,
  });
}

/** What the call would touch. A tool that only the asker has, or an input that is none of it, is whatever it may be. */
function accessOf(
  name: string,
  input: Request["input"],
  where: { readonly cwd: string; readonly env: LeadContext["env"] },
): ToolAccess {
  const tool = builtinTools().find((one) => one.name === name);
  const parsed = tool?.input.safeParse(input);
  return tool !== undefined && parsed?.success ? tool.access(parsed.data, where) : { kind: "external" };
}

/** A peer of ours has opened the request itself; for a foreign one we do, so that `approvals` shows it. */
function recordForeign(ctx: LeadContext, from: string, message: Request): void {
  openRequest(ctx.ref, {
    id: message.request_id,
    kind: "permission",
    from,
    summary: `${message.tool_name}(${JSON.stringify(message.input).slice(0, 200)})`,
    payload: {
      input: message.input,
      tool: message.tool_name,
      rules: message.permission_suggestions.flatMap(rulesAdded),
    },
    at: ctx.clock.now(),
  });
}
