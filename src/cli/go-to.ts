import { type FocusOutcome, focusPane } from "../backend/focus.ts";
import type { LeadContext } from "../lead/context.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readTeam } from "../team/config.ts";
import { readPlace } from "../team/records.ts";
import { tmuxServer } from "../tmux/server.ts";

/**
 * Shows the pane of the first of some members that has one.
 * @returns what came of it; `gone` when nobody has a pane
 */
export async function goToFirst(ctx: LeadContext, names: readonly string[]): Promise<FocusOutcome> {
  for (const name of names) {
    const place = readPlace(ctx.ref, name);
    const outcome = place === undefined ? undefined : await goTo(ctx, place);
    if (outcome !== undefined && outcome.kind !== "gone") return outcome;
  }
  return { kind: "gone" };
}

async function goTo(ctx: LeadContext, place: PlaceRecord): Promise<FocusOutcome | undefined> {
  if (place.paneId === undefined || place.server === undefined) return undefined;
  const server = tmuxServer({ socket: { path: place.server.socket }, env: ctx.env });
  return focusPane(server, place, ctx.callerPane);
}

/** Those whose panes stand for a team: its teammates in order. */
export function panesOfTeam(ctx: LeadContext): string[] {
  return readTeam(ctx.ref).members.map(({ name }) => name);
}
