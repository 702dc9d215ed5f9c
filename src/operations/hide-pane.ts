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
import { inTurn } from "./layout-windows.ts";
import { resumeHint } from "./resume-hint.ts";

/**
 * Hides a teammate's pane, or shows it again, and writes it down (`hiddenPaneIds`). To do it twice changes nothing, and
 * one that was spawned into a window of its own stays in it, hidden to nobody.
 * @returns what became of it
 * @throws TeamError RECIPIENT_INACTIVE for one without a pane, TMUX_ERROR
 */
export async function setHidden(
  ctx: OperationContext,
  name: string,
  hidden: boolean,
): Promise<Exclude<MoveOutcome, "gone">> {
  const place = readPlace(ctx.ref, name);
  if (place?.server === undefined) throw noPane(ctx, name);
  const server = serverAt(place.server.socket, ctx.env);
  const outcome = await inTurn(ctx, () => move(ctx, server, place, { name, hidden }));
  if (outcome === "gone") throw noPane(ctx, name);
  await writeDown(ctx, place.paneId ?? "", hidden && outcome !== "own-window");
  if (hidden && outcome === "moved") leaveCaller(ctx, name, place);
  return outcome;
}

/** It stands beside its caller no more: at its end there is nothing that it gives back. */
function leaveCaller({ ref }: OperationContext, name: string, { beside, ...place }: PlaceRecord): void {
  if (beside === undefined || readPlace(ref, name)?.instance !== place.instance) return;
  writePlace(ref, name, place);
}

/** What its end leaves behind is looked for in that window. */
function writeWindow({ ref }: OperationContext, name: string, place: PlaceRecord, windowId: string): void {
  if (place.windowId === windowId || readPlace(ref, name)?.instance !== place.instance) return;
  writePlace(ref, name, { ...place, windowId });
}

/** Whether a teammate's pane is written down as hidden. */
export function isWrittenHidden(ctx: OperationContext, name: string): boolean {
  const pane = readPlace(ctx.ref, name)?.paneId;
  return pane !== undefined && (readTeam(ctx.ref).hiddenPaneIds ?? []).includes(pane);
}

function move(
  ctx: OperationContext,
  server: TmuxServer,
  place: PlaceRecord,
  { name, hidden }: { readonly name: string; readonly hidden: boolean },
): Promise<MoveOutcome> {
  if (hidden) return hidePane(server, place, name);
  const { displayName, name: team, members } = readTeam(ctx.ref);
  const owner = { team: ctx.ref.team, rootTag: rootTag(ctx.home.root), teamTitle: displayName ?? team };
  const behind = members.slice(members.findIndex((member) => member.name === name) + 1);
  const later = behind.flatMap((member) => readPlace(ctx.ref, member.name)?.paneId ?? []);
  return showPane(server, place, owner, { later, moved: (window) => writeWindow(ctx, name, place, window) });
}

async function writeDown(ctx: OperationContext, pane: string, hidden: boolean): Promise<void> {
  await updateTeam(ctx.ref, (config) => {
    const before = config.hiddenPaneIds ?? [];
    if (before.includes(pane) === hidden) return undefined;
    return { ...config, hiddenPaneIds: hidden ? [...before, pane] : before.filter((id) => id !== pane) };
  });
}

function noPane(ctx: OperationContext, name: string): TeamError {
  return new TeamError("RECIPIENT_INACTIVE", `${name} has no pane now; nothing was changed.`, {
    hint:
      resumeHint(ctx.ref, [name]) ??
      `What is known of it: teams status ${optionWords("--team", ctx.ref.team)}`,
  });
}
