import { crashId } from "../../protocol/request-ids.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { judgeShown } from "../../team/members/judge-shown.ts";
import type { MemberRecords } from "../../team/members/member-records.ts";
import { hasStartClaim } from "../../team/members/start-claims.ts";
import type { TeamRef } from "../../team/ref.ts";
import { exitReason, withoutMessages } from "../ending/last-lines.ts";

/** A crashed teammate as an open request: a person restarts or dismisses it. */
export interface Crash {
  /** The id of this crash; the next crash of a restarted teammate gets another id. */
  readonly id: string;
  readonly kind: "crash";
  readonly from: string;
  readonly summary: string;
  readonly at: number;
}

/** Lists the teammates that crashed and were neither restarted nor dismissed. Derived from their records, not stored. */
export function listCrashes(ref: TeamRef, members: readonly MemberRecords[]): readonly Crash[] {
  return members.flatMap((known) => crashOf(ref, known) ?? []);
}

function crashOf(ref: TeamRef, { member, ...records }: MemberRecords): Crash | undefined {
  const { name, joinedAt } = member;
  const { status } = records;
  if (name === LEAD_NAME || hasStartClaim(member)) return undefined;
  // A foreign member cannot be restarted from here.
  if (status === undefined && records.place === undefined) return undefined;
  const { state, exit } = judgeShown(ref, member, records);
  if (state !== "crashed") return undefined;
  // An error's hint comes after its reason.
  const last = withoutMessages(exit?.lastLines ?? [])
    .findLast((text) => !/^\s*hint:/.test(text))
    ?.trim();
  const how = exitReason(exit).replace(/^ \((.*)\)$/, "$1");
  return {
    id: crashId(name, status?.startedAt ?? joinedAt),
    kind: "crash",
    from: name,
    summary: [how, last].filter(Boolean).join(": ") || "cause unknown",
    at: exit?.at ?? status?.lastActivityAt ?? joinedAt,
  };
}
