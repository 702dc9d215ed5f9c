import { dirname, join } from "node:path";
import { layOutTeam } from "../backend/tmux/apply-layout.ts";
import type { LayoutName } from "../backend/tmux/layout-commands.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { rootTag } from "../protocol/paths.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { withLock } from "../store/lock.ts";
import { readTeam } from "../team/config/config.ts";
import { readPlace } from "../team/records/read-records.ts";
import { optionWords } from "../text/shell-quote.ts";
import type { OperationContext } from "./context.ts";

/**
 * Lays out the windows that the team shares, on every server where it has one.
 * @returns how many; 0 where each teammate has one for itself
 * @throws TeamError RECIPIENT_INACTIVE when it has none, TMUX_ERROR
 */
export async function layOutWindows(ctx: OperationContext, layout: LayoutName): Promise<number> {
  const team = { team: ctx.ref.team, rootTag: rootTag(ctx.home.root) };
  let [shared, apart] = [0, 0];
  for (const path of socketsOf(ctx)) {
    const counts = await withPaneLock(ctx, () => layOutTeam(serverAt(path, ctx.env), team, layout));
    shared += counts.shared;
    apart += counts.apart;
  }
  if (shared > 0 || apart > 0) return shared;
  throw new TeamError("RECIPIENT_INACTIVE", `${ctx.ref.team} has no window now; nothing was changed.`, {
    hint: `Who is where: teams status ${optionWords("--team", ctx.ref.team)}`,
  });
}

/** Spawns plan by what they see, and what moves their panes waits for them, as they for it. */
export function withPaneLock<T>({ ref }: OperationContext, act: () => Promise<T>): Promise<T> {
  return withLock(join(dirname(ref.paths.agent(LEAD_NAME).run), "panes"), act);
}

function socketsOf(ctx: OperationContext): ReadonlySet<string> {
  const places = readTeam(ctx.ref).members.map(({ name }) => readPlace(ctx.ref, name));
  return new Set(places.flatMap((place) => place?.server?.socket ?? []));
}
