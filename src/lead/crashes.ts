import { crashId } from "../protocol/request-ids.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { withoutMessages } from "../team/last-lines.ts";
import { judge } from "../team/liveness.ts";
import { isBeingRestarted } from "../team/restarts.ts";
import { reasonOf } from "./end-news.ts";
import type { MemberRecords } from "./member-records.ts";

/** A teammate that crashed: it waits for a person, who has it started again or lets it go. */
export interface Crash {
  /** Of this very crash: one that was started again, in its pane or by a command, has another the next time. */
  readonly id: string;
  readonly kind: "crash";
  readonly from: string;
  readonly summary: string;
  readonly at: number;
}

/** Whoever has crashed, and was neither started again nor dismissed. No file says so: what is known of its end does. */
export function crashesAmong(members: readonly MemberRecords[]): readonly Crash[] {
  return members.flatMap((known) => crashOf(known) ?? []);
}

function crashOf({ member, ...records }: MemberRecords): Crash | undefined {
  const { name, joinedAt } = member;
  const { status } = records;
  if (name === LEAD_NAME || isBeingRestarted(member)) return undefined;
  const { state, exit } = judge(member, records);
  if (state !== "crashed") return undefined;
  const last = withoutMessages(exit?.lastLines ?? [])
    .at(-1)
    ?.trim();
  const how = reasonOf(exit).replace(/^ \((.*)\)$/, "$1");
  return {
    id: crashId(name, status?.startedAt ?? joinedAt),
    kind: "crash",
    from: name,
    summary: [how, last].filter(Boolean).join(": ") || "nobody knows why",
    at: exit?.at ?? status?.lastActivityAt ?? joinedAt,
  };
}
