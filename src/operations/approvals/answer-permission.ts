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

/** What a lead's own side lets a teammate do. */
export interface LeadRights {
  readonly mode: PermissionMode;
  readonly rules: PermissionRules;
  /** Besides the teammate's own. */
  readonly directories: readonly string[];
}

/** What a teammate asks for, of either form of the request. */
interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  readonly access: ToolAccess;
}

/**
 * The lead's side of a teammate's permission request: its own mode and rules decide where they can, else a person does; a
 * lead's model never (protocol.md section 4).
 * @returns `person` when it waits for one
 */
export async function answerPermission(
  ctx: OperationContext,
  from: string,
  message: MessageOf<"permission_request"> | MessageOf<"sandbox_permission_request">,
  rights: LeadRights,
): Promise<"answered" | "person"> {
  const member = readTeam(ctx.ref).members.find(({ name }) => sameName(name, from));
  // It has left meanwhile, and waits for nothing.
  if (member === undefined) return "answered";
  const { cwd } = member;
  const asked = requestedCall(message, { cwd, env: ctx.env });
  // One of ours has opened it itself, and by now may have its answer.
  if (isForeign(ctx.ref, member)) openForeignRequest(ctx.ref, from, message, ctx.clock.now());
  // What somebody else has asked for is not decided by what this one says of it.
  if (!isAwaitingAnswer(ctx.ref, asked.id, from)) return "answered";
  const { behavior, reason } = await decideAsLead(ctx, cwd, asked, rights);
  // Where a rule, a hook or what it would change made it ask, nothing but a person's word lets it run.
  if (behavior === "ask" || (behavior === "allow" && message.guarded === true)) return "person";
  try {
    await answerApproval(ctx, asked.id, {
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
async function decideAsLead(
  ctx: OperationContext,
  cwd: string,
  { tool, access }: RequestedCall,
  { mode, rules, directories }: LeadRights,
): Promise<PermissionDecision> {
  const { readShellLine } = await import("../../agent/permissions/shell-line.ts");
  return decidePermission({
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

function requestedCall(
  message: Parameters<typeof answerPermission>[2],
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

/** What the call would touch. A tool that only the asker has, or an input that is none of it, is whatever it may be. */
function accessOf(name: string, input: unknown, where: Pick<ToolContext, "cwd" | "env">): ToolAccess {
  const tool = builtinTools().find((one) => one.name === name);
  const parsed = tool?.input.safeParse(input);
  return tool !== undefined && parsed?.success ? tool.access(parsed.data, where) : { kind: "external" };
}
