import { decidePermission } from "../../agent/permissions/decide.ts";
import { plainHost } from "../../agent/permissions/host-rules.ts";
import type { PermissionDecision } from "../../agent/permissions/question.ts";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import type { ToolAccess, ToolContext } from "../../agent/tool.ts";
import { builtinTools } from "../../agent/tools/builtin-tools.ts";
import { webFetchTool } from "../../agent/tools/web-fetch.ts";
import { TeamError } from "../../errors.ts";
import type { MessageOf } from "../../protocol/messages.ts";
import { sameName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { isAwaitingAnswer } from "../../team/requests/requests.ts";
import type { OperationContext } from "../context.ts";
import { answerApproval } from "./approvals.ts";
import { isForeign, openForeignRequest } from "./foreign-requests.ts";

/** The lead's own rights, which decide a teammate's permission request. */
export interface LeadRights {
  readonly mode: PermissionMode;
  readonly rules: PermissionRules;
  /** Working directories in addition to the teammate's own. */
  readonly directories: readonly string[];
}

/** The tool call of a permission request, whichever of the two message types it came in. */
interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  readonly access: ToolAccess;
}

/**
 * Answers a teammate's permission request by the lead's own mode and rules. If they do not decide it, a person does; a lead's
 * model never decides it (protocol.md section 4).
 * @returns `person` if the request still waits for a person
 */
export async function decideByLeadRules(
  ctx: OperationContext,
  from: string,
  message: MessageOf<"permission_request"> | MessageOf<"sandbox_permission_request">,
  rights: LeadRights,
): Promise<"answered" | "person"> {
  const member = readTeam(ctx.ref).members.find(({ name }) => sameName(name, from));
  // The teammate has left the team and waits for no answer.
  if (member === undefined) return "answered";
  const { cwd } = member;
  const asked = requestedCall(message, { cwd, env: ctx.env });
  // Our own agents open their requests themselves; such a request may already be answered.
  if (isForeign(ctx.ref, member)) openForeignRequest(ctx.ref, from, message, ctx.clock.now());
  // An open request with this id from another member must not be decided by this message.
  if (!isAwaitingAnswer(ctx.ref, asked.id, from)) return "answered";
  const { behavior, reason } = await decideAsLead(ctx, cwd, asked, rights);
  // If an ask rule, a hook or the changed file caused the request (`guarded`), only a person may allow it.
  if (behavior === "ask" || (behavior === "allow" && message.guarded === true)) return "person";
  try {
    await answerApproval(ctx, asked.id, {
      approve: behavior === "allow",
      note: `Decided by the lead's own rights: ${reason}`,
    });
  } catch (error) {
    // A person at the agent's own pane may have answered first; that answer counts.
    const late =
      error instanceof TeamError && (error.code === "ALREADY_ANSWERED" || error.code === "REQUEST_NOT_FOUND");
    if (!late) throw error;
  }
  return "answered";
}

/** Decides the call as if the lead made it itself in the teammate's directory. */
async function decideAsLead(
  ctx: OperationContext,
  cwd: string,
  { tool, access }: RequestedCall,
  { mode, rules, directories }: LeadRights,
): Promise<PermissionDecision> {
  const { readShellLine } = await import("../../agent/permissions/shell-line.ts");
  return decidePermission({
    // Plan mode restricts the lead's own work, not its teammates'.
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

function requestedCall(
  message: Parameters<typeof decideByLeadRules>[2],
  where: Pick<ToolContext, "cwd" | "env">,
): RequestedCall {
  if (message.type === "sandbox_permission_request") {
    const host = plainHost(message.host);
    const tool = webFetchTool.name;
    return { id: message.requestId, tool, access: { kind: "host", host } };
  }
  const { request_id: id, tool_name: tool, input } = message;
  return { id, tool, access: accessOf(tool, input, where) };
}

/** Returns what the call would access: `external` for a tool that the lead does not have, or for an invalid input. */
function accessOf(name: string, input: unknown, where: Pick<ToolContext, "cwd" | "env">): ToolAccess {
  const tool = builtinTools().find((one) => one.name === name);
  const parsed = tool?.input.safeParse(input);
  return tool !== undefined && parsed?.success ? tool.access(parsed.data, where) : { kind: "external" };
}
