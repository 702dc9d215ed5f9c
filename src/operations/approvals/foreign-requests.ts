import { hostPattern, plainHost } from "../../agent/permissions/host-rules.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { ProtocolMessage } from "../../protocol/messages.ts";
import { rulesAdded } from "../../protocol/permission-messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { planTitle } from "../../team/config/plan-files.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { hasStartClaim } from "../../team/members/start-claims.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { openRequest } from "../../team/requests/requests.ts";

/** How many characters of a call's input the summary shows. */
const MAX_INPUT_CHARS = 200;

type NewRequest = Pick<Parameters<typeof openRequest>[1], "id" | "kind" | "summary" | "payload">;

/**
 * Opens requests for the messages of foreign members, which only send a message to the lead. The requests are then listed and
 * answered like all others; answered ones stay answered. Messages of a former holder of the name are ignored.
 * @throws TeamError TEAM_NOT_FOUND
 */
export function openForeignRequests(ref: TeamRef): void {
  const { members, schemaVersion } = readTeam(ref);
  // In a team of another program, a read-only command writes nothing.
  if (schemaVersion === undefined) return;
  const joined = new Map(
    members
      .filter((member) => member.name !== LEAD_NAME && isForeign(ref, member))
      .map(({ name, joinedAt }) => [name, joinedAt]),
  );
  if (joined.size === 0) return;
  for (const message of peekInbox(ref, LEAD_NAME)) {
    const since = joined.get(message.from);
    const at = Date.parse(message.timestamp);
    const protocol = since === undefined ? undefined : authenticProtocol(message, LEAD_NAME);
    if (protocol !== undefined && at >= (since ?? 0)) openForeignRequest(ref, message.from, protocol, at);
  }
}

/** Whether a member is foreign and opens no requests itself. Our own members lack a status only during a start. */
export function isForeign(ref: TeamRef, member: TeamMember): boolean {
  return readStatus(ref, member.name) === undefined && !hasStartClaim(member);
}

/** Opens a request for this message if it is one. @param at milliseconds since the epoch @throws TeamError TEAM_NOT_FOUND */
export function openForeignRequest(ref: TeamRef, from: string, message: ProtocolMessage, at: number): void {
  const opened = requestOf(message);
  if (opened !== undefined) openRequest(ref, { ...opened, from, at });
}

function requestOf(message: ProtocolMessage): NewRequest | undefined {
  switch (message.type) {
    case "permission_request": {
      const { request_id: id, tool_name: tool, input, permission_suggestions } = message;
      const rules = permission_suggestions.flatMap(rulesAdded);
      const summary = `${tool}(${JSON.stringify(input).slice(0, MAX_INPUT_CHARS)})`;
      return { id, kind: "permission", summary, payload: { input, tool, rules } };
    }
    case "sandbox_permission_request": {
      const host = plainHost(message.host);
      const [tool, access] = ["WebFetch", { kind: "host", host }];
      const payload = { input: { host }, tool, rules: [`${tool}(${hostPattern(host)})`], access };
      return { id: message.requestId, kind: "permission", summary: `${tool}(${host})`, payload };
    }
    case "plan_approval_request": {
      const { requestId: id, planFilePath, planContent } = message;
      return { id, kind: "plan", summary: planTitle(planContent), payload: { planFilePath, planContent } };
    }
    default:
      return undefined;
  }
}
