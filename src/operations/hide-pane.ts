import { hidePane, type MoveOutcome, showPane } from "../backend/tmux/hide-pane.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { rootTag } from "../protocol/paths.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { readTeam, updateTeam } from "../team/config/config.ts";
import { readPlace, writePlace } from "../team/records/read-records.ts";
import { optionWords } from "../text/shell-quote.ts";
import type { TmuxServer } from "../tmux/server.ts";
import type { OperationContext } from "./context.ts";
import { withPaneLock } from "./layout-windows.ts";
import { adoptedBy, lastPaneOf, placeOfMember, unprovenPaneError } from "./processes/place-of-member.ts";
import { resumeHint } from "./resume-hint.ts";

/**
 * Hides a teammate's pane or shows it again, and records that in the team's config (`hiddenPaneIds`). Idempotent. A pane
 * with its own window stays there (`own-window`) and is not recorded as hidden.
 * @throws TeamError RECIPIENT_INACTIVE if the teammate has no pane, PERMISSION_DENIED if its pane is a person's, TMUX_ERROR
 */
export async function setHidden(
  ctx: OperationContext,
  name: string,
  hidden: boolean,
): Promise<Exclude<MoveOutcome, "gone">> {
  if (adoptedBy(ctx, name) !== undefined) throw isPersonsPane(name);
  const place = await placeOfMember(ctx, name);
  if (place?.server === undefined) throw (await unprovenPaneError(ctx, name)) ?? hasNoPaneError(ctx, name);
  const server = serverAt(place.server, ctx.env);
  const outcome = await withPaneLock(ctx, () => movePane(ctx, server, place, { name, hidden }));
  if (outcome === "gone") throw hasNoPaneError(ctx, name);
  await recordHidden(ctx, place.paneId ?? "", hidden && outcome !== "own-window");
  if (hidden && outcome === "moved") forgetCallerWindow(ctx, name, place);
  return outcome;
}

function isPersonsPane(name: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `${name} runs in your own pane, which teams does not move; nothing was changed.`,
    { hint: "Move the pane with tmux: break-pane, join-pane." },
  );
}

/** A hidden pane no longer shares its caller's window, so its end restores no layout there. */
function forgetCallerWindow(
  { ref }: OperationContext,
  name: string,
  { beside, ...place }: PlaceRecord,
): void {
  if (beside === undefined || readPlace(ref, name)?.instance !== place.instance) return;
  writePlace(ref, name, place);
}

/** Records the window of a shown pane: the cleanup after its end looks for remains in that window. */
function recordWindow({ ref }: OperationContext, name: string, place: PlaceRecord, windowId: string): void {
  if (place.windowId === windowId || readPlace(ref, name)?.instance !== place.instance) return;
  writePlace(ref, name, { ...place, windowId });
}

/** Whether the team's config records a teammate's pane as hidden. */
export function isRecordedHidden(ctx: OperationContext, name: string): boolean {
  const pane = lastPaneOf(ctx, name);
  return pane !== undefined && (readTeam(ctx.ref).hiddenPaneIds ?? []).includes(pane);
}

function movePane(
  ctx: OperationContext,
  server: TmuxServer,
  place: PlaceRecord,
  { name, hidden }: { readonly name: string; readonly hidden: boolean },
): Promise<MoveOutcome> {
  if (hidden) return hidePane(server, place, name);
  const { displayName, name: team, members } = readTeam(ctx.ref);
  const owner = { team: ctx.ref.team, rootTag: rootTag(ctx.home.root), teamTitle: displayName ?? team };
  const following = members.slice(members.findIndex((member) => member.name === name) + 1);
  const later = following.flatMap((member) => readPlace(ctx.ref, member.name)?.paneId ?? []);
  return showPane(server, place, owner, { later, moved: (window) => recordWindow(ctx, name, place, window) });
}

async function recordHidden(ctx: OperationContext, pane: string, hidden: boolean): Promise<void> {
  await updateTeam(ctx.ref, (config) => {
    const before = config.hiddenPaneIds ?? [];
    if (before.includes(pane) === hidden) return undefined;
    return { ...config, hiddenPaneIds: hidden ? [...before, pane] : before.filter((id) => id !== pane) };
  });
}

function hasNoPaneError(ctx: OperationContext, name: string): TeamError {
  return new TeamError("RECIPIENT_INACTIVE", `${name} has no pane now; nothing was changed.`, {
    hint: resumeHint(ctx.ref, [name]) ?? `See its state: teams status ${optionWords("--team", ctx.ref.team)}`,
  });
}
