import { type FocusOptions, type FocusOutcome, focusPane } from "../backend/tmux/focus-pane.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import type { OperationContext } from "../operations/context.ts";
import { isRecordedHidden } from "../operations/hide-pane.ts";
import { placeOfMember } from "../operations/processes/place-of-member.ts";
import { livenessOf } from "../os/process/identity.ts";
import { defined } from "../schema/defined.ts";
import { LEAD_NAME } from "../schema/names.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readTeam } from "../team/config/config.ts";
import { readStatus } from "../team/records/read-records.ts";
import { tmuxCaller } from "../tmux/caller.ts";

/**
 * Shows the pane of the first member that has one.
 * @returns the outcome; `gone` if no member has a pane
 */
export async function focusFirstPane(
  ctx: OperationContext,
  names: readonly string[],
  options: FocusOptions = {},
): Promise<FocusOutcome> {
  for (const name of names) {
    const place = await placeOfMember(ctx, name);
    const outcome =
      (await focusByBackend(ctx, place)) ??
      (await focusTmuxPane(ctx, placeToFocus(ctx, name, place), options));
    if (outcome !== undefined && outcome.kind !== "gone") return outcome;
  }
  return { kind: "gone" };
}

type Place = Partial<Pick<PlaceRecord, "instance" | "paneId" | "panePid" | "server">>;

/** Returns the place to show for a member: the lead's pane for a member that lives in the lead's process. */
function placeToFocus(
  ctx: OperationContext,
  name: string,
  place: PlaceRecord | undefined,
): Place | undefined {
  return place?.within === undefined ? (place ?? leadPlace(ctx, name)) : leadPlace(ctx, LEAD_NAME);
}

/** Returns the lead's pane from its status record (a lead has no place record); undefined if its process is not alive. */
function leadPlace(ctx: OperationContext, name: string): Place | undefined {
  const status = name === LEAD_NAME ? readStatus(ctx.ref, name) : undefined;
  if (status === undefined || livenessOf(status.process) !== "alive") return undefined;
  return defined({ paneId: status.paneId, server: status.server });
}

/** Lets the backend show the place; undefined if the backend cannot. */
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
  options: FocusOptions,
): Promise<FocusOutcome | undefined> {
  if (place?.paneId === undefined || place.server === undefined) return undefined;
  return focusPane(serverAt(place.server, ctx.env), place, tmuxCaller(ctx.env), options);
}

/** Returns the members whose pane may be shown for a team, in order of preference: visible teammates, hidden ones, the lead. */
export function focusOrder(ctx: OperationContext): string[] {
  const teammates = readTeam(ctx.ref)
    .members.map(({ name }) => name)
    .filter((name) => name !== LEAD_NAME);
  const hidden = new Set(teammates.filter((name) => isRecordedHidden(ctx, name)));
  return [...teammates.filter((name) => !hidden.has(name)), ...hidden, LEAD_NAME];
}
