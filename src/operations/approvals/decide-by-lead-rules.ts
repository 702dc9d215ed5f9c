import { isDeepStrictEqual } from "node:util";
import { decidePermission } from "../../agent/permissions/decide.ts";
import { hostIn, plainHost } from "../../agent/permissions/host-rules.ts";
import { protectedDirectories } from "../../agent/permissions/protected-paths.ts";
import type { PermissionDecision } from "../../agent/permissions/question.ts";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import type { ToolAccess } from "../../agent/tool.ts";
import { webFetchTool } from "../../agent/tools/web-fetch.ts";
import { TeamError } from "../../errors.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import type { MessageOf } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { sameName } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { awaitingRequest, type RequestRecord } from "../../team/requests/requests.ts";
import { reservedReason } from "../../team/tasks/reserved-files.ts";
import type { OperationContext } from "../context.ts";
import { answerApproval } from "./approvals.ts";
import { isForeign, openForeignRequest, shallowInput } from "./foreign-requests.ts";
import { accessOf, type CallPlace } from "./foreign-rules.ts";

/** The lead's own rights, which decide a teammate's permission request. */
export interface LeadRights {
  readonly mode: PermissionMode;
  readonly rules: PermissionRules;
  /** Working directories in addition to the teammate's own. */
  readonly directories: readonly string[];
}

/** The tool call of a permission request of either message type. */
interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
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
  // The teammate has left the team and no longer waits for an answer.
  if (member === undefined) return "answered";
  const { cwd } = member;
  const asked = requestedCall(message, { cwd, env: ctx.env });
  // Our own agents open their requests themselves; such a request may already be answered.
  const isForeignCall = isForeign(ctx.ref, member);
  if (isForeignCall)
    await openForeignRequest(ctx.ref, message, { member, env: ctx.env, at: ctx.clock.now() });
  // An open request with this id from another member must not be decided by this message.
  const request = awaitingRequest(ctx.ref, asked.id, from);
  if (request === undefined) return "answered";
  // Another program may repeat an id with a harmless call: the answer would allow the recorded one.
  if (isForeignCall && !isRecordedCall(request, asked)) return "person";
  const { behavior, reason } = await decideAsLead(ctx, member, asked, rights);
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

/** Whether a request asks for this call. */
function isRecordedCall({ kind, payload }: RequestRecord, { tool, input }: RequestedCall): boolean {
  const isSame = isDeepStrictEqual(
    { tool: payload.tool, input: payload.input },
    redactValue({ tool, input }, ownSecrets()),
  );
  return kind === "permission" && isSame;
}

/** Decides the call as if the lead made it in the teammate's directory, but asks for files that another member's task reserves. */
async function decideAsLead(
  ctx: OperationContext,
  { name, cwd }: Pick<TeamMember, "name" | "cwd">,
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
    protectedDirs: protectedDirectories(ctx.home.root),
    reservedBy: (path) => reservedReason(ctx.ref, name, path),
    home: homeDirectory(ctx.env),
  });
}

function requestedCall(message: Parameters<typeof decideByLeadRules>[2], where: CallPlace): RequestedCall {
  if (message.type === "sandbox_permission_request") {
    const input = { host: plainHost(message.host) };
    const host = hostIn(message.host);
    const access: ToolAccess = host === undefined ? { kind: "external" } : { kind: "host", host };
    return { id: message.requestId, tool: webFetchTool.name, input, access };
  }
  const { request_id: id, tool_name: tool } = message;
  // The tool call as the request recorded it.
  const input = shallowInput(message.input);
  return { id, tool, input, access: accessOf(tool, input, where) };
}
