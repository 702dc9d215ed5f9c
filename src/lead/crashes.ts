import type { TeamMember } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import { judge } from "../team/liveness.ts";
import { readExit, readPlace, readStatus } from "../team/records.ts";
import type { TeamRef } from "../team/ref.ts";
import { isBeingRestarted } from "../team/restarts.ts";
import { reasonOf } from "./end-news.ts";

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
export function crashesIn(ref: TeamRef): readonly Crash[] {
  return readTeam(ref).members.flatMap((member) => crashOf(ref, member) ?? []);
}

function crashOf(ref: TeamRef, member: TeamMember): Crash | undefined {
  const { name, joinedAt } = member;
  if (name === LEAD_NAME || isBeingRestarted(member)) return undefined;
  const status = readStatus(ref, name);
  const { state, exit } = judge(member, { status, place: readPlace(ref, name), exit: readExit(ref, name) });
  if (state !== "crashed") return undefined;
  const last = exit?.lastLines.findLast((line) => line.trim() !== "")?.trim();
  const how = reasonOf(exit).replace(/^ \((.*)\)$/, "$1");
  return {
    id: `crash-${status?.startedAt ?? joinedAt}@${name}`,
    kind: "crash",
    from: name,
    summary: [how, last].filter(Boolean).join(": ") || "nobody knows why",
    at: exit?.at ?? status?.lastActivityAt ?? joinedAt,
  };
}
