import { type FocusOutcome, focusPane } from "../backend/tmux/focus-pane.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import type { OperationContext } from "../operations/context.ts";
import { isWrittenHidden } from "../operations/hide-pane.ts";
import { livenessOf } from "../os/process/identity.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readTeam } from "../team/config/config.ts";
import { readPlace, readStatus } from "../team/records/read-records.ts";
import { tmuxAround } from "../tmux/current-client.ts";

/**
 * Shows the pane of the first of some members that has one.
 * @returns what came of it; `gone` when nobody has a pane
 */
export async function focusFirstPane(ctx: OperationContext, names: readonly string[]): Promise<FocusOutcome> {
  for (const name of names) {
    const place = readPlace(ctx.ref, name);
    const outcome =
      (await focusByBackend(ctx, place)) ?? (await focusTmuxPane(ctx, placeToFocus(ctx, name, place)));
    if (outcome !== undefined && outcome.kind !== "gone") return outcome;
  }
  return { kind: "gone" };
}

type Place = Partial<Pick<PlaceRecord, "instance" | "paneId" | "panePid" | "server">>;

/** One that lives in the lead's process is shown in the lead's pane. */
function placeToFocus(
  ctx: OperationContext,
  name: string,
  place: PlaceRecord | undefined,
): Place | undefined {
  return place?.within === undefined ? (place ?? leadPlace(ctx, name)) : leadPlace(ctx, LEAD_NAME);
}

/** Nobody put the lead where it is: it says itself, and while it lives its pane is the one that it says. */
function leadPlace(ctx: OperationContext, name: string): Place | undefined {
  const status = name === LEAD_NAME ? readStatus(ctx.ref, name) : undefined;
  if (status === undefined || livenessOf(status.process) !== "alive") return undefined;
  return defined({ paneId: status.paneId, server: status.server });
}

/** Undefined where that kind of place does not do it itself. */
async function focusByBackend(
  ctx: OperationContext,
  place: PlaceRecord | undefined,
): Promise<FocusOutcome | undefined> {
  const backend = place && ctx.backends.of(place.backend);
  if (place === undefined || backend?.focus === undefined) return undefined;
  return { kind: (await backend.focus(place)) ? "switched" : "gone" };
}

async function focusTmuxPane(
  ctx: OperationContext,
  place: Place | undefined,
): Promise<FocusOutcome | undefined> {
  if (place?.paneId === undefined || place.server === undefined) return undefined;
  return focusPane(serverAt(place.server.socket, ctx.env), place, tmuxAround(ctx.env));
}

/** Those whose panes stand for a team: its teammates in order, those that are hidden behind them, else its lead. */
export function focusOrder(ctx: OperationContext): string[] {
  const teammates = readTeam(ctx.ref)
    .members.map(({ name }) => name)
    .filter((name) => name !== LEAD_NAME);
  const hidden = new Set(teammates.filter((name) => isWrittenHidden(ctx, name)));
  return [...teammates.filter((name) => !hidden.has(name)), ...hidden, LEAD_NAME];
}
