import { TeamError } from "../errors.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { memberWord } from "../team/address-words.ts";
import type { OperationContext } from "./context.ts";
import type { MemberStatus, TeamStatus } from "./status.ts";

/** The context that a check of a condition needs. */
export type WaitContext = Pick<OperationContext, "actor" | "ref" | "env">;

/** Conditions of a wait: all must be true. */
export interface WaitCondition {
  readonly idle: boolean;
  readonly tasks: boolean;
  readonly message: boolean;
  /** The members that must be idle; empty: all teammates. */
  readonly names: readonly string[];
}

/**
 * Describes the first part of the condition that is not met yet, as the rest of a sentence; undefined if all parts are met.
 * @throws TeamError RECIPIENT_INACTIVE if a member of the condition crashed, MODEL_ERROR if its turn failed: it will not become idle
 */
export function unmetCondition(
  status: TeamStatus,
  condition: WaitCondition,
  ctx: WaitContext,
): string | undefined {
  const busy = condition.idle
    ? awaitedMembers(status, condition.names).filter((member) => !isIdle(member, ctx))
    : [];
  if (busy.length > 0) return busy.map(busyWords).join(", ");
  const open = status.tasks.list.length - status.tasks.completed;
  if (condition.tasks && open > 0) return `${open} of ${status.tasks.list.length} tasks are not completed`;
  const unread = status.members.find((member) => member.name === ctx.actor)?.unread ?? 0;
  return condition.message && unread === 0 ? `there is no message for ${ctx.actor}` : undefined;
}

/** Describes a member that is not at rest; if it is idle, it has unread messages. */
function busyWords({ name, state, unread }: MemberStatus): string {
  if (state !== "idle") return `${name} is ${state}`;
  return `${name} has ${unread === 1 ? "an unread message" : `${unread} unread messages`}`;
}

/** Returns the members of a condition; without names all teammates. */
export function awaitedMembers({ members }: TeamStatus, names: readonly string[]): MemberStatus[] {
  const all = members.filter(({ name }) => name !== LEAD_NAME);
  return names.length === 0 ? all : members.filter(({ name }) => names.includes(name));
}

/** Whether a member is idle or has ended. A member with an unread message is not idle: its turn is about to begin. */
export function isAtRest({ state, unread }: Pick<MemberStatus, "state" | "unread">): boolean {
  return (state === "idle" && unread === 0) || state === "exited";
}

/**
 * Checks {@link isAtRest}.
 * @throws TeamError RECIPIENT_INACTIVE if it crashed, MODEL_ERROR if its last turn failed
 */
function isIdle(member: MemberStatus, { ref, env }: WaitContext): boolean {
  const { name, state, stateFrom, exit, activity } = member;
  if (state === "failed") {
    throw new TeamError("MODEL_ERROR", `The last turn of ${name} failed: ${activity.replace(/\.$/, "")}.`, {
      hint: `See its screen: teams peek ${memberWord(ref, name, env)}. The next message to it starts a new turn.`,
    });
  }
  if (state === "crashed") {
    const how = exit?.signal ?? (exit?.code == null ? "" : `exit code ${exit.code}`);
    throw new TeamError(
      "RECIPIENT_INACTIVE",
      `${name} crashed${how === "" ? "" : ` (${how})`}, so it will not become idle.`,
      {
        // Of a foreign member, only the end of its process is known.
        hint:
          stateFrom === undefined
            ? `See its last lines with teams status --json, or remove it: teams kill ${memberWord(ref, name, env)}`
            : `Start it again in its pane, or remove it: teams kill ${memberWord(ref, name, env)}`,
      },
    );
  }
  return isAtRest(member);
}
