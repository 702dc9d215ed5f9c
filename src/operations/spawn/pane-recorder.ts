import type { TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { type NewPlace, releaseStartClaims } from "../../team/members/start-claims.ts";
import type { OperationContext } from "../context.ts";

export interface PaneRecorder {
  placed(name: string, place: PlaceRecord): void;
  /** When all that was placed is written down. */
  done(): Promise<void>;
}

/**
 * Writes into the team's file which pane each has, while their agents start: those placed together in one change. Who is
 * placed can be found and judged by that, and needs the claim on its start no more.
 */
export function paneRecorder({ ref }: OperationContext, members: readonly TeamMember[]): PaneRecorder {
  const waiting = new Map<string, NewPlace>();
  let last: Promise<void> = Promise.resolve();
  const record = async (): Promise<void> => {
    const places = new Map(waiting);
    waiting.clear();
    if (places.size === 0) return;
    const claims = members.flatMap((member) => {
      const claim = places.has(member.name) ? readMetadata(member, "startClaim") : undefined;
      return claim === undefined ? [] : [[member.name, claim] as const];
    });
    await releaseStartClaims(ref, new Map(claims), places);
  };
  return {
    placed(name, { paneId = "" }) {
      waiting.set(name, { tmuxPaneId: paneId });
      last = last.then(record);
      // Thrown where it is waited for.
      last.catch(() => undefined);
    },
    done: () => last,
  };
}
