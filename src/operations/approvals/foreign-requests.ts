import { hostIn, plainHost } from "../../agent/permissions/host-rules.ts";
import type { Env } from "../../os/env.ts";
import { authenticProtocol } from "../../protocol/authenticate.ts";
import type { ProtocolMessage } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { isNestedTooDeeply, MAX_NESTING } from "../../schema/guards/nesting.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { planTitle } from "../../team/config/plan-files.ts";
import { peekInbox } from "../../team/inbox/inbox-file.ts";
import { hasStartClaim } from "../../team/members/start-claims.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { isRequested, openRequest } from "../../team/requests/requests.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { joinedLines } from "../../text/line-ends.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { CallPlace } from "./foreign-rules.ts";

/** Characters of a call's tool and of its input that the summary shows. */
const MAX_TOOL_CHARS = 100;
const MAX_INPUT_CHARS = 200;

type NewRequest = Pick<Parameters<typeof openRequest>[1], "kind" | "summary" | "payload">;

/** The sender of a foreign message, and its time in milliseconds since the epoch. */
interface Origin {
  readonly member: TeamMember;
  readonly env: Env;
  readonly at: number;
}

/**
 * Opens requests for the messages of foreign members, which only ask the lead by message. The requests are then listed and
 * answered like all others; answered ones stay answered. Messages of a former holder of the name are ignored.
 * @throws TeamError TEAM_NOT_FOUND
 */
export async function openForeignRequests(ref: TeamRef, env: Env): Promise<void> {
  const { members, schemaVersion } = readTeam(ref);
  // In a team of another program, a read-only command writes nothing.
  if (schemaVersion === undefined) return;
  const foreign = new Map(
    members
      .filter((member) => member.name !== LEAD_NAME && isForeign(ref, member))
      .map((member) => [member.name, member]),
  );
  if (foreign.size === 0) return;
  for (const message of peekInbox(ref, LEAD_NAME)) {
    const member = foreign.get(message.from);
    const at = Date.parse(message.timestamp);
    const protocol = member && authenticProtocol(message, LEAD_NAME);
    if (member !== undefined && protocol !== undefined && at >= member.joinedAt)
      await openForeignRequest(ref, protocol, { member, env, at });
  }
}

/**
 * Whether a member is foreign, or a CLI that writes its messages itself: neither opens requests. Our own members lack a status only
 * during a start.
 */
export function isForeign(ref: TeamRef, member: TeamMember): boolean {
  const status = readStatus(ref, member.name);
  return status === undefined ? !hasStartClaim(member) : status.ownInbox === true;
}

/** Opens a request for this message if the message asks for an answer. @throws TeamError TEAM_NOT_FOUND */
export async function openForeignRequest(
  ref: TeamRef,
  message: ProtocolMessage,
  from: Origin,
): Promise<void> {
  const id = requestIdOf(message);
  // Rules are computed only for a new request: that loads the tools and the grammar of command lines.
  if (id === undefined || isRequested(ref, id)) return;
  const opened = await requestOf(message, { cwd: from.member.cwd, env: from.env });
  if (opened !== undefined) openRequest(ref, { id, ...opened, from: from.member.name, at: from.at });
}

function requestIdOf(message: ProtocolMessage): string | undefined {
  switch (message.type) {
    case "permission_request":
      return message.request_id;
    case "sandbox_permission_request":
    case "plan_approval_request":
      return message.requestId;
    default:
      return undefined;
  }
}

async function requestOf(message: ProtocolMessage, where: CallPlace): Promise<NewRequest | undefined> {
  switch (message.type) {
    case "permission_request": {
      const { tool_name: tool, guarded } = message;
      const input = shallowInput(message.input);
      const { rulesForCall } = await import("./foreign-rules.ts");
      const rules = guarded === true ? [] : rulesForCall(tool, input, where);
      const summary = callText(tool, input);
      const { changePreview } = await import("../../team/requests/change-preview.ts");
      const change = changePreview(tool, input);
      return { kind: "permission", summary, payload: { input, tool, rules, change, ...cutMark(summary) } };
    }
    case "sandbox_permission_request": {
      const host = plainHost(message.host);
      const [tool, access] = ["WebFetch", { kind: "host", host }];
      const { rulesForHost } = await import("./foreign-rules.ts");
      // A rule names a host as decisions do: without a port.
      const named = hostIn(message.host);
      const rules = message.guarded === true || named === undefined ? [] : rulesForHost(named);
      const summary = shortened(revealHidden(`${tool}(${host})`), MAX_INPUT_CHARS);
      return {
        kind: "permission",
        summary,
        payload: { input: { host }, tool, rules, access, ...cutMark(summary) },
      };
    }
    case "plan_approval_request": {
      const { planFilePath, planContent } = message;
      return { kind: "plan", summary: planTitle(planContent), payload: { planFilePath, planContent } };
    }
    default:
      return undefined;
  }
}

/** Marks a request whose summary may be cut. A call that contains `…` itself is marked, too. */
function cutMark(summary: string): { readonly isCut?: true } {
  return summary.includes("…") ? { isCut: true } : {};
}

/** The usual form of a tool's name. Other names are quoted, so that none looks like a call. */
const TOOL_NAME = /^[\w.:-]+$/;

/** Describes a call in one line. Its tool and its input are foreign text. */
function callText(tool: string, input: unknown): string {
  const name = TOOL_NAME.test(tool) ? tool : JSON.stringify(tool);
  const shown = shortened(revealHidden(plainCommand(tool, input) ?? JSON.stringify(input)), MAX_INPUT_CHARS);
  return `${shortened(revealHidden(name), MAX_TOOL_CHARS)}(${shown})`;
}

/** Returns the command of a Bash call that has no other input than a description; undefined for any other call. */
function plainCommand(tool: string, input: unknown): string | undefined {
  if (tool !== "Bash" || typeof input !== "object" || input === null || !("command" in input))
    return undefined;
  const { command, description: _, ...others } = input as Readonly<Record<string, unknown>>;
  if (typeof command !== "string" || Object.keys(others).length > 0) return undefined;
  return joinedLines(command, " ⏎ ");
}

/** Replaces an input that is nested too deeply. An approval repeats the input, and no tool accepts the replacement. */
export function shallowInput(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isNestedTooDeeply(input)
    ? { invalid: `more than ${MAX_NESTING} levels of objects and lists` }
    : input;
}
